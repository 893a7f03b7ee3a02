#include "compiler/emit/whole_number.h"

#include <gtest/gtest.h>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

Pipeline parsed(const std::string& text) {
  return parse({"test.pipe", "input_j int k;\ninput_j index n;\ninput_j real x;\n" + text});
}

TEST(whole_number, literals_end_where_64_bits_do) {
  EXPECT_EQ(whole_literal(-7), "-7");
  EXPECT_EQ(whole_literal(0x1p63), "9223372036854775807LL");
  EXPECT_EQ(whole_literal(-0x1p63), "(-9223372036854775807LL - 1)");
  EXPECT_EQ(whole_literal(1e300), "9223372036854775807LL");
}

TEST(whole_number, extremes_of_whole_numbers_are_held_in_64_bits) {
  for (const char* text :
       {"output(min) int o;\no = min(o, k);", "output(max) index o;\no = max(o, n);",
        "output(argmin) index o;\no = argmin(o, k);", "output(argmax) index o;\no = argmax(o, n);",
        "output(min) int o;", "output(argmin) index o;\nif (x > 0) o = argmin(o, k);\nif (x < 1) o = argmin(o, n);"})
    EXPECT_TRUE(is_whole_extreme(parsed(text), 0)) << text;
}

TEST(whole_number, other_results_are_doubles) {
  for (const char* text : {"output(sum) index o;\no += n;", "output(min) real o;\no = min(o, k);",
                           "output(argmin) index o;\no = argmin(o, x);",
                           "output(argmin) index o;\nif (x > 0) o = argmin(o, k);\nif (x < 1) o = argmin(o, x);"})
    EXPECT_FALSE(is_whole_extreme(parsed(text), 0)) << text;
}

TEST(whole_number, finish_may_leave_an_output_as_it_is) {
  const std::string sums = "output(sum) int a;\noutput(sum) int b;\na += k;\nb += k;\n";
  EXPECT_TRUE(is_untouched(parsed(sums), 1));
  const Pipeline p = parsed(sums + "void finish() { b = a; }");
  EXPECT_TRUE(is_untouched(p, 0));
  EXPECT_FALSE(is_untouched(p, 1));
}

}  // namespace
}  // namespace nbcc
