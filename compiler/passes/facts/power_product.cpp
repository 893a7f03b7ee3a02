// Graph nodes -> products of powers, and back. Entry points: read_factors() for one operation, read_product() for all
// operations below a node. A node is expanded after all its users, and therefore once: arguments have lower ids than
// their users.
#include "compiler/passes/facts/power_product.h"

#include <algorithm>

#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

bool is_same_number(const Graph& graph, const Node& n) {
  return n.op == Op::Cast && is_floating(n.type) && is_floating(graph[n.args[0]].type);
}

class ProductReader {
 public:
  explicit ProductReader(const Graph& graph) : graph_(graph) {}

  PowerProduct run(NodeId id) {
    pending_[id] = 1;
    while (!pending_.empty()) {
      const auto [next, exponent] = *pending_.rbegin();
      pending_.erase(std::prev(pending_.end()));
      if (exponent != 0 && !expand(next, exponent)) product_.exponents[next] = exponent;
    }
    return std::move(product_);
  }

 private:
  bool expand(NodeId id, double exponent) {
    const Node& n = graph_[id];
    if (is_same_number(graph_, n)) return pending_[n.args[0]] += exponent, true;
    // A root of a product is not expanded: (x x)^(1/2) is |x|, and (x y)^(1/2) may be a root of two negative numbers.
    if (!is_integer(exponent)) return false;
    const std::optional<Factors> factors = read_factors(graph_, id);
    if (!factors || factors->coefficient == 0 || !std::isfinite(factors->coefficient)) return false;
    if (!std::ranges::all_of(factors->exponents, is_made_by_products)) return false;
    product_.coefficient *= std::pow(factors->coefficient, exponent);
    for (std::size_t k = 0; k < std::size_t(factors->count); ++k)
      pending_[n.args[k]] += exponent * factors->exponents[k];
    return true;
  }

  const Graph& graph_;
  Exponents pending_;
  PowerProduct product_;
};

}  // namespace

void multiply(Exponents& a, const Exponents& b, double power) {
  for (const auto& [base, exponent] : b) a[base] += power * exponent;
}

void drop_zeros(Exponents& exponents) {
  std::erase_if(exponents, [](const auto& power) { return power.second == 0; });
}

void PowerProduct::multiply(const PowerProduct& other, double power) {
  const double factor = std::pow(other.coefficient, std::fabs(power));
  coefficient = power < 0 ? coefficient / factor : coefficient * factor;
  nbcc::multiply(exponents, other.exponents, power);
}

std::optional<Factors> read_factors(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (!is_floating(node.type)) return {};
  switch (node.op) {
    case Op::Const:
      return Factors{graph.constant_value(id)};
    case Op::Neg:
      return Factors{-1, 1, {1}};
    case Op::Mul:
      return Factors{1, 2, {1, 1}};
    case Op::Div:
      return Factors{1, 2, {1, -1}};
    case Op::Sqrt:
      return Factors{1, 1, {0.5}};
    case Op::Rsqrt:
      return Factors{1, 1, {-0.5}};
    case Op::Pow:
      if (graph.is_constant(node.args[1])) return Factors{1, 1, {graph.constant_value(node.args[1])}};
      return {};
    default:
      return {};
  }
}

PowerProduct read_product(const Graph& graph, NodeId id) { return ProductReader(graph).run(id); }

NodeId make_product(Graph& graph, const PowerProduct& product, Type type) {
  NodeId above = kNone, below = kNone;
  const auto multiply = [&](NodeId& side, NodeId factor) {
    side = side == kNone ? factor : make_folded(graph, Op::Mul, side, factor);
  };
  for (const auto& [base, exponent] : product.exponents) {
    NodeId& side = exponent > 0 ? above : below;
    for (int k = 0; k < int(std::fabs(exponent)); ++k) multiply(side, base);
    if (!is_integer(exponent)) multiply(side, make_folded(graph, Op::Sqrt, base));
  }
  NodeId result = above;
  if (above == kNone || product.coefficient != 1) {
    result = graph.constant(product.coefficient, type);
    if (above != kNone) result = make_folded(graph, Op::Mul, result, above);
  }
  return below == kNone ? result : make_folded(graph, Op::Div, result, below);
}

NodeId look_through_casts(const Graph& graph, NodeId id) {
  while (is_same_number(graph, graph[id])) id = graph[id].args[0];
  return id;
}

}  // namespace nbcc
