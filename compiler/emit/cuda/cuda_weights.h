// Weighted sums and products in the statements of a CUDA text: logsumexp, softmax and what they are made of
// (emit/accumulators.h). Part of emit_cuda.
#pragma once
#include <string>

#include "compiler/emit/cuda/cuda_expression.h"
#include "compiler/emit/plan.h"

namespace nbcc {

// Whether templates/cuda_weights.cuh.in is called.
bool uses_cuda_weights(const Plan& plan);

// What the member of Sums begins with.
std::string cuda_initial(const OutputPlan& output, const CudaScalars& scalars);

// A pair's term of output component k: of a Reference with those of all that it is of, of a Weighted one nothing.
std::string cuda_accumulate_weighted(const Plan& plan, std::size_t k, const CudaScalars& scalars);

// From the members of `part` to those of `all`.
std::string cuda_combine_weighted(const Plan& plan, std::size_t k);

// Where a caller's array goes on, by the reduction that the output is declared with.
std::string cuda_store_accumulated(Reduction declared, std::size_t k, const std::string& result);

}  // namespace nbcc
