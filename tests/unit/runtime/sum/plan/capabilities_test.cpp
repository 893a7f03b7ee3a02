#include "runtime/sum/plan/capabilities.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "fmt/format.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

std::string_view word(Answer answer) {
  switch (answer) {
    case Answer::Yes:
      return "yes";
    case Answer::Needed:
      return "needed";
    case Answer::Elsewhere:
      return "–";
    case Answer::FallsBack:
      return "other";
    case Answer::Refused:
      return "no";
  }
  return "";
}

std::string table_of(Capability::Kind kind) {
  std::string head = "|", line = "|---", text;
  for (const FeatureFacts& one : features()) head += fmt::format(" | {}", one.name), line += "|---";
  for (const Capability& row : capabilities()) {
    if (row.kind != kind) continue;
    text += fmt::format("| `{}`", row.name);
    for (const FeatureFacts& one : features()) text += fmt::format(" | {}", word(row.to(one.feature)));
    text += " |\n";
  }
  return fmt::format("{} |\n{}|\n{}", head, line, text);
}

// docs/reference/what_goes_together.md
std::string page() {
  std::string text = R"(# What goes together

This page is made from the table in `runtime/sum/plan/capabilities.cpp`, from which the planner decides and the messages
come.

| word | meaning |
|---|---|
| yes | both together give the right result |
| needed | the method is for such runs only |
| – | other methods are for such runs |
| other | the method cannot: another one does the run, with the same results, and `statistics` gives the reason |
| no | an error, with one of the messages below |

A pair method is how a run finds its pairs ([how a run is planned](../explanation/how_a_run_is_planned.md)).

## Pair methods

)";
  text += table_of(Capability::Kind::Method);
  text += "\n## Pipelines\n\nOther pipelines sum with every method that they have.\n\n";
  text += table_of(Capability::Kind::Pipeline);
  text += "\n## Results\n\n";
  text += table_of(Capability::Kind::Result);
  text += "\n## Conditions\n\n| | with | yes means |\n|---|---|---|\n";
  for (const Condition& one : conditions())
    text += fmt::format("| `{}` | {} | {} |\n", one.name, features()[std::size_t(one.feature)].name, one.text);
  text +=
      "\n## Ranks of MPI and compiled libraries\n\nSums of [several ranks](../how_to/many_ranks.md), and of pipelines "
      "in "
      "a [compiled library](../how_to/compile_a_library.md).\n\n| | ranks | library | |\n|---|---|---|---|\n";
  for (const OtherPlace& one : other_places())
    text += fmt::format("| `{}` | {} | {} | {} |\n", one.name, word(one.on_ranks), word(one.in_library), one.text);
  text += "\n## Messages\n\n| | with | message |\n|---|---|---|\n";
  for (const Capability& row : capabilities())
    for (const FeatureFacts& one : features())
      if (row.to(one.feature) == Answer::Refused)
        text += fmt::format("| `{}` | {} | {} |\n", row.name, one.name, refusal(row.name, one.feature, "NAME"));
  text +=
      "\n## Reasons\n\nA method that cannot do a run gives one of these reasons in `statistics`.\n\n| with | reason "
      "|\n|---|---|\n";
  for (const FeatureFacts& one : features()) text += fmt::format("| {} | {} |\n", one.name, one.reason);
  return text;
}

TEST(Capabilities, ThePageIsMadeFromTheTable) {
  const std::string path = test::source_folder() + "/docs/reference/what_goes_together.md";
  const char* const update = std::getenv("NBCC_UPDATE_GOLDEN");
  if (update && std::string(update) == "1") std::ofstream(path, std::ios::binary) << page();
  std::ifstream in(path, std::ios::binary);
  const std::string stored{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(stored == page()) << path << " differs from the table; NBCC_UPDATE_GOLDEN=1 rewrites it";
}

TEST(Capabilities, EveryRefusalHasAMessageAndNothingElse) {
  for (const Capability& row : capabilities())
    for (const FeatureFacts& one : features())
      EXPECT_EQ(!refusal(row.name, one.feature, "p").empty(), row.to(one.feature) == Answer::Refused)
          << row.name << ", " << one.name;
}

TEST(Capabilities, FeaturesAreInTheOrderOfTheirNumbers) {
  for (std::size_t k = 0; k < kFeatures; ++k) EXPECT_EQ(std::size_t(features()[k].feature), k);
}

// A request with one feature alone: over all i and all pairs of one set else.
struct WithFeature {
  Lists lists;
  PairRows pairs;
  SumRequest request;
  explicit WithFeature(Feature feature) {
    request.ni = request.nj = request.i_count = 8;
    static const Exclusions none(PairRows{{0}, {}, {}, "exclusions", 1, -1});
    if (feature == Feature::Lists || feature == Feature::Batches) request.lists = &lists;
    lists.are_batches = feature == Feature::Batches;
    if (feature == Feature::ListedPairs) request.listed_pairs = &pairs;
    if (feature == Feature::Exclusions) request.exclusions = &none;
    if (feature == Feature::SomeI) request.i_count = 5;
    if (feature == Feature::Parts) request.j_part = JPart::Next;
    if (feature == Feature::TwoSets) request.nj = 9;
    if (feature == Feature::Accumulate) request.accumulate = true;
    if (feature == Feature::NoParticles) request.ni = request.nj = request.i_count = 0;
  }
};

TEST(Capabilities, EachFeatureIsSeenInItsRequestAlone) {
  for (const FeatureFacts& in : features()) {
    const WithFeature with(in.feature);
    for (const FeatureFacts& one : features())
      EXPECT_EQ(one.is_in(with.request), one.feature == in.feature) << in.name << ", " << one.name;
  }
}

TEST(Capabilities, AMethodAppliesOrHasAnObstacleAsItsRowSays) {
  for (const Capability& row : capabilities()) {
    if (row.kind != Capability::Kind::Method) continue;
    bool needs = false;
    for (const FeatureFacts& one : features()) needs = needs || row.to(one.feature) == Answer::Needed;
    for (const FeatureFacts& one : features()) {
      const WithFeature with(one.feature);
      const Answer answer = row.to(one.feature);
      EXPECT_EQ(applies(row.name, with.request), needs ? answer == Answer::Needed : answer != Answer::Elsewhere)
          << row.name << ", " << one.name;
      const bool cannot = answer == Answer::FallsBack || answer == Answer::Refused;
      EXPECT_EQ(obstacle_of(row.name, with.request), cannot ? one.reason : "") << row.name << ", " << one.name;
    }
  }
}

}  // namespace
}  // namespace nbcc
