// The lines about built-in words are of the words that the compiler knows, and of all of them.
#include "compiler/editing/built_in_help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "compiler/source/vocabulary.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

TEST(BuiltInHelp, EveryWordHasOneLine) {
  std::set<std::string_view> known;
  for (const WordKind kind : {WordKind::Value, WordKind::Type, WordKind::Role})
    known.insert(words(kind).begin(), words(kind).end());
  std::set<std::string_view> explained;
  for (const BuiltInHelp& row : built_in_help()) {
    EXPECT_TRUE(explained.insert(row.word).second) << row.word << " has two rows";
    EXPECT_FALSE(row.help.empty()) << row.word;
    EXPECT_EQ(row.help.find('\n'), std::string_view::npos) << row.word;
  }
  EXPECT_EQ(explained, known);
  for (const std::string_view reduction : words(WordKind::Reduction))
    EXPECT_FALSE(built_in_help(reduction, true).empty()) << reduction;
  EXPECT_NE(built_in_help("sum"), built_in_help("sum", true));
  EXPECT_EQ(built_in_help("gravity"), "");
}

// The page of built-in functions has more about each function.
TEST(BuiltInHelp, ThePageNamesEveryFunction) {
  std::string text;
  for (const char* page : {"/docs/reference/built_ins.md", "/docs/reference/language.md"}) {
    std::ifstream file(test::source_folder() + page);
    text += std::string((std::istreambuf_iterator<char>(file)), {});
  }
  for (const BuiltInHelp& row : built_in_help()) EXPECT_NE(text.find(row.word), std::string::npos) << row.word;
}

}  // namespace
}  // namespace nbcc
