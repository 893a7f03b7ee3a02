// Sums of products become chains of fused multiply-adds that begin with the bare terms: dx*dx + dy*dy + dz*dz + eps2
// is three operations, where the literal order takes four. For Math::Fast on targets with Fma.
// Tested by tests/unit/contract_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {
void contract(Pipeline& pipeline);
}  // namespace nbcc
