// What a crossed run has: the caller's pairs, chosen i, parts, and numbers that are none, each drawn from the run's
// seed without regard of other features. Entry points: lists_of() and those beside it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/crossed_cell.h"
#include "tests/support/crossed_text.h"
#include "tests/support/kernel_run.h"
#include "tests/support/random_lists.h"

namespace nbcc::test {

// Draws that do not depend on whether other features are there.
inline RandomSource source_of(const CrossedRun& run, std::uint64_t what) { return RandomSource(run.seed * 64 + what); }

// The caller's pairs, as rows and as a function that gives a sum those of the j from `begin` to before `end`.
struct GivenPairs {
  std::optional<OracleRows> rows{};
  std::function<void(SumState&, std::int64_t begin, std::int64_t end)> give = [](SumState&, auto, auto) {};
};

GivenPairs lists_of(const CrossedRun& run, bool in_parts);
GivenPairs batches_of(const CrossedRun& run);
// With inputs of pairs, whose numbers are added to the oracle's input.
GivenPairs listed_pairs_of(const CrossedRun& run, OracleInput& input, const CrossedText& text, bool in_parts);
void give_pair_inputs(const CrossedRun& run, OracleInput& input, const CrossedText& text, std::size_t pairs);
OracleRows random_pairs(const CrossedRun& run, std::uint64_t what, int most, bool sorted);
// The pairs of the rows that are within a part, with the indices of its j; `where`: their indices in the rows.
OracleRows rows_within(const OracleRows& rows, std::int64_t begin, std::int64_t end, Numbers* where = nullptr);
// Every listed pair acts on both of its particles.
OracleRows both_ways(const OracleRows& rows);

bool may_have_nan(TextFamily family);
// Some values of particles that are no numbers, beside positions.
void put_nan(const CrossedText& text, OracleInput& input);
// Some of all j each, rising; a ring does not begin with the first j, and may have parts without j.
std::vector<std::pair<std::int64_t, std::int64_t>> random_parts(const CrossedRun& run, bool may_be_ring);
void choose_i(const CrossedRun& run, KernelRunChoice& choice);
Numbers chosen_i(const CrossedRun& run, const KernelRunChoice& choice);

}  // namespace nbcc::test
