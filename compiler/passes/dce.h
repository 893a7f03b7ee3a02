// Nodes that no contribution and no finish() needs are dropped.
// Tested by tests/unit/dce_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {
void dce(Pipeline& pipeline);
}  // namespace nbcc
