// The test for coincident particles, r2 == 0, becomes one of the differences that r2 is made of: dx == 0 && dy == 0 &&
// dz == 0. A GPU tests three numbers in the time of one, and r2, which nothing else reads as it is, may then begin with
// the softening. For Math::Fast only: where the squares underflow, the particles count as different.
// Tested by tests/unit/coincident_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

void test_differences(Pipeline& pipeline);

// The differences, if `id` is such a test as test_differences() leaves it; else empty. There are two or three.
std::vector<NodeId> differences_tested(const Graph& graph, NodeId id);

}  // namespace nbcc
