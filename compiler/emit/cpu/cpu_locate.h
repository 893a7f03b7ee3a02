// The functions of a CPU kernel that tell a search where its particles are: coordinates, reaches and the lengths of the
// box, as doubles. Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/emit/finish.h"
#include "compiler/emit/plan.h"
#include "compiler/kernel_source.h"
#include "compiler/passes/neighbourhood.h"

namespace nbcc {

SearchLayout search_layout(const Neighbourhood& neighbourhood);

// Whether the kernel has columns of all inputs that the search asks for.
bool can_locate(const Neighbourhood& neighbourhood, const Plan& plan);

// nbcc_locate_i, nbcc_locate_j and nbcc_extent.
std::string cpu_locate(const Neighbourhood& neighbourhood, const Plan& plan, const ScalarSpelling& spelling);

}  // namespace nbcc
