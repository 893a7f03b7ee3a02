// Graph nodes -> sums and products in a normal form, and back. A node is opened after all that use it, so that what is
// shared is opened once: arguments have lower numbers than their users.
#include "compiler/passes/terms.h"

#include <cmath>
#include <optional>

#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

bool is_same_number(const Graph& graph, const Node& n) {
  return n.op == Op::Cast && is_floating(n.type) && is_floating(graph[n.args[0]].type);
}

class SumReader {
 public:
  explicit SumReader(Graph& graph) : graph_(graph) {}

  void add(NodeId id, double coefficient) { open_[id] += coefficient; }

  LinearSum run() {
    while (!open_.empty()) {
      const auto [id, coefficient] = *open_.rbegin();
      open_.erase(std::prev(open_.end()));
      if (coefficient != 0 && !open(id, coefficient)) sum_.terms[id] += coefficient;
    }
    std::erase_if(sum_.terms, [](const auto& term) { return term.second == 0; });
    return std::move(sum_);
  }

 private:
  bool open(NodeId id, double coefficient) {
    const Node n = graph_[id];
    const auto [a, b, c] = n.args;
    // Whole numbers wrap around, so that their sums are none.
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
    if (is_same_number(graph_, n)) return add(a, coefficient), true;
    if (n.op == Op::Mul && scales(b)) return add(a, coefficient * graph_.constant_value(b)), true;
    if (n.op == Op::Mul && scales(a)) return add(b, coefficient * graph_.constant_value(a)), true;
    if (n.op == Op::Div && scales(b)) return add(a, coefficient / graph_.constant_value(b)), true;
    return false;
  }

  bool scales(NodeId id) const {
    return graph_.is_constant(id) && std::isfinite(graph_.constant_value(id)) && graph_.constant_value(id) != 0;
  }

  // A product that an Fma holds may get a number beyond those that are open; it is opened here and now.
  void add_product(NodeId a, NodeId b, double coefficient) {
    const NodeId product = make_folded(graph_, Op::Mul, a, b);
    if (!open(product, coefficient)) sum_.terms[product] += coefficient;
  }

  Graph& graph_;
  std::map<NodeId, double> open_;
  LinearSum sum_;
};

// Twice the exponent, if it is a half of a whole number and small.
std::optional<int> half_power(const Graph& graph, NodeId exponent) {
  if (!graph.is_constant(exponent)) return {};
  const double twice = 2 * graph.constant_value(exponent);
  if (std::fabs(twice) > 48 || twice != std::round(twice)) return {};
  return int(twice);
}

class ProductReader {
 public:
  explicit ProductReader(const Graph& graph) : graph_(graph) {}

  PowerProduct run(NodeId id) {
    open_[id] = 2;
    while (!open_.empty()) {
      const auto [next, twice] = *open_.rbegin();
      open_.erase(std::prev(open_.end()));
      if (twice != 0 && !open(next, twice)) product_.twice[next] = twice;
    }
    return std::move(product_);
  }

 private:
  bool open(NodeId id, int twice) {
    const Node& n = graph_[id];
    const NodeId a = n.args[0], b = n.args[1];
    if (!is_floating(n.type)) return false;
    const auto also = [this](NodeId factor, int power) { open_[factor] += power; };
    const bool whole = twice % 2 == 0;
    if (n.op == Op::Const && whole && graph_.constant_value(id) != 0 && std::isfinite(graph_.constant_value(id)))
      return product_.coefficient *= std::pow(graph_.constant_value(id), twice / 2), true;
    if (n.op == Op::Neg && whole) {
      if (twice / 2 % 2 != 0) product_.coefficient = -product_.coefficient;
      return also(a, twice), true;
    }
    // A root of a product is not opened: (x x)^(1/2) is |x|, and (x y)^(1/2) may be a root of two negative numbers.
    if (n.op == Op::Mul && whole) return also(a, twice), also(b, twice), true;
    if (n.op == Op::Div && whole) return also(a, twice), also(b, -twice), true;
    if (n.op == Op::Sqrt && whole) return also(a, twice / 2), true;
    if (n.op == Op::Rsqrt && whole) return also(a, -twice / 2), true;
    if (n.op == Op::Pow && whole)
      if (const auto power = half_power(graph_, b)) return also(a, twice / 2 * *power), true;
    return is_same_number(graph_, n) ? also(a, twice), true : false;
  }

  const Graph& graph_;
  std::map<NodeId, int> open_;
  PowerProduct product_;
};

}  // namespace

NodeId look_through_casts(const Graph& graph, NodeId id) {
  while (is_same_number(graph, graph[id])) id = graph[id].args[0];
  return id;
}

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

PowerProduct read_product(const Graph& graph, NodeId a) { return ProductReader(graph).run(a); }

NodeId make_sum(Graph& graph, const LinearSum& sum, Type type) {
  NodeId result = kNone;
  const auto append = [&](NodeId term, bool negative) {
    if (result == kNone)
      result = negative ? make_folded(graph, Op::Neg, term) : term;
    else
      result = make_folded(graph, negative ? Op::Sub : Op::Add, result, term);
  };
  // What is added stands before what is taken off.
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

NodeId make_product(Graph& graph, const PowerProduct& product, Type type) {
  NodeId above = kNone, below = kNone;
  const auto multiply = [&](NodeId& side, NodeId factor) {
    side = side == kNone ? factor : make_folded(graph, Op::Mul, side, factor);
  };
  for (const auto& [node, twice] : product.twice) {
    NodeId& side = twice > 0 ? above : below;
    for (int k = 0; k < std::abs(twice) / 2; ++k) multiply(side, node);
    if (twice % 2 != 0) multiply(side, make_folded(graph, Op::Sqrt, node));
  }
  NodeId result = above;
  if (above == kNone || product.coefficient != 1) {
    result = graph.constant(product.coefficient, type);
    if (above != kNone) result = make_folded(graph, Op::Mul, result, above);
  }
  return below == kNone ? result : make_folded(graph, Op::Div, result, below);
}

}  // namespace nbcc
