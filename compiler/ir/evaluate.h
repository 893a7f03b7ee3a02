// What each operation computes, in double: the one place that the interpreter and constant folding share.
// Bool is 0 or 1. Int wraps at 32 bits and Index at 64; an Index beyond 2^53 is not represented exactly. A quotient or
// remainder by integer zero is 0, a cast to an integer type saturates and makes 0 of NaN. Float and Real are not
// rounded. Tested by tests/unit/interpret_test.cpp and tests/unit/fold_test.cpp.
#pragma once
#include <array>

#include "compiler/ir/ir.h"

namespace nbcc {
// out[k] = op(args[0][k], args[1][k], args[2][k]) for k in [0, count). `type` is the node's, `argument` that of its
// first argument. `op` is no leaf; args beyond its arity are not read.
void evaluate(Op op, Type type, Type argument, const std::array<const double*, 3>& args, double* out, int count);
}  // namespace nbcc
