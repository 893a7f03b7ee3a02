// What a KernelSource says of its pipeline: the part that is the same for every backend. The text, the target and the
// shape of the work are left to the emitter.
#pragma once
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"

namespace nbcc {
FieldLayout layout_of(const Field& field);
KernelSource describe_kernel(const Pipeline& pipeline, const Plan& plan);
}  // namespace nbcc
