// The description of a pipeline in a KernelSource, which is the same for every backend. The emitter adds the source,
// the target and the launch configurations.
#pragma once
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"

namespace nbcc {
KernelSource describe_kernel(const Pipeline& pipeline, const Plan& plan, Precision precision);
}  // namespace nbcc
