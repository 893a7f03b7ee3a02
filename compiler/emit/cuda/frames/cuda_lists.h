// Plan -> the variants that sum over the caller's lists: groups of i with ranges of j, and listed pairs.
// Part of emit_cuda.
#pragma once
#include "compiler/emit/plan.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"

namespace nbcc {
// source.search.j_positions names the inputs of j that are positions.
void add_cuda_lists(KernelSource& source, const Pipeline& pipeline, const Plan& plan, const Options& options);
}  // namespace nbcc
