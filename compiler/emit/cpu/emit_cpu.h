// Pipeline -> KernelSource for the CPU: C++ source with Clang's vector extensions, one lane per j-particle.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/isa.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/table_indices.h"

namespace nbcc {

// `pipeline`: the result of optimize() for facts(isa).target and the same options. With a neighbourhood the kernel can
// run on the pairs that a search finds; with TableIndices, runs check the bounds of table indices.
KernelSource emit_cpu(const Pipeline& pipeline, const Options& options, Isa isa,
                      const Neighbourhood* neighbourhood = nullptr, const TableIndices& indices = {});

}  // namespace nbcc
