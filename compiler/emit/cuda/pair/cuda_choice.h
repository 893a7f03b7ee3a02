// argmin and argmax with several slots, and their payloads, in CUDA C++: arrays in a thread's sums, the statement of a
// pair, and arrays in a partial result. Part of emit_cuda; the statements call functions of
// templates/cuda/frames/cuda_choices.cuh.in. Tested by tests/unit/compiler/emit/cuda/emit_cuda_test.cpp.
#pragma once
#include <map>
#include <string>

#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/plan.h"

namespace nbcc {

// The functions that the statements call; empty without choices.
std::string cuda_choice_functions(const Plan& plan);

// Members of Sums.
std::string cuda_choice_sums(const Plan& plan, const CudaScalars& scalars);
// Updates all choices with a pair; `j`: expression for the index of the j-particle.
std::string cuda_choose(const Plan& plan, const CudaScalars& scalars, const std::string& j);

// Members of Partial and the statements on them, appended to the holes; adds their number of doubles to `size`.
void cuda_choice_partials(const Plan& plan, std::map<std::string, std::string>& holes, int& size);
// The lvalue in a Partial `all` of an output component that belongs to a choice.
std::string cuda_choice_result(const Plan& plan, int component);

}  // namespace nbcc
