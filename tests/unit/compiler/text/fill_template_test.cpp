#include "compiler/text/fill_template.h"

#include <gtest/gtest.h>

#include "compiler/text/diagnostic.h"

namespace nbcc {
namespace {

struct FillTemplateCase {
  const char* name;
  const char* text;
  std::map<std::string, std::string> holes;
  const char* filled;
};

const FillTemplateCase kFillTemplateCases[] = {
    {"no_hole", "a {b} @ c\n", {}, "a {b} @ c\n"},
    {"inside_a_line", "for @{n} of @{n}s\n", {{"n", "8"}}, "for 8 of 8s\n"},
    {"lines_are_indented", "{\n  @{body}\n}\n", {{"body", "a;\nb;\n"}}, "{\n  a;\n  b;\n}\n"},
    {"empty_lines_stay_empty", "  @{body}\n", {{"body", "a;\n\nb;"}}, "  a;\n\n  b;\n"},
    {"pragmas_stay_at_the_margin", "  @{body}\n", {{"body", "a;\n#pragma x\nb;"}}, "  a;\n#pragma x\n  b;\n"},
    {"an_empty_value_takes_its_line_along", "{\n  @{body}\n}\n", {{"body", ""}}, "{\n}\n"},
    {"an_empty_value_inside_a_line", "f(@{args});\n", {{"args", ""}}, "f();\n"},
    {"values_are_not_looked_at_again", "@{a}\n", {{"a", "@{b}"}}, "@{b}\n"},
    {"at_the_end_without_line_break", "x @{a}", {{"a", "y"}}, "x y"},
};

TEST(fill_template, table) {
  for (const FillTemplateCase& c : kFillTemplateCases)
    EXPECT_EQ(fill_text(c.name, c.text, c.holes), c.filled) << c.name;
}

std::string refusal(const char* text, const std::map<std::string, std::string>& holes) {
  try {
    return "filled: " + fill_text("t", text, holes);
  } catch (const InternalError& e) {
    return e.what();
  }
}

TEST(fill_template, refuses_what_does_not_fit) {
  EXPECT_EQ(refusal("@{a} @{b}", {{"a", "1"}}), "template t: no value for the hole 'b'");
  EXPECT_EQ(refusal("@{a}", {{"a", "1"}, {"b", "2"}}), "template t: the value 'b' fits no hole");
  EXPECT_EQ(refusal("x @{a", {{"a", "1"}}), "template t: a hole is not terminated");
  EXPECT_EQ(refusal("x @{a\n}", {{"a", "1"}}), "template t: a hole is not terminated");
}

TEST(fill_template, takes_the_declarations_of_a_section) {
  EXPECT_EQ(declarations_of("cuda_list_data.h", "ranges").substr(0, 15), "struct Range {\n");
  EXPECT_EQ(declarations_of("cuda_list_data.h", "exclusion table"),
            "struct ExclusionTable {\n"
            "  const Exclusions* of;  // [i]; null in a source without exclusions\n"
            "  const int* far;\n"
            "};\n");
  EXPECT_THROW(declarations_of("cuda_list_data.h", "range"), InternalError);
}

TEST(fill_template, refuses_a_template_that_is_not_there) {
  EXPECT_THROW(fill_template("no_such_template", {}), InternalError);
}

}  // namespace
}  // namespace nbcc
