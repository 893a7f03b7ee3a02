// What goes together: a row for each pair method, kind of pipeline and kind of result, with an answer to each feature
// that a request may have. The planner, the messages and docs/reference/what_goes_together.md are made from this table.
// Tested by tests/unit/runtime/sum/plan/capabilities_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sum/request/sum_request.h"

namespace nbcc {

enum class Feature : std::uint8_t {
  Lists,
  Batches,
  ListedPairs,
  Exclusions,
  SomeI,
  Parts,
  TwoSets,
  Accumulate,
  NoParticles,
};

struct FeatureFacts {
  Feature feature;
  std::string_view name;    // on the page
  std::string_view reason;  // why something that cannot do it is not done: "pairs are excluded"
  bool (*is_in)(const SumRequest& request);
};
constexpr std::size_t kFeatures = 9;
std::span<const FeatureFacts, kFeatures> features();
inline bool has(Feature feature, const SumRequest& request) { return features()[std::size_t(feature)].is_in(request); }

enum class Answer : std::uint8_t {
  Yes,
  Needed,     // the method is for such runs only
  Elsewhere,  // other methods are for such runs
  FallsBack,  // not possible: another method does the run, with the same results
  Refused,    // an error
};

struct Capability {
  enum class Kind : std::uint8_t { Method, Pipeline, Result };
  Kind kind;
  std::string_view name;  // PairMethod::name, or words of the language
  std::array<Answer, kFeatures> answers;
  Answer to(Feature feature) const { return answers[std::size_t(feature)]; }
};
std::span<const Capability> capabilities();
// What a "yes" depends on, for the page: the method or kind, the feature, a sentence.
struct Condition {
  std::string_view name;
  Feature feature;
  std::string_view text;
};
std::span<const Condition> conditions();
// What a sum can have where its kernels are in a compiled library, or its i and j on several ranks of MPI, for the
// page.
struct OtherPlace {
  std::string_view name;
  Answer on_ranks, in_library;
  std::string_view text;  // what an answer other than a plain "yes" depends on, or the message of an error
};
std::span<const OtherPlace> other_places();
// Null: the table has no such row, and nothing is known of it.
const Capability* find_capability(std::string_view name);

// False if the request lacks a feature that the method needs, or has one that is for other methods.
bool applies(std::string_view name, const SumRequest& request);
// The reason of the first feature of the request that falls back or is refused; "": there is none.
std::string_view obstacle_of(std::string_view name, const SumRequest& request);

// The message of an error for something that is refused with a feature; "": it is not refused.
std::string refusal(std::string_view name, Feature feature, std::string_view pipeline);
// The rows of the kinds of pipeline that a kernel's pipeline is of.
std::vector<std::string_view> kinds_of(const KernelSource& source);
// The message of an error for the first feature of the request that these kinds refuse, or the pairs that are given;
// "": there is none.
std::string refusal(const KernelSource& source, const SumRequest& request);
// The row of an output.
std::string_view result_of(const FieldLayout& output);

}  // namespace nbcc
