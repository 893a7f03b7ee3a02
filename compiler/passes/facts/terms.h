// Node -> the sum of terms that it computes, so that rules do not depend on how the source arranges the terms: r2 - rc2
// + eps, fma(x, x, y * y). In exact arithmetic; conversions between floating types are ignored. Tested by
// tests/unit/compiler/passes/facts/terms_test.cpp.
#pragma once
#include <map>

#include "compiler/ir/ir.h"

namespace nbcc {

// The sum of coefficient * node. No coefficient is 0.
struct LinearSum {
  std::map<NodeId, double> terms;
  double constant = 0;
};

// The sums a and a - b. The product of an Fma becomes a node of the graph.
LinearSum read_sum(Graph& graph, NodeId a);
LinearSum read_difference(Graph& graph, NodeId a, NodeId b);
NodeId make_sum(Graph& graph, const LinearSum& sum, Type type);

}  // namespace nbcc
