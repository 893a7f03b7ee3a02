// The frame of all pairs: each i of a range with each j of a range. Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/emit/cpu/cpu_pair_body.h"

namespace nbcc {
// What nbcc_interact and its kin are made of; every `tile` j the accumulators go into the rows of
// results, counted from where the range of j begins.
std::string cpu_all_pairs(CpuPairBody& body, int lanes, int tile);
}  // namespace nbcc
