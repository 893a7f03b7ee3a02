#include "compiler/emit/spelling.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

TEST(spelling, whole_literals_end_where_64_bits_do) {
  EXPECT_EQ(whole_literal(-7), "-7");
  EXPECT_EQ(whole_literal(0x1p63), "9223372036854775807LL");
  EXPECT_EQ(whole_literal(-0x1p63), "(-9223372036854775807LL - 1)");
  EXPECT_EQ(whole_literal(1e300), "9223372036854775807LL");
}

TEST(spelling, elements_have_the_names_of_their_sizes) {
  EXPECT_STREQ(c_name(Element::Float), "float");
  EXPECT_STREQ(c_name(Element::Double), "double");
  EXPECT_STREQ(c_name(Element::Int32), "int");
  EXPECT_STREQ(c_name(Element::Int64), "index");
}

}  // namespace
}  // namespace nbcc
