#include "compiler/text/diagnostic.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

std::string rendered(const std::string& text, Location where, Severity severity = Severity::Error) {
  return render(Source{"g.pipe", text}, Diagnostic{severity, where, "wrong"});
}

TEST(diagnostic, has_clangs_form) {
  EXPECT_EQ(rendered("real a;\nreal b = c;\n", {2, 10}), "g.pipe:2:10: error: wrong\nreal b = c;\n         ^\n");
}

TEST(diagnostic, names_its_severity) {
  EXPECT_EQ(rendered("x", {1, 1}, Severity::Warning), "g.pipe:1:1: warning: wrong\nx\n^\n");
  EXPECT_EQ(rendered("x", {1, 1}, Severity::Note), "g.pipe:1:1: note: wrong\nx\n^\n");
}

TEST(diagnostic, keeps_tabs_so_that_the_caret_stands_right) {
  EXPECT_EQ(rendered("\ta\tb", {1, 4}), "g.pipe:1:4: error: wrong\n\ta\tb\n\t \t^\n");
}

TEST(diagnostic, counts_a_utf8_character_as_one_place) {
  EXPECT_EQ(rendered("\xc3\xa4 b", {1, 4}), "g.pipe:1:4: error: wrong\n\xc3\xa4 b\n  ^\n");
}

TEST(diagnostic, the_file_as_a_whole_has_no_line) { EXPECT_EQ(rendered("x", {}), "g.pipe: error: wrong\n"); }

TEST(diagnostic, a_line_as_a_whole_has_no_caret) { EXPECT_EQ(rendered("x", {1, 0}), "g.pipe:1: error: wrong\nx\n"); }

TEST(diagnostic, a_line_beyond_the_text_shows_nothing) {
  EXPECT_EQ(rendered("x\n", {2, 1}), "g.pipe:2:1: error: wrong\n");
}

TEST(diagnostic, a_column_beyond_the_line_points_behind_it) {
  EXPECT_EQ(rendered("abc", {1, 50}), "g.pipe:1:50: error: wrong\nabc\n   ^\n");
}

TEST(diagnostic, shows_no_control_bytes_and_no_broken_utf8) {
  EXPECT_EQ(rendered("a\x1b[2Jb\xff"
                     "c\xe2\x82",
                     {1, 7}),
            "g.pipe:1:7: error: wrong\na?[2Jb?c??\n      ^\n");
}

TEST(diagnostic, clips_a_long_line_around_the_column) {
  const std::string text = rendered(std::string(5000, 'a') + "X" + std::string(5000, 'b'), {1, 5001});
  const std::size_t line = text.find('\n') + 1, caret = text.find('\n', line) + 1;
  EXPECT_LT(text.size(), 500u);
  EXPECT_EQ(text.substr(line, 3), "...");
  EXPECT_EQ(text.substr(caret - 4, 4), "...\n");
  EXPECT_EQ(text.find('^') - caret, text.find('X') - line);
}

TEST(diagnostic, clips_between_characters) {
  std::string text;
  for (int k = 0; k < 1000; ++k) text += "\xe2\x82\xac";
  for (int column = 301; column < 304; ++column) {
    EXPECT_EQ(rendered(text, {1, column}).find("...\xe2\x82\xac"), rendered(text, {1, column}).find("...")) << column;
  }
}

TEST(diagnostic, a_compile_error_says_all_of_them_in_order) {
  const Source source{"g.pipe", "x\ny"};
  const CompileError error(source, {{Severity::Warning, {2, 1}, "odd"}, {Severity::Error, {1, 1}, "wrong"}});
  EXPECT_STREQ(error.what(), "g.pipe:2:1: warning: odd\ny\n^\ng.pipe:1:1: error: wrong\nx\n^\n");
  EXPECT_EQ(error.diagnostics.size(), 2u);
}

}  // namespace
}  // namespace nbcc
