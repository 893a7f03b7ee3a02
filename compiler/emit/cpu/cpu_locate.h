// The functions of a CPU kernel that tell a search where its particles are. Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/emit/locate.h"

namespace nbcc {

// nbcc_locate_i, nbcc_locate_j and nbcc_extent.
std::string cpu_locate(const Neighbourhood& neighbourhood, const Plan& plan, const ScalarSpelling& spelling);

}  // namespace nbcc
