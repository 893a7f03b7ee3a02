// pow(x, p - n) beside pow(x, p), as derivatives make them of an exponent p of run time, share one pow(): of the
// exponent nearer to 0, times x or 1 / x for each step of the exponent, and at x = 0 the 0, 1 or infinity that the
// exponent tells. For Math::Fast only: steps are rounded, and where exponents of both signs share a pow(), powers of an
// x beyond sqrt(largest number) may be infinite or NaN. Tested by
// tests/unit/compiler/passes/optimize/shared_powers_test.cpp and tests/numeric/shared_powers_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {

void share_powers(Pipeline& pipeline);

}  // namespace nbcc
