// The test for coincident particles, r2 == 0, becomes a test of the differences whose squares r2 adds: dx == 0 && dy ==
// 0 && dz == 0. A GPU tests three values in the time of one; and if no other node reads the bare r2, the sum of squares
// may begin with the softening. For Math::Fast only: where the squares underflow, the particles count as different.
// Tested by tests/unit/compiler/passes/optimize/coincident_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

void test_differences(Pipeline& pipeline);

// The differences, if `id` is a test as test_differences() makes it; else empty. There are two or three.
std::vector<NodeId> differences_tested(const Graph& graph, NodeId id);

}  // namespace nbcc
