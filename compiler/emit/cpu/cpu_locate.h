// The functions of a CPU kernel that a neighbour search calls to locate particles. Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/emit/cpu/cpu_pair_body.h"
#include "compiler/emit/locate.h"

namespace nbcc {

// nbcc_locate_i, nbcc_locate_j, nbcc_extent and nbcc_within.
std::string cpu_locate(const Neighbourhood& neighbourhood, const Plan& plan, const ScalarSpelling& spelling,
                       const CpuVectors& vectors, CpuExpressions& expressions);

}  // namespace nbcc
