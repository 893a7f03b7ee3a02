// What a crossed run should give, by the oracle and by the table. Entry points: wanted_of(), difference(),
// method_fault().
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/error_bounds/error_bound.h"
#include "runtime/sum/plan/pair_method.h"
#include "tests/support/crossed_cell.h"
#include "tests/support/crossed_text.h"
#include "tests/support/kernel_run.h"
#include "tests/support/random_lists.h"

namespace nbcc::test {

inline constexpr double kTolerance = 1e-3;

// The rows of a text's kinds of pipeline and results.
std::vector<std::string_view> kinds_in(const Pipeline& pipeline, const std::string& text);
// Outputs that a run does not ask for: those that are refused with one of its features, unless it is to be refused.
bool is_ignored(const CrossedRun& run, const FieldLayout& output);

// By output component, as Expectation.
struct Wanted {
  Figures values, bound, scale;
};

Wanted wanted_of(const CrossedText& text, OracleInput input, const Numbers& chosen, const Options& options);
void accumulate_onto(double before, const CrossedText& text, Wanted& wanted, Precision precision);
// Where a result is beyond its bound; "": nowhere.
std::string difference(const CrossedRun& run, const CrossedText& text, const Columns& got, const Wanted& wanted,
                       const OracleInput& input, const Numbers& chosen);
bool have_same_bits(const Columns& a, const Columns& b);
// The rms over i of |error| / sum of |terms| of an output is at most the tolerance, and rounding.
std::string far_difference(const CrossedText& text, const Columns& got, const Wanted& wanted);
// What the statistics should say of the method that the run asks for; "": they do.
std::string method_fault(const CrossedRun& run, const SumStatistics& said);

}  // namespace nbcc::test
