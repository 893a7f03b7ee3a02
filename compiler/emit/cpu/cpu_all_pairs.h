// The frame that loops over all pairs of a range of i and a range of j. Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/emit/cpu/cpu_pair_body.h"

namespace nbcc {
// The function template that nbcc_interact and its variants call. After every `tile` j, counted from the beginning of
// the range of j, the accumulators are added to the rows of results.
std::string cpu_all_pairs(CpuPairBody& body, int lanes, int tile);

// Statements for the block of i that begins at `i` and ends before `end` at the latest.
struct IBlock {
  std::string other_i;  // defines i_1, i_2 ...; those that would be beyond the end repeat the last i
  std::string reduce;   // adds the accumulators of each i to the rows of results
};
IBlock i_block_of(const CpuPairBody& body, const std::string& end);
}  // namespace nbcc
