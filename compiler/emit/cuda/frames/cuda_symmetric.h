// The kernel that computes each pair of one set once. Part of emit_cuda.
#pragma once
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"

namespace nbcc {
// Adds the variant Frame::Symmetric of a pipeline with reactions. packed_bytes is the size of a slot.
void add_cuda_symmetric(KernelSource& source, const Pipeline& pipeline, Plan plan, const Options& options);
}  // namespace nbcc
