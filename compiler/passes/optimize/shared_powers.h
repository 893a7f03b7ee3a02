// pow(x, p - n) beside pow(x, p), as derivatives make them of an exponent p of run time, becomes pow(x, p) / x^n, and
// at x = 0 the 0, 1 or infinity that the exponent tells: a quotient in place of a second pow(). For Math::Fast only,
// because pow(x, p) may leave the range where pow(x, p - n) does not. Tested by
// tests/unit/compiler/passes/optimize/shared_powers_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {

void share_powers(Pipeline& pipeline);

}  // namespace nbcc
