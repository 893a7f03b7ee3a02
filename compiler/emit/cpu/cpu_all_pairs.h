// The frame of all pairs: each i of a range with each j of a range. Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/emit/cpu/cpu_pair_body.h"

namespace nbcc {
// nbcc_interact, and what nbcc_interact_numbered is made of; every `tile` j the accumulators go into the rows of
// results, counted from where the range of j begins.
std::string cpu_all_pairs(CpuPairBody& body, int lanes, int tile);
}  // namespace nbcc
