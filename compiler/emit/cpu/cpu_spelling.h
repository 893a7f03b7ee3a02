// The operations of the IR -> their text in a CPU kernel, one row each. cpu_expression.cpp writes those
// that depend on more than the operation (a cast, a minimum with a constant). Tested by
// tests/unit/cpu_expression_test.cpp.
#pragma once
#include <span>
#include <string_view>

#include "compiler/ir/ops.h"

namespace nbcc {

// In the texts {a}, {b} and {c} are the arguments, {t} is the type.
struct CpuSpelling {
  Op op;
  std::string_view text = {};    // for vectors, and where the two below are empty; empty: a call of v_ or s_ and `libm`
  std::string_view scalar = {};  // for scalars
  std::string_view whole = {};   // for whole numbers
  std::string_view libm = {};    // the function of C's mathematical library that is called, less the f of float
  bool has_vectors = true;       // libmvec has that function for vectors
  bool is_special = false;       // a leaf, or an operation whose text is made by code
};

std::span<const CpuSpelling> cpu_spellings();  // by Op
inline const CpuSpelling& cpu_spelling(Op op) { return cpu_spellings()[std::size_t(op)]; }

}  // namespace nbcc
