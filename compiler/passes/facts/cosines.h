// Pipeline -> the calls of acos() whose argument rounding may carry beyond 1, where acos() is NaN: quotients and dot
// products. For an angle between two vectors angle(u, v) has no such argument. Tested by
// tests/unit/compiler/passes/facts/angle_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// The locations of the calls, in the order of the text, each once. Quotients by constants and params do not count,
// nor do arguments that are clamped.
std::vector<Location> find_acos_of_cosines(const Pipeline& pipeline);

}  // namespace nbcc
