// Graph nodes -> sums in a normal form, and back. A node is expanded after all its users, and therefore once: arguments
// have lower ids than their users.
#include "compiler/passes/facts/terms.h"

#include <cmath>

#include "compiler/passes/facts/power_product.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

class SumReader {
 public:
  explicit SumReader(Graph& graph) : graph_(graph) {}

  void add(NodeId id, double coefficient) { pending_[id] += coefficient; }

  LinearSum run() {
    while (!pending_.empty()) {
      const auto [id, coefficient] = *pending_.rbegin();
      pending_.erase(std::prev(pending_.end()));
      if (coefficient != 0 && !expand(id, coefficient)) sum_.terms[id] += coefficient;
    }
    std::erase_if(sum_.terms, [](const auto& term) { return term.second == 0; });
    return std::move(sum_);
  }

 private:
  bool expand(NodeId id, double coefficient) {
    const Node n = graph_[id];
    const auto [a, b, c] = n.args;
    // Integers wrap around, so that an integer addition is not an exact sum.
    if (!is_floating(n.type)) return false;
    if (n.op == Op::Const) sum_.constant += coefficient * graph_.constant_value(id);
    if (n.op == Op::Const || n.op == Op::Add || n.op == Op::Sub || n.op == Op::Fma || n.op == Op::Neg) {
      if (n.op == Op::Neg) add(a, -coefficient);
      if (n.op == Op::Add || n.op == Op::Sub) add(a, coefficient);
      if (n.op == Op::Add) add(b, coefficient);
      if (n.op == Op::Sub) add(b, -coefficient);
      if (n.op == Op::Fma) add(c, coefficient), add_product(a, b, coefficient);
      return true;
    }
    if (const NodeId same = look_through_casts(graph_, id); same != id) return add(same, coefficient), true;
    if (n.op == Op::Mul && scales(b)) return add(a, coefficient * graph_.constant_value(b)), true;
    if (n.op == Op::Mul && scales(a)) return add(b, coefficient * graph_.constant_value(a)), true;
    if (n.op == Op::Div && scales(b)) return add(a, coefficient / graph_.constant_value(b)), true;
    return false;
  }

  bool scales(NodeId id) const {
    return graph_.is_constant(id) && std::isfinite(graph_.constant_value(id)) && graph_.constant_value(id) != 0;
  }

  // The product of an Fma may get a higher id than all pending nodes, so it is expanded immediately.
  void add_product(NodeId a, NodeId b, double coefficient) {
    const NodeId product = make_folded(graph_, Op::Mul, a, b);
    if (!expand(product, coefficient)) sum_.terms[product] += coefficient;
  }

  Graph& graph_;
  std::map<NodeId, double> pending_;
  LinearSum sum_;
};

}  // namespace

LinearSum read_sum(Graph& graph, NodeId a) {
  SumReader reader(graph);
  reader.add(a, 1);
  return reader.run();
}

LinearSum read_difference(Graph& graph, NodeId a, NodeId b) {
  SumReader reader(graph);
  reader.add(a, 1);
  reader.add(b, -1);
  return reader.run();
}

NodeId make_sum(Graph& graph, const LinearSum& sum, Type type) {
  NodeId result = kNone;
  const auto append = [&](NodeId term, bool negative) {
    if (result == kNone)
      result = negative ? make_folded(graph, Op::Neg, term) : term;
    else
      result = make_folded(graph, negative ? Op::Sub : Op::Add, result, term);
  };
  // Added terms precede subtracted ones.
  for (const bool negative : {false, true}) {
    for (const auto& [node, coefficient] : sum.terms) {
      if ((coefficient < 0) != negative) continue;
      append(make_folded(graph, Op::Mul, graph.constant(std::fabs(coefficient), graph[node].type), node), negative);
    }
    if (sum.constant != 0 && (sum.constant < 0) == negative)
      append(graph.constant(std::fabs(sum.constant), type), negative);
  }
  return result == kNone ? graph.constant(sum.constant, type) : result;
}

}  // namespace nbcc
