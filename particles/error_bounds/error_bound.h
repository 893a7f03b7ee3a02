// How far a device's sums may be from the oracle's, said once.
//
// The terms' errors are followed operation by operation (running_error.h) and added up; so r^-12, a cancellation inside
// of a term or a pair just at a cutoff are allowed what they are due, and nothing more. Added are the rounding of the
// sum itself (a tile of 128 terms in working precision), what becomes of the sum when the inputs are rounded to the
// working precision, as they must be, and terms too small for its range.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "compiler/target.h"
#include "particles/error_bounds/running_error.h"

namespace nbcc {

struct Expectation {
  Figures values;
  Figures scale;  // sum |term|, or |value| of a min or max, carried through finish()
  // Largest error that may be: 0 where an index or a count has to be met exactly, infinite where rounding decides
  // which of two it is.
  Figures bound;
  // In how many of its pairs rounding decides something that an output depends on: [asked i][output field].
  std::vector<std::vector<std::int64_t>> undecided_pairs;
};

// The oracle's answer for the i in `which`.
Expectation expect(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
                   const Options& options, const Target& target);

}  // namespace nbcc
