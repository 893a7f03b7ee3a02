// Plan -> the variants that sum over lists of the caller: over groups of i with ranges of j, and over listed pairs.
// Part of emit_cuda.
#pragma once
#include "compiler/emit/plan.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"

namespace nbcc {
// source.search says which inputs of j are positions.
void add_cuda_lists(KernelSource& source, const Pipeline& pipeline, const Plan& plan, const Options& options);
}  // namespace nbcc
