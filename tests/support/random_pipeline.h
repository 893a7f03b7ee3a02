// Random pipelines for differential tests: any two devices, precisions or passes must agree on them.
//
// What makes their results comparable:
//  - Inputs are meant to come from random_pipeline_input(): multiples of 1/1024 in [-1, 1), so that differences,
//    their squares and comparisons are exact in single precision. Branches, floor, argmin and the like look at such
//    exact quantities only; every other operation is continuous and keeps clear of its singularities.
//  - Every term of a sum and every candidate of a min or max is at least 1 in size, and all terms of one output have
//    one sign. So outputs before finish() agree within kRandomPipelineRoundings * epsilon * OracleOutput::magnitudes,
//    and those of integral type (argmin, argmax, counts, extremes of whole numbers) agree exactly. finish() multiplies
//    by factors in [0.5, 2] or takes a square root. With every operation correctly rounded to single precision the
//    worst of some 10000 seeds was 3.3 epsilons; 64 leaves room for functions good to 2 ulp (pow: 8) and for sums of
//    128 terms in single precision.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/ir.h"

namespace nbcc::test {

inline constexpr double kRandomPipelineRoundings = 64;

// The text of a pipeline in the dialect of named fields. The same seed gives the same text everywhere.
std::string random_pipeline_text(std::uint64_t seed);

// Particles and params on which that pipeline is well behaved.
OracleInput random_pipeline_input(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj, std::uint64_t seed);

// Particle j = min(ni, nj) - 1 at the place of the i of its number, and `poison` its other real numbers.
OracleInput with_poison(const Pipeline& pipeline, OracleInput input, double poison);

// Whether the pair gives no output anything.
bool adds_nothing(const Pipeline& pipeline, const OracleInput& input, std::int64_t i, std::int64_t j);

// Where a device of that epsilon went astray; "": nowhere. Whole numbers must be exact.
std::string random_pipeline_difference(const Pipeline& pipeline, const std::vector<std::vector<double>>& got,
                                       const OracleOutput& expected, double epsilon);

}  // namespace nbcc::test
