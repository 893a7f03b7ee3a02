// pow(x, p - n) beside pow(x, p), as derivatives make them of an exponent p of run time, share one pow(): of the
// exponent nearest to 0, times x or 1 / x for each step of the exponent to another power, and the 0, 1 or infinity that
// the exponent tells where x is 0 or infinite. For Math::Fast only: products are rounded in each step. Tested by
// tests/unit/compiler/passes/optimize/shared_powers_test.cpp and tests/numeric/shared_powers_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {

void share_powers(Pipeline& pipeline);

}  // namespace nbcc
