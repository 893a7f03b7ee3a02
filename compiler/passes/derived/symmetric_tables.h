// Tables of two indices under the condition that they are symmetric, T[a][b] = T[b][a], as the parameters of pairs of
// atom types are. Under this condition exchanging i and j changes fewer terms. Part of reactions.cpp; tested by
// tests/unit/compiler/passes/derived/reactions_test.cpp.
#pragma once
#include <set>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// Params, by their first component among all params.
using TableParams = std::set<int>;

// The params with as many rows as columns that `roots` of the pair graph read at two different indices a and b, neither
// of them constant, other than [min(a, b)][max(a, b)].
TableParams square_tables(const Pipeline& pipeline, const std::vector<NodeId>& roots);

// Replaces T[a][b] by T[min(a, b)][max(a, b)], which exchanging a and b does not change.
void order_indices(Pipeline& pipeline, const TableParams& tables);
// Undoes order_indices(), in one of both orders: the kernel needs no minimum and maximum.
void unorder_indices(Pipeline& pipeline, const TableParams& tables);

}  // namespace nbcc
