// The table. A feature, a method or a kind of result is one row here.
#include "runtime/sum/plan/capabilities.h"

#include <algorithm>

#include "fmt/format.h"

namespace nbcc {
namespace {

constexpr FeatureFacts kFacts[kFeatures] = {
    {Feature::Lists, "lists", "lists are given",
     [](const SumRequest& request) { return request.lists && !request.lists->are_batches; }},
    {Feature::Batches, "batches", "batches are given",
     [](const SumRequest& request) { return request.lists && request.lists->are_batches; }},
    {Feature::ListedPairs, "listed pairs", "pairs are listed",
     [](const SumRequest& request) { return request.listed_pairs != nullptr; }},
    {Feature::Exclusions, "exclusions", "pairs are excluded",
     [](const SumRequest& request) { return request.exclusions != nullptr; }},
    {Feature::SomeI, "chosen i", "some i are chosen",
     [](const SumRequest& request) { return request.i_list || request.i_count != request.ni; }},
    {Feature::Parts, "j in parts", "the j come in parts",
     [](const SumRequest& request) { return request.j_part != JPart::Whole; }},
    {Feature::TwoSets, "two sets", "i and j are two sets",
     [](const SumRequest& request) { return request.ni != request.nj || request.i_offset != request.j_offset; }},
    {Feature::Accumulate, "accumulate", "results are accumulated",
     [](const SumRequest& request) { return request.accumulate; }},
    {Feature::NoParticles, "no particles", "there are no particles",
     [](const SumRequest& request) { return request.i_count == 0 || request.nj == 0; }},
};

constexpr Answer kYes = Answer::Yes, kNeeded = Answer::Needed, kElse = Answer::Elsewhere, kFalls = Answer::FallsBack,
                 kNo = Answer::Refused;
using Kind = Capability::Kind;

// clang-format off
constexpr Capability kTable[] = {
    //                              lists    batches  listed   exclude  some i  parts   2 sets  accumul.  none
    {Kind::Method, "all pairs",     {kElse,   kElse,   kElse,   kYes,    kYes,   kYes,   kYes,   kYes,    kYes}},
    {Kind::Method, "search",        {kElse,   kElse,   kElse,   kYes,    kYes,   kYes,   kYes,   kYes,    kYes}},
    {Kind::Method, "nearest",       {kElse,   kElse,   kElse,   kFalls,  kYes,   kFalls, kYes,   kYes,    kFalls}},
    {Kind::Method, "symmetric",     {kElse,   kElse,   kYes,    kYes,    kFalls, kFalls, kFalls, kYes,    kFalls}},
    {Kind::Method, "far field",     {kElse,   kElse,   kElse,   kYes,    kYes,   kYes,   kYes,   kYes,    kYes}},
    {Kind::Method, "far batches",   {kElse,   kNeeded, kElse,   kYes,    kYes,   kFalls, kYes,   kYes,    kYes}},
    {Kind::Method, "matrix units",  {kElse,   kElse,   kElse,   kYes,    kYes,   kFalls, kYes,   kYes,    kFalls}},
    {Kind::Method, "every image",   {kElse,   kElse,   kElse,   kYes,    kYes,   kElse,  kYes,   kYes,    kYes}},
    {Kind::Method, "lists",         {kNeeded, kNeeded, kElse,   kYes,    kYes,   kYes,   kYes,   kYes,    kYes}},
    {Kind::Method, "batches",       {kElse,   kNeeded, kElse,   kYes,    kYes,   kFalls, kYes,   kYes,    kYes}},
    {Kind::Method, "listed pairs",  {kElse,   kElse,   kNeeded, kNo,     kYes,   kYes,   kYes,   kYes,    kYes}},
    {Kind::Pipeline, "every_image()", {kNo,   kYes,    kNo,     kYes,    kYes,   kNo,    kYes,   kYes,    kYes}},
    {Kind::Pipeline, "input_pair",  {kNo,     kNo,     kNeeded, kNo,     kYes,   kYes,   kYes,   kYes,    kYes}},
    {Kind::Pipeline, "output(pair)", {kNo,    kNo,     kNeeded, kNo,     kYes,   kNo,    kYes,   kYes,    kYes}},
    {Kind::Result, "sum, min, max, product, count", {kYes, kYes, kYes, kYes, kYes, kYes, kYes,   kYes,    kYes}},
    {Kind::Result, "argmin",        {kYes,    kYes,    kYes,    kYes,    kYes,   kYes,   kYes,   kNo,     kYes}},
    {Kind::Result, "argmax",        {kYes,    kYes,    kYes,    kYes,    kYes,   kYes,   kYes,   kNo,     kYes}},
    {Kind::Result, "output(at)",    {kYes,    kYes,    kYes,    kYes,    kYes,   kYes,   kYes,   kNo,     kYes}},
    {Kind::Result, "logsumexp",     {kYes,    kYes,    kYes,    kYes,    kYes,   kYes,   kYes,   kYes,    kYes}},
    {Kind::Result, "softmax",       {kYes,    kYes,    kYes,    kYes,    kYes,   kYes,   kYes,   kNo,     kYes}},
    {Kind::Result, "output(total)", {kYes,    kYes,    kYes,    kYes,    kYes,   kYes,   kYes,   kYes,    kYes}},
    {Kind::Result, "histograms",    {kYes,    kYes,    kYes,    kYes,    kYes,   kYes,   kYes,   kYes,    kYes}},
};
// clang-format on

// The message of an error; {0} is the name of the pipeline, {1} that of the feature.
struct Refusal {
  std::string_view name;
  Feature feature;
  std::string_view message;
};
constexpr std::string_view kWhichImages =
                               "{1}: they do not say which images act in pipeline '{0}', which has every_image()",
                           kListedOnly =
                               "{1}: pipeline '{0}' has inputs or results of pairs (input_pair, output(pair)): it sums "
                               "over listed pairs only";
constexpr Refusal kRefusals[] = {
    {"every_image()", Feature::Lists, kWhichImages},
    {"every_image()", Feature::ListedPairs, kWhichImages},
    {"every_image()", Feature::Parts, "part: pipeline '{0}' has every_image(), which needs all j at once"},
    {"input_pair", Feature::Lists, kListedOnly},
    {"input_pair", Feature::Batches, kListedOnly},
    {"input_pair", Feature::Exclusions, kListedOnly},
    {"output(pair)", Feature::Lists, kListedOnly},
    {"output(pair)", Feature::Batches, kListedOnly},
    {"output(pair)", Feature::Exclusions, kListedOnly},
    {"output(pair)", Feature::Parts,
     "part: pipeline '{0}' has results of pairs (output(pair)), which need all j at once"},
    {"listed pairs", Feature::Exclusions,
     "exclusions: cannot be combined with listed pairs; do not list the excluded pairs"},
    {"argmin", Feature::Accumulate, "is an argmin and cannot be accumulated: the index alone does not give its value"},
    {"argmax", Feature::Accumulate, "is an argmax and cannot be accumulated: the index alone does not give its value"},
    {"output(at)", Feature::Accumulate, "cannot be accumulated: it does not contain the value by which it was chosen"},
    {"softmax", Feature::Accumulate,
     "is a softmax and cannot be accumulated: the mean alone does not give the sum of its weights"},
};

constexpr Condition kConditions[] = {
    {"search", Feature::NoParticles, "falls back if there are no j, or no particle has a finite position"},
    {"symmetric", Feature::ListedPairs, "with symmetric = listed, on the CPU"},
    {"symmetric", Feature::Exclusions, "over all pairs, on the CPU; a search computes each pair twice"},
    {"far field", Feature::TwoSets,
     "falls back if the text compares i_index and j_index, and an i and a j of one index are at different "
     "positions"},
    {"far field", Feature::Parts, "all parts have the tolerance, and neither lists nor a choice of pairs"},
    {"far field", Feature::NoParticles, "falls back, except in parts"},
    {"every_image()", Feature::Batches,
     "with a cutoff each batch has copies of its own, or in a large box none; without one a tree and tables of its "
     "own"},
    {"every_image()", Feature::Exclusions,
     "with all images of a pair, or those that are named; without a cutoff with the nearest image, and none is named"},
};

constexpr OtherPlace kOtherPlaces[] = {
    {"lists, batches, listed pairs, exclusions", kYes, kYes, "ranks: every rank has the j of all ranks"},
    {"every_image() with a cutoff", kYes, kYes, "ranks: every rank has the j of all ranks"},
    {"input_pair", kYes, kYes, "library: functions take the listed pairs as well"},
    {"output(pair)", kYes, kYes, "library: functions take the listed pairs as well"},
    {"histograms", kYes, kYes, "ranks: in blocks of j"},
    {"wide loops", kYes, kYes, "ranks: in blocks of j"},
    {"nearest", kYes, kFalls, "ranks: every rank has the j of all ranks; library: yes with --with nearest"},
    {"symmetric", kFalls, kFalls, "ranks: i and j are two sets; library: yes with --with symmetric"},
    {"symmetric = listed", kNo, kNo,
     "ranks: symmetric = listed: i and j are two sets; library: yes with --with symmetric, else symmetric = listed: "
     "the "
     "library has no kernel for it: nbcc compile --with symmetric"},
    {"far field", kYes, kNo,
     "ranks: chosen once, for the i of all; on CPUs each rank has the j that its i need, on GPUs and where all pairs "
     "cost "
     "less the j of all ranks; library: yes with --with tolerance, else tolerance: pipeline "
     "'NAME' has no far field: the library has no kernel for it: nbcc compile --with tolerance"},
    {"far batches", kYes, kNo, "ranks: each batch chooses on its rank; library: as far field"},
    {"matrix units", kYes, kNo, "ranks: each rank chooses for its i; library: as far field"},
};

}  // namespace

std::span<const FeatureFacts, kFeatures> features() { return kFacts; }
std::span<const Capability> capabilities() { return kTable; }
std::span<const Condition> conditions() { return kConditions; }
std::span<const OtherPlace> other_places() { return kOtherPlaces; }

const Capability* find_capability(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Capability::name);
  return found == std::end(kTable) ? nullptr : &*found;
}

bool applies(std::string_view name, const SumRequest& request) {
  const Capability* const row = find_capability(name);
  if (!row) return true;
  bool is_needed = false, has_needed = false;
  for (const FeatureFacts& one : kFacts) {
    const Answer answer = row->to(one.feature);
    const bool is_in = one.is_in(request);
    if (answer == Answer::Elsewhere && is_in) return false;
    is_needed = is_needed || answer == Answer::Needed;
    has_needed = has_needed || (answer == Answer::Needed && is_in);
  }
  return !is_needed || has_needed;
}

std::string_view obstacle_of(std::string_view name, const SumRequest& request) {
  const Capability* const row = find_capability(name);
  if (!row) return "";
  for (const FeatureFacts& one : kFacts)
    if ((row->to(one.feature) == Answer::FallsBack || row->to(one.feature) == Answer::Refused) && one.is_in(request))
      return one.reason;
  return "";
}

std::string refusal(std::string_view name, Feature feature, std::string_view pipeline) {
  for (const Refusal& one : kRefusals)
    if (one.name == name && one.feature == feature)
      return fmt::format(fmt::runtime(one.message), pipeline, kFacts[std::size_t(feature)].name);
  return "";
}

std::vector<std::string_view> kinds_of(const KernelSource& source) {
  std::vector<std::string_view> kinds;
  const std::vector<FieldLayout>& fields = source.caller_fields();
  if (source.copies()) kinds.push_back("every_image()");
  if (std::ranges::any_of(fields, &FieldLayout::is_pair_result)) kinds.push_back("output(pair)");
  if (std::ranges::find(fields, Role::InputPair, &FieldLayout::role) != fields.end()) kinds.push_back("input_pair");
  return kinds;
}

std::string refusal(const KernelSource& source, const SumRequest& request) {
  std::vector<std::string_view> rows = kinds_of(source);
  for (const std::string_view given : {"batches", "lists", "listed pairs"})
    if (applies(given, request)) rows.push_back(given);
  for (const std::string_view row : rows)
    for (const FeatureFacts& one : kFacts)
      if (one.is_in(request))
        if (std::string message = refusal(row, one.feature, source.pipeline); !message.empty()) return message;
  return "";
}

std::string_view result_of(const FieldLayout& output) {
  if (output.is_histogram()) return "histograms";
  if (output.is_total()) return "output(total)";
  switch (output.reduction) {
    case Reduction::ArgMin:
      return "argmin";
    case Reduction::ArgMax:
      return "argmax";
    case Reduction::At:
      return "output(at)";
    case Reduction::Softmax:
      return "softmax";
    case Reduction::LogSumExp:
      return "logsumexp";
    default:
      return "sum, min, max, product, count";
  }
}

}  // namespace nbcc
