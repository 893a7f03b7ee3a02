#include "compiler/source/prescan.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

Prescanned prescanned(const std::string& text) { return prescan(Source{"p.pipe", text}); }

std::string first_error(const std::string& text) {
  const Prescanned result = prescanned(text);
  return result.errors.empty() ? "" : result.errors[0].message;
}

TEST(prescan, tells_the_dialects_apart) {
  EXPECT_EQ(prescanned("OUTPUT[0] += INPUT_I[0];").dialect, Dialect::Cunbody);
  EXPECT_EQ(prescanned("output(sum) real s; s += 1;").dialect, Dialect::Named);
}

TEST(prescan, leaves_param_and_output_as_names_to_cunbody) {
  EXPECT_EQ(first_error("float param = 1, output = 2; OUTPUT[0] += param * output;"), "");
}

TEST(prescan, reads_the_flop_convention) {
  EXPECT_EQ(prescanned("#pragma flops 38 // as published\ns += 1;").flops, 38);
}

TEST(prescan, reads_the_dimensions) {
  const Prescanned result = prescanned("#define IDIM (4)\n#define JDIM 5\nOUTPUT[0] += INPUT_I[0];");
  EXPECT_EQ(result.idim, 4);
  EXPECT_EQ(result.jdim, 5);
  EXPECT_EQ(result.fdim, std::nullopt);
}

TEST(prescan, keeps_the_comment_that_ends_a_line) {
  const Prescanned result = prescanned("// title\nreal x = 1;   // position, in m  \n");
  EXPECT_EQ(result.comments.at(2), "position, in m");
  EXPECT_EQ(result.comments.count(1), 0u);
}

TEST(prescan, looks_into_no_comment) { EXPECT_EQ(first_error("real a = 1; /* while (1) { \" */ // goto '\n"), ""); }

TEST(prescan, takes_both_line_ends_tabs_and_a_byte_order_mark) {
  EXPECT_EQ(first_error("\xef\xbb\xbf#define N 3\r\n\treal a = N; // \xc3\xa9\r\n"), "");
}

TEST(prescan, reports_several_mistakes) {
  EXPECT_EQ(prescanned("while (1) x += 1;\ngoto a;\nreal b = 1.5q;\n").errors.size(), 3u);
}

TEST(prescan, stops_at_20_mistakes) {
  std::string text;
  for (int k = 0; k < 100; ++k) text += "goto a;\n";
  EXPECT_EQ(prescanned(text).errors.size(), 20u);
}

TEST(prescan, orders_mistakes_by_their_places) {
  const Prescanned result = prescanned("real a = 010;\nx + input_i;\ngoto b;\n");
  ASSERT_EQ(result.errors.size(), 3u);
  EXPECT_EQ(result.errors[1].where, (Location{2, 5}));
}

// A comment or a macro must not hide a bracket from the count: Clang never returns from an open one.
TEST(prescan, no_text_hides_a_bracket) {
  EXPECT_NE(first_error("#define A 1 /*\n*/ {\n#define B 1 /*\n} */\n"), "");
  EXPECT_NE(first_error("#define A (\nreal b = A 1);"), "");
  EXPECT_NE(first_error("if (true) <% x += 1;"), "");
  EXPECT_NE(first_error("// a \\\n{"), "");
  EXPECT_NE(first_error("real a = 1; \\\n"), "");
}

TEST(prescan, numbers_are_decimal_or_hexadecimal_with_f_or_u_at_most) {
  for (const char* good :
       {"0", "10", "1.5", "1.", ".5", "1e-4", "1E+10f", "1.5F", "0.5", "0e1", "0x10", "0XaFu", "1u", "7U"})
    EXPECT_EQ(first_error(std::string("real a = ") + good + ";"), "") << good;
  for (const char* bad :
       {"010", "0x", "0xg", "0x1.8", "0x1l", "1l", "1.0u", "1f", "1.5l", "1e", "1.2.3", "1'000", "0b1", "1_x"})
    EXPECT_NE(first_error(std::string("real a = ") + bad + ";"), "") << bad;
}

TEST(prescan, a_macro_may_be_made_of_others) {
  EXPECT_EQ(first_error("#define A 3\n#define B (A * 2 + 1e-3)\nreal x = B;"), "");
}

TEST(prescan, a_macro_may_not_be_defined_behind_its_use) {
  EXPECT_EQ(first_error("#define A B\n#define B A\nreal x = A;"),
            "'B' is defined here, after its use in '#define A'; define it before");
}

TEST(prescan, return_belongs_to_functions) {
  EXPECT_EQ(first_error("real f(real x) { if (x > 0) { return 1; } return 2; }"), "");
  EXPECT_EQ(first_error("if (x > 0) { return 1; }"), "return is not allowed outside a function");
}

TEST(prescan, the_last_statement_needs_its_semicolon) {
  EXPECT_EQ(first_error("s += 1"), "expected ';' at the end of this statement");
  EXPECT_EQ(first_error("void finish() { s = 1; }"), "");
}

}  // namespace
}  // namespace nbcc
