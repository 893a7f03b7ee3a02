// The variant that searches neighbours on the GPU and sums over the pairs that it finds. Part of emit_cuda.
#pragma once
#include "compiler/emit/locate.h"
#include "compiler/options.h"

namespace nbcc {

// Adds the variant and SearchLayout, which the runtime needs to launch it, to `source`.
void add_cuda_search(KernelSource& source, const Pipeline& pipeline, const Plan& plan, const Options& options,
                     const Neighbourhood& neighbourhood);

}  // namespace nbcc
