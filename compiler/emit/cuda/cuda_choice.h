// Choices of several places, and what goes along with them, as text of CUDA C++: arrays in a thread's sums, the
// statement of a pair, and arrays in a partial result. Part of emit_cuda; the functions that they call are those of
// templates/cuda_choices.cuh.in. Tested by tests/unit/emit_cuda_test.cpp.
#pragma once
#include <map>
#include <string>

#include "compiler/emit/cuda/cuda_expression.h"
#include "compiler/emit/plan.h"

namespace nbcc {

// The functions; nothing without choices.
std::string cuda_choice_functions(const Plan& plan);

// Members of Sums.
std::string cuda_choice_sums(const Plan& plan, const CudaScalars& scalars);
// Of all choices: what a pair with the j-particle of the index `j` adds.
std::string cuda_choose(const Plan& plan, const CudaScalars& scalars, const std::string& j);

// Members of Partial, and what is done with them: `size` counts them.
void cuda_choice_partials(const Plan& plan, std::map<std::string, std::string>& holes, int& size);
// Of an output component that is a part of a choice: where its result stands in a Partial `all`.
std::string cuda_choice_result(const Plan& plan, int component);

}  // namespace nbcc
