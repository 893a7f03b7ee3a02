// The fields that results depend on, and how results depend on indices.
#include "compiler/passes/facts/text_facts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

TextFacts facts_of(const std::string& statements) {
  const std::string fields = "input_i real a; input_i real b; input_j vec3 c; param real p = 1; output(sum) real o;\n";
  return text_facts(parse(Source{"facts.pipe", fields + statements}));
}

TEST(TextFacts, SayHowResultsDependOnIndices) {
  for (const char* const text : {"o += a;", "o += p; real k = i_index;"})
    EXPECT_EQ(facts_of(text).index_use, IndexUse::Unused) << text;
  for (const char* const text : {"skip_if(i_index == j_index); o += a;", "if (j_index != i_index && a > 0.0) o += a;",
                                 "o += i_index == j_index ? 1.0 : a;", "skip_if(self_pair); o += a;",
                                 "bool own = i_index == j_index; o += own;"})
    EXPECT_EQ(facts_of(text).index_use, IndexUse::Equal) << text;
  for (const char* const text :
       {"skip_if(i_index >= j_index); o += a;", "o += i_index;", "skip_if(2 * i_index == j_index); o += a;",
        "skip_if(i_index == j_index + 1); o += a;", "skip_if(i_index == 3); o += a;",
        "skip_if(i_index == j_index); o += j_index;", "o += a; void finish() { o = o + i_index; }"})
    EXPECT_EQ(facts_of(text).index_use, IndexUse::Value) << text;
}

TEST(TextFacts, SayWhatResultsDependOn) {
  using Read = std::vector<bool>;
  EXPECT_EQ(facts_of("o += 1.0;").is_read, (Read{false, false, false, false, true}));
  EXPECT_EQ(facts_of("real unused = a; o += c.y;").is_read, (Read{false, false, true, false, true}));
  EXPECT_EQ(facts_of("if (a > 0.0) o += 1.0;").is_read, (Read{true, false, false, false, true}));
  EXPECT_EQ(facts_of("o += c.x; void finish() { o = o * p + b; }").is_read, (Read{false, true, true, true, true}));
}

// Ranks compare digests, to refuse sums of several pipelines.
TEST(TextFacts, DigestsAreThoseOfFieldsAndStatements) {
  const auto digest = [](const std::string& name, const std::string& text) {
    return text_facts(parse(Source{name, text})).digest;
  };
  const std::string text =
      "input_i real a; input_j real c; param real p = 1; output(sum) real o;\no += p * (a + c);\n"
      "void finish() { o = 2 * o; }";
  const std::uint64_t one = digest("one.pipe", text);
  EXPECT_NE(one, 0u);
  EXPECT_EQ(digest("other.pipe", "// A comment.\n" + text), one);
  for (const auto& [from, to] : {std::pair("a + c", "a - c"),
                                 {"real a", "double a"},
                                 {"p = 1", "p = 2"},
                                 {"2 * o", "3 * o"},
                                 {"(sum)", "(total)"},
                                 {"input_j real c", "input_j real d[1]"}}) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    if (std::string_view(from) == "(sum)") changed.resize(changed.find("void"));
    if (std::string_view(to) == "input_j real d[1]") changed.replace(changed.find("a + c"), 5, "a + d[0]");
    EXPECT_NE(digest("one.pipe", changed), one) << changed;
  }
}

}  // namespace
}  // namespace nbcc
