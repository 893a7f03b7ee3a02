// Loops over the elements of arrays -> the function that sums over the pairs of two ranges, block by block. Part of
// emit_cpu; takes the place of cpu_all_pairs.h for pipelines with such loops (passes/optimize/element_loops.h). Tested
// by tests/numeric/element_loops_test.cpp.
#pragma once
#include <string>

#include "compiler/emit/cpu/cpu_pair_body.h"

namespace nbcc {

// A block of pairs: `rows` i and kBlockVectors vectors of j. Its loops are computed before all other statements of its
// pairs, a piece of so many elements after another.
struct CpuBlock {
  int rows = 0, elements = 0;
};
inline constexpr int kBlockVectors = 32;

// True if loops are computed block by block: the blocks take at most 1.5 MB of a thread's stack, and no difference of
// elements needs their lower parts (mixed precision).
bool has_blocks(const Plan& plan);
CpuBlock cpu_block(const Plan& plan);

// `body`: of one i.
std::string cpu_element_loops(CpuPairBody& body, const Plan& plan, const CpuVectors& vectors);

}  // namespace nbcc
