// Sums to a tolerance: near pairs one by one, distant particles through grids of Chebyshev points (DESIGN.md,
// docs/explanation/far_field.md). The pair methods "far field" and "far batches". Tested by
// tests/numeric/far_field_test.cpp.
#pragma once
#include "runtime/sum/request/far_choice.h"
#include "runtime/sum/run/sum.h"

namespace nbcc {

// Sets the tolerance of later runs: the root mean square over i of |error| / (sum of |terms|) is at most the tolerance,
// for each output, before finish(); magnitudes of vectors are their lengths. 0 (the default): all pairs, or what
// set_pairs chooses. Throws UsageError unless it is 0 or from 1e-14 to 1, or if the pipeline has no far field.
void set_tolerance(SumState& sum, double tolerance, const FarChoice& choice = {});

// As nbcc_sum_why_all_j() of runtime/api/nbcc_ranks.h.
const char* why_all_j(const SumState& sum);

}  // namespace nbcc
