// A cell of the table of capabilities and a seed -> a run with random features, executed and judged by the table and
// the oracle. Entry points: draw_crossed(), CrossedTrials.
#include "tests/support/crossed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "particles/error_bounds/error_bound.h"
#include "runtime/error.h"
#include "runtime/far/tolerance.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/sum/request/reduction.h"
#include "tests/support/random_lists.h"
#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

constexpr double kTolerance = 1e-3;
// Kinds of pipeline that expect() does not bound: their results are within some roundings of the sums of |terms|.
constexpr std::string_view kNotBounded[] = {"every_image()", "output(pair)"};
constexpr Feature kGiven[] = {Feature::Lists, Feature::Batches, Feature::ListedPairs};

bool is_given(Feature feature) { return std::ranges::find(kGiven, feature) != std::end(kGiven); }

const Capability& row_named(std::string_view name) { return *find_capability(name); }
bool is_method(std::string_view row) { return row_named(row).kind == Capability::Kind::Method; }

TextFamily family_in(const CrossedRun& run) { return family_of(run.row, run.number); }

// The rows of a text's kinds of pipeline and results.
std::vector<std::string_view> kinds_in(const Pipeline& pipeline, const std::string& text) {
  std::vector<std::string_view> rows;
  const auto add = [&](std::string_view row) {
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
  };
  if (text.find("every_image") != std::string::npos) add("every_image()");
  for (const Field& field : pipeline.fields) {
    if (field.role == Role::InputPair) add("input_pair");
    if (field.role != Role::Output) continue;
    add(field.is_of_pair() ? "output(pair)" : result_of(field));
  }
  return rows;
}

// Outputs that a run does not ask for: those that are refused with one of its features, unless it is to be refused.
bool is_ignored(const CrossedRun& run, const FieldLayout& output) {
  if (output.is_of_pair()) return false;
  const std::string_view row = result_of(output);
  for (const Feature feature : run.features)
    if (row_named(row).to(feature) == Answer::Refused && (row != run.row || feature != run.aim)) return true;
  return false;
}

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

// ---- what a run has ------------------------------------------------------------------------------------------------

// Draws that do not depend on whether other features are there.
RandomSource source_of(const CrossedRun& run, std::uint64_t what) { return RandomSource(run.seed * 64 + what); }

// The caller's pairs, as rows and as a function that gives a sum those of the j from `begin` to before `end`.
struct GivenPairs {
  std::optional<OracleRows> rows{};
  std::function<void(SumState&, std::int64_t begin, std::int64_t end)> give = [](SumState&, auto, auto) {};
};

// The pairs of the rows that are within a part, with the indices of its j; where they are in the rows.
OracleRows rows_within(const OracleRows& rows, std::int64_t begin, std::int64_t end, Numbers* where = nullptr) {
  OracleRows within{{0}, {}};
  for (std::size_t i = 0; i + 1 < rows.first.size(); ++i) {
    for (std::int64_t k = rows.first[i]; k < rows.first[i + 1]; ++k) {
      const std::int64_t j = rows.j[std::size_t(k)];
      if (j < begin || j >= end) continue;
      within.j.push_back(j - begin);
      if (where) where->push_back(k);
    }
    within.first.push_back(std::int64_t(within.j.size()));
  }
  return within;
}

GivenPairs lists_of(const CrossedRun& run, bool in_parts) {
  RandomSource random = source_of(run, 1);
  struct Arrays {
    Numbers i_first, i_order, j_order, range_first{0}, begin, end;
  };
  Arrays a;
  const std::int64_t groups = 1 + random.below(6);
  a.i_first = random_cuts(random, groups, run.ni);
  if (random.chance(50)) a.i_order = random_order(random, run.ni);
  if (random.chance(50) && !in_parts) a.j_order = random_order(random, run.nj);
  std::vector<Numbers> of_i(static_cast<std::size_t>(run.ni));
  for (std::int64_t g = 0; g < groups; ++g) {
    // Apart from each other and rising, so that parts have the same order.
    const Numbers cuts = random_cuts(random, 2 * random.below(5), run.nj);
    for (std::size_t r = 0; r + 1 < cuts.size(); r += 2) {
      a.begin.push_back(cuts[r]), a.end.push_back(cuts[r + 1]);
      for (std::int64_t at = a.i_first[std::size_t(g)]; at < a.i_first[std::size_t(g) + 1]; ++at)
        for (std::int64_t j = cuts[r]; j < cuts[r + 1]; ++j)
          of_i[std::size_t(a.i_order.empty() ? at : a.i_order[std::size_t(at)])].push_back(
              a.j_order.empty() ? j : a.j_order[std::size_t(j)]);
    }
    a.range_first.push_back(std::int64_t(a.begin.size()));
  }
  return {rows_of(of_i), [a, groups](SumState& sum, std::int64_t begin, std::int64_t end) {
            Arrays part = a;
            for (Numbers* ends : {&part.begin, &part.end})
              for (std::int64_t& j : *ends) j = std::clamp(j, begin, end) - begin;
            const auto data = [](const Numbers& values) { return values.empty() ? nullptr : values.data(); };
            sum.set_lists(ListArrays{groups, std::int64_t(part.begin.size()), part.i_first.data(), data(part.i_order),
                                     part.range_first.data(), data(part.begin), data(part.end), data(part.j_order),
                                     end - begin});
          }};
}

GivenPairs batches_of(const CrossedRun& run) {
  RandomSource random = source_of(run, 2);
  const std::int64_t batches = 1 + random.below(5), step = random.chance(50) ? 1 : 1'000'000'000'000;
  std::array<Numbers, 2> ids;
  for (std::size_t side = 0; side < 2; ++side) {
    const bool is_one_set = side == 1 && run.one_set;
    const Numbers cuts = random_cuts(random, batches, side == 0 ? run.ni : run.nj);
    for (std::int64_t b = 0; b < batches; ++b)
      ids[side].insert(ids[side].end(), std::size_t(cuts[std::size_t(b) + 1] - cuts[std::size_t(b)]), b * step);
    if (is_one_set) ids[1] = ids[0];
  }
  std::vector<Numbers> of_i(static_cast<std::size_t>(run.ni));
  for (std::int64_t i = 0; i < run.ni; ++i)
    for (std::int64_t j = 0; j < run.nj; ++j)
      if (ids[0][std::size_t(i)] == ids[1][std::size_t(j)]) of_i[std::size_t(i)].push_back(j);
  return {rows_of(of_i), [ids, batches, step, ni = run.ni](SumState& sum, std::int64_t begin, std::int64_t end) {
            sum.set_batches((batches - 1) * step + 1, ni, ids[0].data(), end - begin, ids[1].data() + begin);
          }};
}

OracleRows random_pairs(const CrossedRun& run, std::uint64_t what, int most, bool sorted) {
  RandomSource random = source_of(run, what);
  std::vector<Numbers> rows = random_rows(random, run.ni, run.nj, most);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (sorted) std::ranges::sort(rows[i]);
    if (run.row == "symmetric") std::erase(rows[i], std::int64_t(i));  // cannot be listed with itself
  }
  return rows_of(rows);
}

void set_pairs_of(SumState& sum, const OracleRows& rows, std::int64_t ni) {
  sum.set_listed_pairs(ni, rows.first.data(), std::int64_t(rows.j.size()), rows.j.data());
}

// Every listed pair acts on both of its particles.
OracleRows both_ways(const OracleRows& rows) {
  std::vector<Numbers> of_i(rows.first.size() - 1);
  for (std::size_t i = 0; i + 1 < rows.first.size(); ++i)
    for (std::int64_t k = rows.first[i]; k < rows.first[i + 1]; ++k) {
      of_i[i].push_back(rows.j[std::size_t(k)]);
      if (rows.j[std::size_t(k)] != std::int64_t(i))
        of_i[std::size_t(rows.j[std::size_t(k)])].push_back(std::int64_t(i));
    }
  return rows_of(of_i);
}

void give_pair_inputs(const CrossedRun& run, OracleInput& input, const CrossedText& text, std::size_t pairs) {
  RandomSource random = source_of(run, 4);
  for (int c = 0; c < text.pipeline.components(Role::InputPair); ++c) {
    input.pair.emplace_back();
    for (std::size_t k = 0; k < pairs; ++k) input.pair.back().push_back(random.between(-64, 63) / 64.0);
  }
}

GivenPairs listed_pairs_of(const CrossedRun& run, OracleInput& input, const CrossedText& text, bool in_parts) {
  const OracleRows rows = random_pairs(run, 3, 12, in_parts);
  give_pair_inputs(run, input, text, rows.j.size());
  struct Held {
    std::vector<std::vector<double>> columns;  // of the inputs of pairs of a part, by field
  };
  const auto held = std::make_shared<Held>();
  return {rows,
          [rows, held, ni = run.ni, in_parts, pair = input.pair](SumState& sum, std::int64_t begin, std::int64_t end) {
            Numbers where;
            const OracleRows within = rows_within(rows, begin, end, &where);
            set_pairs_of(sum, within, ni);
            if (!in_parts) return;
            held->columns.clear();
            for (const FieldLayout& field : sum.fields()) {
              if (field.role != Role::InputPair) continue;
              std::vector<double>& values = held->columns.emplace_back();
              for (int c = 0; c < field.components(); ++c)
                for (const std::int64_t k : where) values.push_back(pair[std::size_t(field.first + c)][std::size_t(k)]);
              values.reserve(values.size() + 1);
              const auto count = std::int64_t(where.size());
              sum.bind(field.name, {values.data(), Element::Double, count, 8, 8 * count});
            }
          }};
}

// A search for the nearest needs finite inputs, and so has a far field.
bool may_have_nan(TextFamily family) { return family != TextFamily::Nearest && family != TextFamily::Far; }

// Some values of particles that are no numbers, beside positions.
void put_nan(const CrossedText& text, OracleInput& input) {
  const Field *const of_i = text.pipeline.find("bi"), *const of_j = text.pipeline.find("bj");
  for (const auto& [field, columns] : {std::pair{of_i, &input.i}, {of_j, &input.j}}) {
    if (!field) continue;
    std::vector<double>& values = (*columns)[std::size_t(field->first)];
    for (std::size_t k = 3; k < values.size(); k += 11) values[k] = std::numeric_limits<double>::quiet_NaN();
  }
}

// Some of all j each, rising; a ring does not begin with the first j, and may have parts without j.
std::vector<std::pair<std::int64_t, std::int64_t>> random_parts(const CrossedRun& run, bool may_be_ring) {
  const std::int64_t cut = run.nj / 3, second = cut + (run.nj - cut) / 2;
  std::vector<std::pair<std::int64_t, std::int64_t>> parts{{0, cut}, {cut, second}, {second, run.nj}};
  RandomSource random = source_of(run, 8);
  if (is_method(run.row)) return parts;
  if (random.chance(30)) parts.insert(parts.begin() + 1, {cut, cut});
  if (may_be_ring) std::ranges::rotate(parts, parts.begin() + random.below(3));
  return parts;
}

// The chosen i.
void choose_i(const CrossedRun& run, KernelRunChoice& choice) {
  if (!run.has(Feature::SomeI)) return;
  if (run.has(Feature::NoParticles)) {
    choice.count = 0;
    return;
  }
  RandomSource random = source_of(run, 5);
  choice.begin = random.below(int(run.ni) / 2);
  choice.count = 1 + random.below(int(run.ni - choice.begin - (choice.begin == 0 ? 1 : 0)));
  if (random.chance(50)) {
    choice.i_list = random_order(random, run.ni);
    choice.i_list.resize(std::size_t(choice.count));
    choice.begin = 0, choice.count = -1;
  }
}

Numbers chosen_i(const CrossedRun& run, const KernelRunChoice& choice) {
  if (!choice.i_list.empty()) return choice.i_list;
  Numbers chosen(std::size_t(choice.count < 0 ? run.ni - choice.begin : choice.count));
  std::iota(chosen.begin(), chosen.end(), choice.begin);
  return chosen;
}

// ---- what a run should give ----------------------------------------------------------------------------------------

struct Wanted {
  Figures values, bound, scale;
};

Wanted wanted_of(const CrossedText& text, OracleInput input, const Numbers& chosen, const Options& options) {
  Numbers which = chosen;
  if (which.empty()) {  // interpret() takes no i for all
    input.ni = 0;
    for (auto& column : input.i) column.clear();
    if (input.pairs) input.pairs = OracleRows{{0}, {}};
    if (input.excluded) input.excluded = OracleRows{{0}, {}};
    for (auto& column : input.pair) column.clear();
    OracleOutput none = interpret(text.pipeline, input);
    return {none.values, none.magnitudes, none.magnitudes};
  }
  Expectation expected;
  const auto rows = kinds_in(text.pipeline, text.text);
  if (std::ranges::find_first_of(rows, kNotBounded) == rows.end()) {
    expected = expect(text.pipeline, input, which, options, Target{.fused = false});
  } else {
    OracleOutput output = interpret(text.pipeline, input, which);
    expected = {output.values, output.magnitudes, output.magnitudes, {}};
    const double rounding = options.precision == Precision::Double ? 0x1p-44 : 0x1p-15;
    for (std::size_t c = 0; c < expected.bound.size(); ++c)
      for (std::size_t k = 0; k < expected.bound[c].size(); ++k) {
        const double value = std::fabs(expected.values[c][k]);
        expected.bound[c][k] = rounding * (1 + expected.bound[c][k] + (std::isfinite(value) ? value : 0));
      }
  }
  for (std::size_t c = 0; c < expected.bound.size(); ++c) {
    const Field& field = text.pipeline.field_of(Role::Output, int(c));
    const bool exact = is_integral(field.type) || field.reduction == Reduction::At;
    if (exact && !field.is_of_pair()) std::ranges::fill(expected.bound[c], 0.0);
  }
  return {std::move(expected.values), std::move(expected.bound), std::move(expected.scale)};
}

void accumulate_onto(double before, const CrossedText& text, Wanted& wanted, Precision precision) {
  const double rounding = precision == Precision::Double ? 0x1p-50 : 0x1p-21;
  for (std::size_t c = 0; c < wanted.values.size(); ++c) {
    const Field& field = text.pipeline.field_of(Role::Output, int(c));
    if (keeps_index(field.reduction)) continue;
    for (std::size_t k = 0; k < wanted.values[c].size(); ++k) {
      double& value = wanted.values[c][k];
      value = combined(field.is_histogram() ? Reduction::Sum : field.reduction, before, value);
      if (wanted.bound[c][k] > 0 || !is_integral(field.type))
        wanted.bound[c][k] += rounding * (std::fabs(value) + std::fabs(before));
    }
  }
}

// Where a result is beyond its bound; "": nowhere.
std::string difference(const CrossedRun& run, const CrossedText& text, const Columns& got, const Wanted& wanted,
                       const OracleInput& input, const Numbers& chosen) {
  for (std::size_t c = 0; c < got.size(); ++c) {
    const Field& field = text.pipeline.field_of(Role::Output, int(c));
    if (is_ignored(run, field)) continue;
    Numbers compared(wanted.values[c].size());
    std::iota(compared.begin(), compared.end(), 0);
    if (field.is_of_pair()) {
      compared.clear();
      for (const std::int64_t i : chosen)
        for (std::int64_t k = input.pairs->first[std::size_t(i)]; k < input.pairs->first[std::size_t(i) + 1]; ++k)
          compared.push_back(k);
    } else if (got[c].size() != wanted.values[c].size()) {
      return fmt::format("output '{}' has {} numbers, not {}", field.name, got[c].size(), wanted.values[c].size());
    }
    for (const std::int64_t k : compared) {
      const double is = got[c][std::size_t(k)], want = wanted.values[c][std::size_t(k)];
      if (is == want || (std::isnan(is) && std::isnan(want)) || std::fabs(is - want) <= wanted.bound[c][std::size_t(k)])
        continue;
      return fmt::format("output '{}' [{}] is {}, expected {} within {}", component_name(field, int(c)), k, is, want,
                         wanted.bound[c][std::size_t(k)]);
    }
  }
  return "";
}

bool have_same_bits(const Columns& a, const Columns& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return std::ranges::equal(one, other,
                              [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
  });
}

// The rms over i of |error| / sum of |terms| of an output is at most the tolerance, and rounding.
std::string far_difference(const CrossedText& text, const Columns& got, const Wanted& wanted) {
  for (std::size_t c = 0; c < got.size();) {
    const Field& field = text.pipeline.field_of(Role::Output, int(c));
    const auto width = std::size_t(field.components());
    double squares = 0;
    for (std::size_t k = 0; k < got[c].size(); ++k) {
      double error = 0, scale = 0;
      for (std::size_t d = c; d < c + width; ++d)
        error = std::hypot(error, got[d][k] - wanted.values[d][k]), scale = std::hypot(scale, wanted.scale[d][k]);
      if (error > 0) squares += error * error / (scale * scale);
    }
    const double rms = std::sqrt(squares / double(std::max<std::size_t>(got[c].size(), 1)));
    // Components' sums of |terms| are up to a factor of 3^(1/2) less than those of lengths.
    if (!(rms <= 1.8 * kTolerance))
      return fmt::format("output '{}' has the error {}, beyond the tolerance {}", field.name, rms, kTolerance);
    c += width;
  }
  return "";
}

// What the statistics should say of the method that the run asks for; "": they do.
std::string method_fault(const CrossedRun& run, const SumStatistics& said) {
  const Capability& row = row_named(run.row);
  for (const Condition& one : conditions())
    if (one.name == run.row && run.has(one.feature)) return "";
  bool is_elsewhere = false, is_needed = false, has_needed = false;
  std::string_view reason;
  for (const FeatureFacts& one : features()) {
    const Answer answer = row.to(one.feature);
    const bool has = run.has(one.feature);
    is_elsewhere = is_elsewhere || (answer == Answer::Elsewhere && has);
    is_needed = is_needed || answer == Answer::Needed;
    has_needed = has_needed || (answer == Answer::Needed && has);
    if (answer == Answer::FallsBack && has && reason.empty()) reason = one.reason;
  }
  if (said.method.empty() && run.has(Feature::NoParticles)) return "";
  if (is_elsewhere || is_needed != has_needed || !reason.empty()) {
    if (said.method == run.row) return fmt::format("the method is {}, which the table excludes", said.method);
    if (is_elsewhere || reason.empty()) return "";
    const std::string sentence = fmt::format("{}: {}", run.row, reason);
    if (said.reason.find(sentence) == std::string::npos)
      return fmt::format("the reason should contain '{}', but is '{}'", sentence, said.reason);
    return "";
  }
  if (said.method != run.row) return fmt::format("the method is {}, because {}", said.method, said.reason);
  return "";
}

}  // namespace

std::string CrossedRun::text() const {
  std::string all;
  for (const Feature feature : features)
    all += (all.empty() ? "" : ", ") + std::string(nbcc::features()[std::size_t(feature)].name);
  return fmt::format("NBCC_DRAW='{}:{}:{}': {} with {}; {} x {}{}", row, std::size_t(aim), seed, row, all, ni, nj,
                     one_set ? ", one set" : "");
}

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

std::string CrossedTrials::fault_of(const CrossedRun& run) {
  const CrossedText& text = text_of(run);
  RandomSource random = source_of(run, 7);
  const std::size_t d = std::size_t(random.below(int(devices_.size())));
  const CrossedDevice& on = devices_[d];
  const Options options{.precision = Precision(run.number % 3),
                        .math = run.number % 2 == 0 ? Math::Fast : Math::Precise};
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
    if (run.row == "all pairs" && !given.rows) sum.set_pairs(PairChoice::All);
    if ((run.row == "search" || run.row == "nearest") && !given.rows) sum.set_pairs(PairChoice::Cutoff);
    if (run.row == "batches" && run.has(Feature::Batches)) sum.set_pairs(PairChoice::Cutoff);
    if (run.row == "search" || !is_method(run.row)) sum.set_symmetric(symmetric);
    if (run.row == "symmetric") {
      sum.set_symmetric(both_ends ? SymmetricChoice::Listed : SymmetricChoice::Always);
      if (!given.rows) sum.set_pairs(PairChoice::All);
    }
    if (run.row.starts_with("far ")) set_tolerance(sum, kTolerance, {.leaf = 16});
    sum.keep_j(keeps_j);
    if (!in_parts) give(sum, 0, run.nj);
  };
  SumStatistics said;
  choice.after = [&](SumState& sum) { said = sum.statistics(); };

  const std::vector<Cell> refused = refusals_of(run, text);
  std::optional<Columns> of_twin;
  Columns got;
  try {
    if (on.twin >= 0 && run.others && random.chance(40)) {
      KernelRunChoice as_twin = choice;
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
    bool is_refused = false;
    for (const auto& [row, feature] : refused) {
      if (message.find(refusal(row, feature, kernel->source.pipeline)) == std::string::npos) continue;
      is_refused = true;
      ++shown_[{row, feature}];
      // Another row than that of the method decides of the feature.
      if (feature == run.aim && row_named(run.row).to(feature) == Answer::Elsewhere) ++shown_[{run.row, feature}];
    }
    if (is_refused) {
      if (is_method(run.row)) ++shown_[{run.row, run.aim}];
      return "";
    }
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
  const Numbers chosen = chosen_i(run, choice);
  const bool is_far = said.method.starts_with("far ");
  Wanted wanted = wanted_of(text, input, chosen, options);
  if (is_far && input.excluded) {  // the tolerance is of all terms, excluded ones too
    OracleInput with_excluded = input;
    with_excluded.excluded.reset();
    wanted.scale = wanted_of(text, with_excluded, chosen, options).scale;
  }
  if (choice.accumulate) accumulate_onto(choice.before, text, wanted, options.precision);
  const std::string fault =
      is_far ? far_difference(text, got, wanted) : difference(run, text, got, wanted, input, chosen);
  if (!fault.empty())
    return fmt::format("on {} by {}{}: {}", on.name, said.method, choice.arrays_on ? ", arrays there" : "", fault);
  if (of_twin && !have_same_bits(got, *of_twin))
    return fmt::format("on {} the bits are others than on {}", on.name, devices_[std::size_t(on.twin)].name);
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
