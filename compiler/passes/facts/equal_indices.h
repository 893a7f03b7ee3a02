// A pipeline's guards -> whether they exclude pairs by a comparison of i_index with j_index. Such a guard means that i
// and j are the same particles; the runtime warns if they are not. Tested by
// tests/unit/compiler/passes/facts/equal_indices_test.cpp.
#pragma once
#include "compiler/index_guard.h"
#include "compiler/ir/ir.h"

namespace nbcc {

// IndexGuard::None unless every contribution is excluded where i_index == j_index, whatever the other values are.
IndexGuard index_guard(const Pipeline& pipeline);

}  // namespace nbcc
