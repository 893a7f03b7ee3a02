// A guard that sets one pair apart, skip_if(i_index == j_index) or skip_if(r2 == 0), becomes one zero instead of a
// choice in every sum: the reciprocal that the pair would make infinite is replaced with 0, where that makes every
// contribution 0 and no other operation can leave the finite numbers. For Math::Fast only.
// Tested by tests/unit/absorb_guard_test.cpp.
//
// A cutoff stays a guard: a particle with NaN in it, beyond the cutoff, must not be multiplied with that 0.
#pragma once
#include "compiler/ir.h"

namespace nbcc {
void absorb_guard(Pipeline& pipeline);
}  // namespace nbcc
