// A crossed run's input -> the results that it should have; its results and statistics -> what is wrong.
#include "tests/support/crossed_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/sum/request/reduction.h"

namespace nbcc::test {
namespace {

// Kinds of pipeline that expect() does not bound: their results are within some roundings of the sums of |terms|.
constexpr std::string_view kNotBounded[] = {"every_image()", "output(pair)"};

const Capability& row_named(std::string_view name) { return *find_capability(name); }

}  // namespace

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
  if (said.reason.find("products take the place of differences") != std::string::npos) return "";
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

}  // namespace nbcc::test
