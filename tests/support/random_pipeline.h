// Random pipelines for differential tests: any two devices, precisions or passes must agree on them.
//
// What makes their results comparable:
//  - Inputs are meant to come from random_pipeline_input(): multiples of 1/1024 in [-1, 1), so that differences,
//    their squares and comparisons are exact in single precision. Branches, floor, argmin and the like look at such
//    exact quantities only; every other operation is continuous and keeps clear of its singularities.
//  - Every term of a sum and every candidate of a min or max is at least 1 in size, and all terms of one output have
//    one sign. Factors of a product are near 1. finish() multiplies by factors in [0.5, 2] or takes a square root.
//  - What goes along with a choice is an input, or a difference of inputs.
// So outputs agree within the bounds of expect(), and those of integral type (argmin, argmax, counts, extremes of whole
// numbers, what goes along with a choice) exactly.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/ir.h"
#include "particles/error_bounds/error_bound.h"

namespace nbcc::test {

// The text of a pipeline in the dialect of named fields. The same seed gives the same text everywhere.
std::string random_pipeline_text(std::uint64_t seed);

// Particles and params on which that pipeline is well behaved.
OracleInput random_pipeline_input(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj, std::uint64_t seed);

// Particle j = min(ni, nj) - 1 at the place of the i of its number, and `poison` its other real numbers.
OracleInput with_poison(const Pipeline& pipeline, OracleInput input, double poison);

// Whether the pair gives no output anything.
bool adds_nothing(const Pipeline& pipeline, const OracleInput& input, std::int64_t i, std::int64_t j);

// The oracle's answer for `count` i from `begin` on (all of them: -1), and how far any device of that precision may be
// from it.
Expectation random_pipeline_expectation(const Pipeline& pipeline, const OracleInput& input, Precision precision,
                                        std::int64_t begin = 0, std::int64_t count = -1);

// Where a device went astray; "": nowhere.
std::string random_pipeline_difference(const Pipeline& pipeline, const Figures& got, const Expectation& expected);

}  // namespace nbcc::test
