// The kernel that checks the bounds of table indices on a GPU. Part of emit_cuda.
#pragma once
#include <string>

#include "compiler/emit/cuda/pair/cuda_pair_body.h"
#include "compiler/emit/indices.h"

namespace nbcc {

// The variant for the checks in source.index_checks; `body` may belong to any frame.
// runtime/cuda/launch/cuda_indices.cpp launches it.
KernelVariant cuda_indices(const KernelSource& source, const TableIndices& indices, const Pipeline& pipeline,
                           const Plan& plan, const Options& options, const CudaPairBody& body);

}  // namespace nbcc
