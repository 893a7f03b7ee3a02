// The frames that compute each pair once for both of its particles. Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/emit/cpu/cpu_pair_body.h"

namespace nbcc {
// The function nbcc_interact_symmetric, from a body with reactions. `terms`: terms that a lane sums in working
// precision.
std::string cpu_symmetric(CpuPairBody& body, int lanes, int terms);
// The function nbcc_interact_half_list; the body has kHalfListBlock i.
std::string cpu_half_lists(CpuPairBody& body, const Plan& plan, int lanes, int terms);
// The functions nbcc_interact_listed_once and nbcc_listed_sizes. `body` has one i.
std::string cpu_listed_once(CpuPairBody& body, const Plan& plan, int lanes);
}  // namespace nbcc
