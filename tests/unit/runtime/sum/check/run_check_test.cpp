// Runs say what is doubtful or wrong in their arrays: index guards between two sets, results that are NaN, integers
// that an int32 array cannot hold, and rows that overlap.
#include "runtime/sum/check/run_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"
#include "runtime/sum/request/overlapping_rows.h"

namespace nbcc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The warnings of a sum in double precision of `text`, which has the inputs real xi and real xj and the output real o.
class CheckedSum {
 public:
  explicit CheckedSum(const std::string& statements)
      : sum_(Pipeline::from_text(
            Device("cpu"), "input_i real xi; input_j real xj; param real s = 0; output(sum) real o;\n" + statements,
            "run", {.precision = NBCC_DOUBLE})) {}

  std::vector<std::string> operator()(std::vector<double>& xi, std::vector<double>& xj) {
    out.assign(xi.size(), 0);
    sum_.bind("xi", rows(xi, 1)).bind("xj", rows(xj, 1)).bind("o", rows(out, 1)).run();
    return sum_.warnings();
  }

  Sum& sum() { return sum_; }
  std::vector<double> out;

 private:
  Sum sum_;
};

TEST(RunCheck, WarnsOfAnIndexGuardBetweenTwoSets) {
  CheckedSum run("skip_if(i_index == j_index); o += xi * xj;");
  std::vector<double> x{1, 2, 3, 4}, copy = x, first{1, 2}, other{5, 6, 7};
  EXPECT_THAT(run(x, x), IsEmpty());
  EXPECT_THAT(run(x, copy), IsEmpty());
  EXPECT_THAT(run(first, x), IsEmpty()) << "i is the first part of j";
  EXPECT_THAT(run(other, x),
              ElementsAre(AllOf(HasSubstr("i (3 particles) and j (4 particles) are two sets of particles"),
                                HasSubstr("excludes the pairs (k, k), k = 0 to 2,"), HasSubstr("set j_offset = 4"))));
  EXPECT_THAT(run.out, ElementsAre(5 * 9, 6 * 8, 7 * 7));
  run.sum().offsets(0, 4);
  EXPECT_THAT(run(other, x), IsEmpty());
  EXPECT_THAT(run.out, ElementsAre(50, 60, 70));
  CheckedSum order("skip_if(i_index >= j_index); o += xi * xj;");
  EXPECT_THAT(order(other, x), ElementsAre(HasSubstr("excludes pairs by the order of their indices;")));
  CheckedSum without("o += xi * xj;");
  EXPECT_THAT(without(other, x), IsEmpty());
}

TEST(RunCheck, SaysWhichRowsAreNotFinite) {
  CheckedSum run("o += 1.0 / ((xi - xj) * (xi - xj) + s);");
  std::vector<double> x{1, 2, 3, 4}, apart{5, 6, 1.5, 3};
  const std::vector<std::string> said = run(x, x);
  EXPECT_THAT(said, ElementsAre(AllOf(HasSubstr("output 'o' is NaN or infinite in 4 of 4 rows, first for i = 0; the "
                                                "cause is the pair of the particle with itself"),
                                      HasSubstr("skip_if(i_index == j_index)"))));
  x[0] = 0.5;
  EXPECT_EQ(run(x, x), said) << "a warning that lasts keeps its text";
  EXPECT_EQ(run(x, apart), said) << "other rows, and still not finite";
  std::vector<double> finite{10, 11, 12, 13};
  EXPECT_THAT(run(x, finite), IsEmpty());
  EXPECT_THAT(run(x, apart), ElementsAre(AllOf(HasSubstr("in 1 of 4 rows, first for i = 2"), Not(HasSubstr("cause")))))
      << "the text of another warning";
  x[3] = kNaN;
  CheckedSum sum("o += xi + xj;");
  EXPECT_THAT(sum(x, apart), ElementsAre(HasSubstr("in 1 of 4 rows, first for i = 3")));
  x[3] = 1;
  EXPECT_THAT(sum(x, apart), IsEmpty());
}

TEST(RunCheck, FindsTheCauseInTheMiddleAndNotWhereItIsAnotherPair) {
  CheckedSum run("o += 1.0 / ((xi - xj) * (xi - xj));");
  std::vector<double> x{1, 2, 2};
  EXPECT_THAT(run(x, x), ElementsAre(AllOf(HasSubstr("in 3 of 3 rows"), HasSubstr("the cause"))));
  CheckedSum guarded("skip_if(i_index == j_index); o += 1.0 / ((xi - xj) * (xi - xj));");
  EXPECT_THAT(guarded(x, x), ElementsAre(AllOf(HasSubstr("in 2 of 3 rows, first for i = 1"), Not(HasSubstr("cause")))));
}

TEST(RunCheck, RefusesIntegersThatAnInt32ArrayCannotHold) {
  Sum sum(Pipeline::from_text(Device("cpu"),
                              "input_i int a; input_j int b; output(sum) int s; s += 1000000 * b + 0 * a;", "run"));
  std::vector<std::int32_t> a{0, 0}, b{1000, 1000, 147}, s(2);
  sum.bind("a", rows(a, 1)).bind("b", rows(b, 1)).bind("s", rows(s, 1));
  sum.run();
  EXPECT_THAT(s, ElementsAre(2147000000, 2147000000));
  b[2] = 148;
  try {
    sum.run();
    FAIL() << "a saturated sum was stored";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("output 's' of pipeline 'run': row 0 of the int32 array is at the limit "
                                        "2147483647, to which results beyond it are rounded; expected an int64 array"));
  }
}

TEST(OverlappingRows, AreThoseThatShareBytes) {
  std::vector<double> memory(200);
  const auto overlap = [&](std::int64_t count, std::int64_t stride, std::int64_t component_stride, int numbers) {
    return rows_overlap({memory.data(), Element::Double, count, stride, component_stride}, numbers);
  };
  // By a table of the bytes of all numbers.
  const auto expected = [&](std::int64_t count, std::int64_t stride, std::int64_t component_stride, int numbers) {
    std::vector<int> taken(4096);
    for (std::int64_t k = 0; k < count; ++k)
      for (int c = 0; c < numbers; ++c)
        for (std::int64_t byte = 0; byte < 8; ++byte)
          if (++taken[std::size_t(2048 + k * stride + c * component_stride + byte)] > 1) return true;
    return false;
  };
  for (std::int64_t count = 1; count <= 4; ++count)
    for (int numbers = 1; numbers <= 4; ++numbers)
      for (std::int64_t stride = -64; stride <= 64; stride += 4)
        for (std::int64_t component_stride = -64; component_stride <= 64; component_stride += 4)
          EXPECT_EQ(overlap(count, stride, component_stride, numbers),
                    expected(count, stride, component_stride, numbers))
              << count << " rows of " << numbers << ", strides " << stride << ", " << component_stride;
}

}  // namespace
}  // namespace nbcc
