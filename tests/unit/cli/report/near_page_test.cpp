// The section that an error names exists, and is the one that explains it.
#include "cli/report/near_page.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "tests/support/folders.h"

namespace nbcc {
namespace {

std::string page_of(const std::string& message) { return near_page({{Severity::Error, {1, 1}, message}}); }

// "## Built-in functions and constants" -> "built-in-functions-and-constants".
std::set<std::string> sections_of_language() {
  std::set<std::string> sections;
  std::ifstream file(test::source_folder() + "/docs/reference/language.md");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("##")) continue;
    std::string section;
    for (const char c : line.substr(line.find_first_not_of('#') + 1))
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == ' ')
        section += c == ' ' ? '-' : char(std::tolower(static_cast<unsigned char>(c)));
    sections.insert(section);
  }
  return sections;
}

TEST(NearPage, EveryErrorOfTheTestsNamesASectionThatExists) {
  const std::set<std::string> sections = sections_of_language();
  EXPECT_TRUE(sections.contains("reductions"));
  std::map<std::string, int> uses;
  int errors = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/tests/errors")) {
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    const std::size_t begin = line.find("error: ");
    if (begin == std::string::npos) continue;
    const std::string page = page_of(line.substr(begin + 7));
    const std::string before = "docs/reference/language.md#";
    ASSERT_TRUE(page.starts_with(before)) << page;
    EXPECT_TRUE(sections.contains(page.substr(before.size()))) << page;
    ++uses[page];
    ++errors;
  }
  EXPECT_GT(errors, 200);
  EXPECT_GT(uses.size(), 12u);
  // The section of all diagnostics is for what has none of its own.
  EXPECT_LT(uses["docs/reference/language.md#diagnostics"], errors / 6);
}

TEST(NearPage, ItIsOfTheFirstError) {
  EXPECT_EQ(page_of("output(sum) 's' is changed by 's += ...' or 's -= ...' only"),
            "docs/reference/language.md#reductions");
  EXPECT_EQ(page_of("grad differentiates by an input, a param or a variable; give this a name first"),
            "docs/reference/language.md#derivatives");
  EXPECT_EQ(near_page({{Severity::Warning, {1, 1}, "a table"}, {Severity::Error, {2, 1}, "finish() has no body"}}),
            "docs/reference/language.md#finish");
  EXPECT_EQ(near_page({{Severity::Warning, {1, 1}, "a table"}}), "");
  EXPECT_EQ(help_line({}), "");
}

}  // namespace
}  // namespace nbcc
