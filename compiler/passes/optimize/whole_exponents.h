// Marks powers whose exponents the caller sets: params, elements of tables, and sums and products of these. Such
// exponents often are whole numbers, as those of Mie potentials, for which a kernel can multiply instead of calling
// pow(). Tested by tests/unit/compiler/passes/optimize/whole_exponents_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {

// Node::payload of a marked Op::Pow; 0: not marked.
inline constexpr std::int64_t kMayBeWhole = 1;

// For Math::Fast, after all passes that make powers.
void whole_exponents(Pipeline& pipeline);

}  // namespace nbcc
