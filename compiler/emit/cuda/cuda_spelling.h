// The operations of the IR -> their text in a CUDA kernel, one row each. cuda_expression.cpp writes those
// that depend on more than the operation (a cast, a quotient whose dividend is 1). Tested by
// tests/unit/emit_cuda_test.cpp.
#pragma once
#include <string_view>

#include "compiler/ir/ops.h"

namespace nbcc {

// In the texts {a}, {b} and {c} are the arguments, {t} is the type; {f} is the f that C appends to the functions and
// numbers of float; {u} is the unsigned type of {t}'s width, since signed overflow is undefined in C++ and wraps in the
// IR.
struct CudaSpelling {
  Op op;
  std::string_view text = {};
  std::string_view whole = {};  // for whole numbers
  std::string_view fast = {};   // for floats where an error of 2 ulp is allowed
  bool is_special = false;      // a leaf, or an operation whose text is made by code
};

const CudaSpelling& cuda_spelling(Op op);

}  // namespace nbcc
