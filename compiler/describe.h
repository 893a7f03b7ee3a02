// What a KernelSource says of its pipeline: the part that is the same for every backend. The text, the target and the
// shape of the work are left to the emitter.
#pragma once
#include "compiler/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/plan.h"

namespace nbcc {
KernelSource describe_kernel(const Pipeline& pipeline, const Plan& plan);
}  // namespace nbcc
