// Reads the results of a run in arrays of the host: numbers that are NaN, and integers that the caller's array cannot
// hold. Tested by tests/unit/runtime/sum/check/run_check_test.cpp.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "runtime/sum/run/sum.h"

namespace nbcc {

// Both read an output whose array the host can read, in the rows that the run has written.

// Throws UsageError if a sum, product, count or index in an int32 array is at a limit of int32, to which larger results
// are rounded. (A minimum or maximum of no terms is at the limit.)
void check_int32_results(const SumState& sum, const RunChoice& choice, const FieldLayout& output);

// A sentence about an output with NaN, or, if it is a sum, with infinite numbers: in how many rows, the first i, and
// whether the pair of that particle with itself is the cause. Nothing if there are none, and for a softmax or payload,
// which are NaN where no pair acts. kernel: the kernel of the sum; null: the cause is not sought.
std::optional<std::string> non_finite_warning(const SumState& sum, const RunChoice& choice, const FieldLayout& output,
                                              const std::shared_ptr<const Kernel>& kernel);

}  // namespace nbcc
