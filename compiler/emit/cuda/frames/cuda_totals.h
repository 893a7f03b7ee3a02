// The kernel that reduces the values of i to totals on a GPU.
#pragma once
#include "compiler/emit/plan.h"
#include "compiler/kernel_source.h"

namespace nbcc {

KernelVariant cuda_totals(const Pipeline& pipeline, const Plan& plan, const Options& options);

}  // namespace nbcc
