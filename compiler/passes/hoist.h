// A factor that does not depend on j, common to a whole sum, is taken out of it and applied once after the loop
// (Contribution::scale). For Math::Fast only. That i-bound and j-bound nodes are computed once per particle needs no
// rewriting: `plan` reads it off the bindings. Tested by tests/unit/hoist_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {
void hoist(Pipeline& pipeline);
}  // namespace nbcc
