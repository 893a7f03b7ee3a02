// Results per pair, output(pair), of kernels that do not store them beside their sums: those for GPUs, in mixed
// precision, and of texts with table indices that depend on both particles of a pair. A run over listed pairs sums as
// ever, and then runs a second kernel over the pairs themselves (compiler/passes/derived/pair_values.h), whose inputs
// the host gathers. Tested by tests/numeric/pair_values_test.cpp.
#pragma once
#include <memory>

#include "runtime/sum/plan/device.h"

namespace nbcc {

// The kernel as callers see it. A kernel without results per pair is returned unchanged.
std::shared_ptr<const Kernel> with_pair_values(std::shared_ptr<const Kernel> kernel);

}  // namespace nbcc
