// The frame of neighbours: a search on the GPU, and sums over the pairs that it finds. Part of emit_cuda.
#pragma once
#include "compiler/emit/locate.h"
#include "compiler/options.h"

namespace nbcc {

// Adds the variant that searches, and what a device must know of it, to `source`.
void add_cuda_search(KernelSource& source, const Pipeline& pipeline, const Plan& plan, const Options& options,
                     const Neighbourhood& neighbourhood);

}  // namespace nbcc
