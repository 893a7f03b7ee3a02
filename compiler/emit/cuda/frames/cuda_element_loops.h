// Loops over the elements of arrays -> the kernel that sums over all pairs, tile by tile. Part of emit_cuda; takes the
// place of cuda_all_pairs.cu for pipelines with such loops (passes/optimize/element_loops.h). Tested by
// tests/numeric/element_loops_test.cpp.
#pragma once
#include <string>

#include "compiler/emit/cuda/pair/cuda_pair_body.h"

namespace nbcc {

// The launch configuration of a kernel with loops; no threads: it would not fit into shared memory, or has something
// that the kernel cannot do, so that the loops must be written out.
LaunchConfig cuda_loop_launch(const Pipeline& pipeline, const Plan& plan, const Options& options);

std::string cuda_element_loops(const Plan& plan, const Options& options, const CudaPairBody& body,
                               const LaunchConfig& launch);

// True if the kernel applies more to sums than common factors: finish(), the best of several values, a logsumexp, ...
// It can do so only without output arrays, whose sums are in memory.
bool finishes_sums(const Pipeline& pipeline, const Plan& plan);

// Statements of the loops of a pair: their number, for one i.
int cuda_loop_statements(const Plan& plan);

}  // namespace nbcc
