// The table of IR operations and their spelling in a CUDA kernel, one row each. cuda_expression.cpp writes the
// operations that depend on more than the op (a cast, a quotient whose dividend is 1). Tested by
// tests/unit/compiler/emit/cuda/emit_cuda_test.cpp.
#pragma once
#include <string_view>

#include "compiler/ir/ops.h"

namespace nbcc {

// Fields of a spelling: {a}, {b} and {c} are the arguments, {t} is the type, {f} is the suffix f of C's float functions
// and literals, {u} is the unsigned type of {t}'s width, since signed overflow is undefined in C++ and wraps in the IR.
struct CudaSpelling {
  Op op;
  std::string_view text = {};
  std::string_view whole = {};  // for integers
  std::string_view fast = {};   // for floats, if an error of 2 ulp is allowed
  bool is_special = false;      // a leaf, or an operation that is spelled by code
  int instructions = 1;         // of sm_90 for floats, about; quotients and roots, which have short forms, count as one
};

const CudaSpelling& cuda_spelling(Op op);

}  // namespace nbcc
