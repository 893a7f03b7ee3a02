// A cell of the table of capabilities and a seed -> a run with random features, executed and judged by the table and
// the oracle. Entry points: draw_crossed(), CrossedTrials.
#include "tests/support/crossed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/error.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/crossed_pairs.h"
#include "tests/support/crossed_results.h"

namespace nbcc::test {
namespace {

constexpr Feature kGiven[] = {Feature::Lists, Feature::Batches, Feature::ListedPairs};

bool is_given(Feature feature) { return std::ranges::find(kGiven, feature) != std::end(kGiven); }

const Capability& row_named(std::string_view name) { return *find_capability(name); }
bool is_method(std::string_view row) { return row_named(row).kind == Capability::Kind::Method; }

TextFamily family_in(const CrossedRun& run) { return family_of(run.row, run.number); }

std::vector<std::string_view> rows_shown(const CrossedRun& run, const CrossedText& text) {
  Pipeline wanted = text.pipeline;
  std::erase_if(wanted.fields,
                [&](const Field& field) { return field.role == Role::Output && is_ignored(run, field); });
  std::vector<std::string_view> rows = kinds_in(wanted, text.text);
  if (run.has(Feature::Lists)) rows.push_back("lists");
  if (run.has(Feature::Batches)) rows.insert(rows.end(), {"lists", "batches"});
  if (run.has(Feature::ListedPairs)) rows.push_back("listed pairs");
  return rows;
}

std::vector<Cell> refusals_of(const CrossedRun& run, const CrossedText& text) {
  std::vector<Cell> refused;
  for (const std::string_view row : rows_shown(run, text))
    for (const Feature feature : run.features)
      if (row_named(row).to(feature) == Answer::Refused) refused.emplace_back(row, feature);
  return refused;
}

// Whether the features may be beside the aim: the aim alone decides what the table says of the run.
bool may_be_beside(const CrossedRun& run, Feature feature, const CrossedText& text) {
  if (feature == run.aim || (is_given(feature) && std::ranges::any_of(run.features, is_given))) return false;
  if (is_method(run.row) && row_named(run.row).to(feature) != Answer::Yes) return false;
  if (run.row == "symmetric" && is_given(feature)) return false;  // is an error with what is not possible
  CrossedRun with = run;
  with.features.insert(feature);
  const std::vector<Cell> refused = refusals_of(with, text);
  return std::ranges::all_of(refused, [&](const Cell& cell) { return cell == Cell{run.row, run.aim}; });
}

// The options by which a run gets the method of its row; `symmetric`: of rows that leave it open.
void ask_for_method(const CrossedRun& run, SumState& sum, bool are_given, SymmetricChoice symmetric) {
  if (run.row == "all pairs" && !are_given) sum.set_pairs(PairChoice::All);
  if ((run.row == "search" || run.row == "nearest") && !are_given) sum.set_pairs(PairChoice::Cutoff);
  if (run.row == "batches" && run.has(Feature::Batches)) sum.set_pairs(PairChoice::Cutoff);
  if (run.row == "search" || !is_method(run.row)) sum.set_symmetric(symmetric);
  if (run.row == "symmetric") {
    sum.set_symmetric(run.has(Feature::ListedPairs) ? SymmetricChoice::Listed : SymmetricChoice::Always);
    if (!are_given) sum.set_pairs(PairChoice::All);
  }
  if (run.row.starts_with("far ")) set_tolerance(sum, kTolerance, {.leaf = 16});
  if (run.row == "matrix units") set_tolerance(sum, kTolerance);
}

std::string wrong_results(const CrossedRun& run, const CrossedText& text, const OracleInput& input,
                          const KernelRunChoice& choice, const Options& options, const Columns& got, bool is_far) {
  const Numbers chosen = chosen_i(run, choice);
  Wanted wanted = wanted_of(text, input, chosen, options);
  if (choice.accumulate) accumulate_onto(choice.before, text, wanted, options.precision);
  return is_far ? far_difference(text, got, wanted) : difference(run, text, got, wanted, input, chosen);
}

}  // namespace

CrossedRun draw_crossed(std::string_view row, Feature aim, std::uint64_t seed, std::uint64_t variety) {
  RandomSource random(seed);
  CrossedRun run{.row = row, .aim = aim, .seed = seed};
  const bool is_result = row_named(row).kind == Capability::Kind::Result;
  CrossedText text;
  for (;;) {
    run.number = std::uint64_t(random.below(int(variety)));
    text = crossed_text(family_in(run), run.number);
    const auto rows = kinds_in(text.pipeline, text.text);
    if (!is_result || std::ranges::find(rows, row) != rows.end()) break;
  }
  run.features = {aim};
  const TextFamily family = family_in(run);
  const bool has_pairs = family == TextFamily::PairInput || family == TextFamily::PairOutput;
  if (has_pairs && !is_given(aim)) run.features.insert(Feature::ListedPairs);
  // A method that is for lists needs some.
  std::vector<Feature> needed;
  for (const FeatureFacts& one : features())
    if (is_method(row) && row_named(row).to(one.feature) == Answer::Needed) needed.push_back(one.feature);
  if (!needed.empty() && !is_given(aim)) run.features.insert(random.pick(needed));
  for (const FeatureFacts& one : features()) {
    const int percent = one.feature == Feature::NoParticles ? 4 : 25;
    if (random.chance(percent) && may_be_beside(run, one.feature, text)) run.features.insert(one.feature);
  }
  std::vector<std::int64_t> sizes{3, 5, 33, 67, 130};
  if (family == TextFamily::Images) sizes = {2, 5, 9};
  if (family == TextFamily::Far) sizes = {150, 233};
  run.ni = run.nj = random.pick(sizes);
  if (run.has(Feature::TwoSets)) {
    if (family != TextFamily::Images && family != TextFamily::Far) sizes.insert(sizes.end(), {1, 700, 2500});
    constexpr std::int64_t kMostPairs = 20'000;
    do run.nj = random.pick(sizes);
    while (run.nj == run.ni || run.ni * run.nj > std::max(kMostPairs, sizes[0] * sizes[0] * 2));
  }
  run.one_set = !run.has(Feature::TwoSets) && (row == "symmetric" || random.chance(40));
  if (run.has(Feature::NoParticles) && !run.has(Feature::SomeI)) {
    if (!run.has(Feature::TwoSets))
      run.ni = run.nj = 0;
    else
      (random.chance(50) ? run.ni : run.nj) = 0;
  }
  return run;
}

CrossedTrials::CrossedTrials(std::vector<CrossedDevice> devices) : devices_(std::move(devices)) {}
CrossedTrials::~CrossedTrials() = default;

const CrossedText& CrossedTrials::text_of(const CrossedRun& run) {
  const auto key = std::pair(family_in(run), run.number);
  const auto found = texts_.find(key);
  return found != texts_.end() ? found->second : texts_.emplace(key, crossed_text(key.first, key.second)).first->second;
}

const std::shared_ptr<const Kernel>& CrossedTrials::kernel_of(std::size_t device, const CrossedRun& run,
                                                              const Options& options) {
  auto& kernel = kernels_[{device, family_in(run), run.number}];
  const CrossedDevice& on = devices_[device];
  if (!kernel) kernel = for_callers(on.device->load(on.build(text_of(run).pipeline, options)));
  return kernel;
}

// Whether the message is one of the table's for these cells, which are then shown.
bool CrossedTrials::is_as_refused(const CrossedRun& run, const std::vector<Cell>& refused, const std::string& message,
                                  std::string_view pipeline) {
  bool is_one = false;
  for (const auto& [row, feature] : refused) {
    if (message.find(refusal(row, feature, pipeline)) == std::string::npos) continue;
    is_one = true;
    ++shown_[{row, feature}];
  }
  if (is_one && is_method(run.row)) ++shown_[{run.row, run.aim}];
  return is_one;
}

std::string CrossedTrials::fault_of(const CrossedRun& run) {
  const CrossedText& text = text_of(run);
  RandomSource random = source_of(run, 7);
  std::size_t d = std::size_t(random.below(int(devices_.size())));
  const CrossedDevice& on = devices_[d];
  Options options{.precision = Precision(run.number % 3), .math = run.number % 2 == 0 ? Math::Fast : Math::Precise};
  if (run.row == "matrix units") options = {};  // which such kernels need
  const std::shared_ptr<const Kernel> kernel = kernel_of(d, run, options);
  OracleInput input = crossed_input(text, run.ni, run.nj, run.one_set, run.seed);
  if (run.has(Feature::TwoSets) && random.chance(50)) input.j_offset += 2;
  if (run.others && random.chance(15) && may_have_nan(family_in(run))) put_nan(text, input);
  const bool in_parts = run.has(Feature::Parts);
  GivenPairs given;
  if (run.has(Feature::Lists)) given = lists_of(run, in_parts);
  if (run.has(Feature::Batches)) given = batches_of(run);
  if (run.has(Feature::ListedPairs)) given = listed_pairs_of(run, input, text, in_parts);
  input.pairs = given.rows;
  if (input.pairs && input.pair.empty()) give_pair_inputs(run, input, text, input.pairs->j.size());
  const bool both_ends = run.row == "symmetric" && run.has(Feature::ListedPairs);
  if (both_ends) input.pairs = both_ways(*given.rows);
  if (run.has(Feature::Exclusions)) input.excluded = random_pairs(run, 6, 12, true);

  KernelRunChoice choice;
  choose_i(run, choice);
  choice.accumulate = run.has(Feature::Accumulate);
  choice.before = choice.accumulate ? 1 : -77;
  choice.one_set = run.one_set;
  choice.ignores = [&](const FieldLayout& field) { return field.role == Role::Output && is_ignored(run, field); };
  if (!on.gpus.empty() && random.chance(50)) choice.arrays_on = on.gpus[std::size_t(random.below(int(on.gpus.size())))];
  const auto give = [&](SumState& sum, std::int64_t begin, std::int64_t end) {
    given.give(sum, begin, end);
    if (!input.excluded) return;
    const OracleRows rows = rows_within(*input.excluded, begin, end);
    sum.set_exclusions(run.ni, rows.first.data(), std::int64_t(rows.j.size()), rows.j.data());
  };
  if (in_parts) {
    choice.parts = random_parts(run, !given.rows);
    choice.prepare_part = [&](SumState& sum, std::size_t part, std::int64_t) {
      give(sum, choice.parts[part].first, choice.parts[part].second);
      // Each part by any method.
      if (!is_method(run.row) && !given.rows && kernel->source.search.axes > 0)
        sum.set_pairs(PairChoice((run.seed + part) % 3));
    };
  } else if (run.others && !choice.accumulate && random.chance(30)) {
    choice.runs = 2;
  }
  const bool keeps_j = run.others && random.chance(20);
  const auto& launches = kernel->source.first().launches;
  if (run.others && !launches.empty() && random.chance(30))
    choice.launch = launches[std::size_t(random.below(int(launches.size())))];
  const auto symmetric = SymmetricChoice(run.others ? random.below(3) : 0);  // auto, off or always
  choice.prepare = [&](SumState& sum) {
    ask_for_method(run, sum, given.rows.has_value(), symmetric);
    sum.keep_j(keeps_j);
    if (!in_parts) give(sum, 0, run.nj);
  };
  SumStatistics said;
  choice.after = [&](SumState& sum) { said = sum.statistics(); };

  const std::vector<Cell> refused = refusals_of(run, text);
  std::optional<Columns> of_twin;
  SumStatistics said_by_twin;
  Columns got;
  try {
    if (on.twin >= 0 && run.others && random.chance(40)) {
      KernelRunChoice as_twin = choice;
      as_twin.after = [&](SumState& sum) { said_by_twin = sum.statistics(); };
      const CrossedDevice& twin = devices_[std::size_t(on.twin)];
      if (choice.arrays_on) as_twin.arrays_on = twin.gpus.front();
      of_twin = run_kernel(kernel_of(std::size_t(on.twin), run, options), input, as_twin);
    }
    got = run_kernel(kernel, input, choice);
  } catch (const UsageError& error) {
    const std::string message = error.what();
    if (both_ends && message.find("this device computes listed pairs for their i only") != std::string::npos) {
      ++shown_[{run.row, run.aim}];
      return "";
    }
    if (is_as_refused(run, refused, message, kernel->source.pipeline)) return "";
    return fmt::format("on {}: the error '{}'", on.name, message);
  } catch (const std::exception& error) {
    return fmt::format("on {}: {}", on.name, error.what());
  }
  if (!refused.empty())
    return fmt::format("on {}: it ran, but the table refuses {} with {}", on.name, refused[0].first,
                       features()[std::size_t(refused[0].second)].name);
  if (is_method(run.row))
    if (const std::string fault = method_fault(run, said); !fault.empty())
      return fmt::format("on {}: {}", on.name, fault);
  const std::string fault = wrong_results(run, text, input, choice, options, got,
                                          said.method.starts_with("far ") || said.method == "matrix units");
  if (!fault.empty())
    return fmt::format("on {} by {}{}: {}", on.name, said.method, choice.arrays_on ? ", arrays there" : "", fault);
  if (of_twin && !have_same_bits(got, *of_twin))
    return fmt::format("on {} the bits are others than on {}", on.name, devices_[std::size_t(on.twin)].name);
  if (of_twin && (said.method != said_by_twin.method || said.form != said_by_twin.form))
    return fmt::format("on {} by {} {}, but on {} by {} {}", on.name, said.method, said.form,
                       devices_[std::size_t(on.twin)].name, said_by_twin.method, said_by_twin.form);
  for (const std::string_view row : rows_shown(run, text))
    for (const Feature feature : run.features)
      if (!is_method(row)) ++shown_[{row, feature}];
  if (is_method(run.row)) ++shown_[{run.row, run.aim}];
  return "";
}

std::string CrossedTrials::operator()(const CrossedRun& run) {
  std::string fault = fault_of(run);
  if (fault.empty()) return "";
  // Fewer features and particles that are wrong as well.
  CrossedRun least = run;
  const auto try_less = [&](CrossedRun less) {
    const std::string of_less = fault_of(less);
    if (!of_less.empty()) least = less, fault = of_less;
  };
  for (const Feature feature : run.features) {
    if (feature == run.aim || feature == Feature::TwoSets || feature == Feature::NoParticles) continue;
    if (feature == Feature::ListedPairs && family_in(run) >= TextFamily::PairInput) continue;
    if (is_given(feature) && is_method(run.row) && row_named(run.row).to(feature) == Answer::Needed) continue;
    CrossedRun less = least;
    less.features.erase(feature);
    try_less(less);
  }
  CrossedRun plain = least;
  plain.others = false;
  try_less(plain);
  return fmt::format("{}\n  {}\n  text {}:\n{}", fault, least.text(), least.number, text_of(least).text);
}

}  // namespace nbcc::test
