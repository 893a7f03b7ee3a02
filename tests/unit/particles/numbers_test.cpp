// Numbers as people write them on a command line.
#include "particles/numbers.h"

#include <gtest/gtest.h>

#include "particles/files/param_value.h"
#include "runtime/error.h"

namespace nbcc::test {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(Numbers, CountsMayHaveExponents) {
  EXPECT_EQ(parse_count("16384", "--n"), 16384);
  EXPECT_EQ(parse_count("1e6", "--n"), 1000000);
  EXPECT_EQ(parse_count("2.5e3", "--n"), 2500);
  for (const char* wrong : {"", "-1", "1.5", "1e30", "nan", "12x", "0x10"}) {
    EXPECT_THROW(parse_count(wrong, "--n"), UsageError) << wrong;
  }
}

TEST(Numbers, RangesDouble) {
  EXPECT_EQ(parse_counts("1024..8192", "--n"), (Counts{1024, 2048, 4096, 8192}));
  EXPECT_EQ(parse_counts("3..20", "--n"), (Counts{3, 6, 12}));
  EXPECT_EQ(parse_counts("7,1e3,2..4", "--n"), (Counts{7, 1000, 2, 4}));
  for (const char* wrong : {"", "0", "8..4", "1,,2", "1,", "4..", "..4"}) {
    EXPECT_THROW(parse_counts(wrong, "--n"), UsageError) << wrong;
  }
}

TEST(Numbers, ParamsHaveOneValueOrSeveral) {
  const ParamValue one = parse_param("eps2=1e-4"), three = parse_param("box=10,-2,+3.5");
  EXPECT_EQ(one.name, "eps2");
  EXPECT_EQ(one.values, std::vector<double>{1e-4});
  EXPECT_EQ(three.values, (std::vector<double>{10, -2, 3.5}));
  const ParamValue truth = parse_param("periodic=true,false");
  EXPECT_EQ(truth.values, (std::vector<double>{1, 0}));
  EXPECT_TRUE(truth.truth);
  EXPECT_FALSE(one.truth);
  for (const char* wrong : {"", "eps2", "=1", "eps2=", "eps2=x", "box=1,,2"}) {
    EXPECT_THROW(parse_param(wrong), UsageError) << wrong;
  }
}

TEST(Numbers, RowsOfAFileAreThoseOfTheParam) {
  const auto refused = [](const std::string& type, std::int64_t rows, std::size_t count) {
    try {
      check_rows({"t", std::vector<double>(count), false, rows}, type);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused("real[2][3]", 3, 6), "--param t: it is a real[2][3], with rows of 3; the file has 3 rows of 2");
  for (const std::int64_t rows : {1, 2, 6, 0}) EXPECT_EQ(refused("real[2][3]", rows, 6), "") << rows;
  for (const std::int64_t rows : {1, 2, 3, 6}) EXPECT_EQ(refused("real[6]", rows, 6), "") << rows;
  EXPECT_NE(refused("vec3[2]", 3, 6), "");
  EXPECT_EQ(refused("vec2[2][3]", 2, 12) + refused("vec2[2][3]", 6, 12), "");
  EXPECT_NE(refused("vec2[2][3]", 3, 12), "");
  EXPECT_EQ(refused("real[2][3]", 4, 8), "");  // another number is the library's to refuse
}

}  // namespace
}  // namespace nbcc::test
