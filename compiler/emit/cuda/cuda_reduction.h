// What parts of the j-particles found for one i-particle becomes its results. Part of emit_cuda.
#pragma once
#include <map>
#include <string>

#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"

namespace nbcc {

// Sets the holes of Found: its members (one number per output, in their order, and the index behind it where the
// reduction keeps one), how parts join, and how the whole becomes what the caller asked for.
void fill_reduction(const Pipeline& pipeline, const Plan& plan, std::map<std::string, std::string>& holes);

}  // namespace nbcc
