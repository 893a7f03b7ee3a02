// Terms that depend on two types alone, such as pow(sigma[ti][tj] / rc, n[ti][tj]) -> a selection among values that are
// computed once for each two types, before the loop over pairs. Tested by
// tests/unit/compiler/passes/optimize/type_terms_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {

// For Math::Fast, before all passes that rewrite products and powers. Replaces the largest terms of params and of table
// elements at one or two indices that contain a function, if there are few elements.
void type_terms(Pipeline& pipeline);

}  // namespace nbcc
