// The table of IR operations and their spelling in a CPU kernel, one row each. cpu_expression.cpp writes the operations
// that depend on more than the op (a cast, a minimum with a constant). Tested by
// tests/unit/compiler/emit/cpu/cpu_expression_test.cpp.
#pragma once
#include <span>
#include <string_view>

#include "compiler/ir/ops.h"

namespace nbcc {

// Fields of a spelling: {a}, {b} and {c} are the arguments, {t} is the type.
struct CpuSpelling {
  Op op;
  std::string_view text = {};    // for vectors; default of `scalar` and `whole`; empty: calls v_libm or s_libm
  std::string_view scalar = {};  // for scalars
  std::string_view whole = {};   // for integers
  std::string_view functions =
      {};                      // the template with the function that the text calls; scalars are converted to double
  std::string_view libm = {};  // the function of C's libm for each number, without the suffix f of float
  bool is_special = false;     // a leaf, or an operation that is spelled by code
};

std::span<const CpuSpelling> cpu_spellings();  // by Op
inline const CpuSpelling& cpu_spelling(Op op) { return cpu_spellings()[std::size_t(op)]; }

}  // namespace nbcc
