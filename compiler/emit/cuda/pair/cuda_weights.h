// Statements of CUDA for weighted sums (logsumexp, softmax; see emit/accumulators.h) and for products. Part of
// emit_cuda.
#pragma once
#include <string>

#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/plan.h"

namespace nbcc {

// True if statements call functions of templates/cuda/frames/cuda_weights.cuh.in.
bool uses_cuda_weights(const Plan& plan);

// Initial value of the output's member of Sums.
std::string cuda_initial(const OutputPlan& output, const CudaScalars& scalars);

// Accumulates a pair into output component k. A Reference includes all Weighted components that refer to it; for a
// Weighted component the statement is empty.
std::string cuda_accumulate_weighted(const Plan& plan, std::size_t k, const CudaScalars& scalars);

// Combines the members of `part` into those of `all`.
std::string cuda_combine_weighted(const Plan& plan, std::size_t k);

// Stores a result, combined with the array's old value if the output accumulates. `declared`: LogSumExp or Product.
std::string cuda_store_accumulated(Reduction declared, std::size_t k, const std::string& result);

}  // namespace nbcc
