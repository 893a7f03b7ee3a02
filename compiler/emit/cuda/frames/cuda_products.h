// Loops over elements that are products of vectors -> the kernel that computes them by matrix instructions, for GPUs
// from compute capability 8.0 on. Part of emit_cuda; takes the place of cuda_element_loops.cu if Options::matrix_units
// asks for it. Tested by tests/numeric/matrix_units_test.cpp.
#pragma once
#include <string>

#include "compiler/emit/cuda/pair/cuda_pair_body.h"

namespace nbcc {

// The launch configuration of a kernel whose only loop is a sum of x[k] y[k], or of (y[k] - x[k])^2, x of i and y of j;
// no threads: the plan has other loops.
LaunchConfig cuda_product_launch(const Pipeline& pipeline, const Plan& plan, const Options& options);

std::string cuda_products(const Pipeline& pipeline, const Plan& plan, const Options& options, const CudaPairBody& body);

// What the runtime needs for launches of the kernel.
KernelSource::PackedVectors cuda_packed_vectors(const Plan& plan, const Options& options);

}  // namespace nbcc
