// The fields that results depend on, and how results depend on indices.
#include "compiler/passes/facts/text_facts.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace nbcc
