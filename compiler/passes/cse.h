// One node per value: commutative arguments are sorted, a>b and b<a become one, so that hash-consing meets them.
// Tested by tests/unit/cse_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {
void cse(Pipeline& pipeline);
}  // namespace nbcc
