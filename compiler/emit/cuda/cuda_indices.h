// The frame that checks the indices of tables on a GPU. Part of emit_cuda.
#pragma once
#include <string>

#include "compiler/emit/cuda/cuda_pair_body.h"
#include "compiler/emit/indices.h"

namespace nbcc {

// The text of the checks that the source has; `body` is of any frame. Launched as runtime/cuda/cuda_indices.cpp does.
std::string cuda_indices(const KernelSource& source, const TableIndices& indices, const Pipeline& pipeline,
                         const Plan& plan, const Options& options, const CudaPairBody& body);

}  // namespace nbcc
