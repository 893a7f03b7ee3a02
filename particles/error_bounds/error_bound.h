// The largest error that a device's outputs may have relative to the oracle's.
//
// The bound is the sum of: the errors of all terms, from a running error analysis (running_error.h), so that r^-12, a
// cancellation inside a term or a pair at a cutoff is allowed just the error that it causes; the rounding of the
// summation (tiles of 128 terms in working precision); the change of the sum when the inputs are rounded to working
// precision; and the underflow of small terms.
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

// [output component][k], where k counts the asked i; of a total, which is reduced over these, k is 0.
struct Expectation {
  Figures values;
  Figures scale;  // sum |term|, or |value| of a min or max, carried through finish()
  // Largest allowed error: 0 where an index or a count must be exact, infinite where rounding may change it.
  Figures bound;
  // The number of pairs in which rounding decides something that an output depends on: [asked i][output field].
  std::vector<std::vector<std::int64_t>> undecided_pairs;
};

// Runs the oracle and the error analysis for the i-particles in `which`.
Expectation expect(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
                   const Options& options, const Target& target);

}  // namespace nbcc
