// Pipeline -> the pipeline that is emitted: the passes in their order, verified after each.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "compiler/target.h"

namespace nbcc {
Pipeline optimize(Pipeline pipeline, const Options& options, const Target& target);
}  // namespace nbcc
