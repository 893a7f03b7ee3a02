// Pipeline -> KernelSource for the CPU: C++ text in Clang's vector extensions, one lane per j-particle.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/isa.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/neighbourhood.h"
#include "compiler/passes/table_indices.h"

namespace nbcc {

// `pipeline` is what optimize() made for facts(isa).target and the same options. With the neighbourhood that is proved
// of it the kernel can be run on the pairs that a search finds; with its TableIndices runs check them.
KernelSource emit_cpu(const Pipeline& pipeline, const Options& options, Isa isa,
                      const Neighbourhood* neighbourhood = nullptr, const TableIndices& indices = {});

}  // namespace nbcc
