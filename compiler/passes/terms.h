// Node -> the sum of terms, or the product of powers, that it is, so that rules need not know how a text has arranged
// them: r2 - rc2 + eps, fma(x, x, y * y), r / h / h. In exact arithmetic; a number that is converted from one floating
// type to another is the same number. Tested by tests/unit/terms_test.cpp.
#pragma once
#include <map>

#include "compiler/ir/ir.h"

namespace nbcc {

// The sum of coefficient * node. Terms that cancel are left out.
struct LinearSum {
  std::map<NodeId, double> terms;
  double constant = 0;
};

// a, and a - b. Products that stand in an Fma become nodes of the graph.
LinearSum read_sum(Graph& graph, NodeId a);
LinearSum read_difference(Graph& graph, NodeId a, NodeId b);
NodeId make_sum(Graph& graph, const LinearSum& sum, Type type);

// coefficient * the product of node^(twice / 2). A factor that stands under a root is taken not to be negative: else
// the whole is NaN.
struct PowerProduct {
  std::map<NodeId, int> twice;
  double coefficient = 1;
};

PowerProduct read_product(const Graph& graph, NodeId a);
NodeId make_product(Graph& graph, const PowerProduct& product, Type type);

// Without conversions from one floating type to another.
NodeId look_through_casts(const Graph& graph, NodeId id);

}  // namespace nbcc
