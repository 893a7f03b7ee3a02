// How far a device's sums may be from the oracle's, said once.
//
// A sum may differ by kRoundings * epsilon * sum |term|. Each operation is good to 2 ulp; the longest chains in use have
// about ten operations between the exact differences and a term, and high powers multiply the relative error of their
// base (r^-12 by 12, exp(-s) by s), which makes about 50. Summing adds little: a tile of 128 terms is summed in working
// precision, tiles in double. Two more errors are no fault of the device and are added: what becomes of the sum when
// the inputs are rounded to the working precision, as they must be, and terms too small for its range.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/interpret.h"
#include "compiler/ir.h"
#include "compiler/options.h"

namespace nbcc {

inline constexpr double kRoundings = 64;

double epsilon_of(Precision precision);

// kRoundings * epsilon, and more where the bare estimate of a root is asked for.
double relative_bound(const Options& options, Isa isa);

// [output component][asked i]
using Figures = std::vector<std::vector<double>>;

struct Expectation {
  Figures values;
  Figures scale;  // sum |term|, or |value| of a min or max, carried through finish()
  Figures bound;  // largest error that may be
};

// The oracle's answer for the i in `which`. Integral outputs have to be met exactly: their bound is 0.
Expectation expect(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
                   const Options& options, Isa isa);

}  // namespace nbcc
