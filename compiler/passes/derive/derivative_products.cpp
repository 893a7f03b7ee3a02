// Nodes -> exponents of their factors. Makes no nodes except the quotients that derivatives request.
#include "compiler/passes/derive/derivative_products.h"

#include <algorithm>

namespace nbcc {

namespace {
// Maximum number of factors of one product. A longer product is itself a factor, so that the time is linear in the
// number of factors.
constexpr std::size_t kMaxFactorsPerProduct = 32;
}  // namespace

Products::Products(Graph& graph, Terms& terms, const std::unordered_set<NodeId>& depends,
                   const std::set<NodeId>& variables)
    : graph_(graph), terms_(terms), depends_(depends), variables_(variables) {
  for (const NodeId id : depends)
    for (const NodeId arg : graph[id].args)
      if (arg != kNone) ++uses_[arg];
}

bool Products::is_product(NodeId id) {
  const Node& node = graph_[id];
  if (variables_.contains(id) || !is_floating(node.type)) return false;
  if (is_constant_power(node)) {
    // For p > 0, x^p/x would be 0/0 at x = 0, unless x is a reciprocal.
    if (graph_.constant_value(node.args[1]) < 0) return true;
    const Exponents base = of_factor(node.args[0], kNone);
    return !base.empty() && std::ranges::all_of(base, [](const auto& factor) { return factor.second < 0; });
  }
  return node.op == Op::Mul || node.op == Op::Div || node.op == Op::Rsqrt;
}

bool Products::is_logarithmic(NodeId id) {
  const Node& node = graph_[id];
  if (node.op != Op::Pow || variables_.contains(id) || is_product(id)) return false;
  // The exponent may be whole at run time: then higher derivatives at 0 are other than 0.
  if (!graph_.is_constant(node.args[1])) return false;
  const double exponent = graph_.constant_value(node.args[1]);
  return exponent > 1 && !is_integer(2 * exponent);
}

bool Products::can_expand(NodeId id) {
  if (variables_.contains(id) || !depends_.contains(id)) return false;
  const Node& node = graph_[id];
  if (node.op == Op::Cast) return graph_[node.args[0]].type == node.type;
  return node.op == Op::Neg || is_product(id);
}

bool Products::is_long(NodeId id) {
  const Op op = graph_[id].op;
  return (op == Op::Mul || op == Op::Div) && can_expand(id) && powers(id).size() > kMaxFactorsPerProduct;
}

// `other`: the other factor of the product; kNone: there is none.
bool Products::is_expanded(NodeId id, NodeId other) {
  if (!can_expand(id)) return false;
  const Op op = graph_[id].op;
  if (op != Op::Mul && op != Op::Div) return true;
  if (is_long(id)) return false;
  if (uses_[id] == 1) return true;
  if (other == kNone) return false;
  const Exponents beside = can_expand(other) ? powers(other) : Exponents{{other, 1.0}};
  return std::ranges::any_of(powers(id), [&](const auto& factor) {
    const auto [atom, power] = factor;
    return (power < 0 || !is_integer(power)) && beside.contains(atom);
  });
}

Exponents Products::of_factor(NodeId id, NodeId other) {
  if (!depends_.contains(id)) return {};
  return is_expanded(id, other) ? powers(id) : Exponents{{id, 1.0}};
}

const Exponents& Products::powers(NodeId id) {
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  const Node node = graph_[id];
  const Factors factors = node.op == Op::Cast ? Factors{1, 1, {1}} : *read_factors(graph_, id);
  Exponents powers;
  for (std::size_t k = 0; k < std::size_t(factors.count); ++k) {
    const NodeId other = factors.count == 2 ? node.args[1 - k] : kNone;
    multiply(powers, of_factor(node.args[k], other), factors.exponents[k]);
  }
  return known_[id] = std::move(powers);
}

bool Products::holds(NodeId id, NodeId other, NodeId atom) {
  return id == atom || (is_expanded(id, other) && powers(id).contains(atom));
}

std::optional<Products::Rest> Products::without(NodeId id, NodeId atom, double power) {
  const Op op = graph_[atom].op;
  const bool is_exponential = !variables_.contains(atom) && (op == Op::Exp || op == Op::Exp2);
  if (power < 0 || !is_integer(power) || is_exponential || is_logarithmic(atom)) return std::nullopt;
  Rest rest;
  const auto put = [&](NodeId& side, NodeId factor) {
    side = side == kNone ? factor : terms_.make(Op::Mul, factor, side);
  };
  while (id != atom) {
    const auto [a, b, c] = graph_[id].args;
    switch (graph_[id].op) {
      case Op::Neg:
        rest.sign = -rest.sign;
        id = a;
        break;
      case Op::Cast:
        id = a;
        break;
      case Op::Mul: {
        const bool right = holds(b, a, atom);
        put(rest.above, right ? a : b);
        id = right ? b : a;
        break;
      }
      case Op::Div:
        if (!holds(a, b, atom)) return std::nullopt;
        put(rest.below, b);
        id = a;
        break;
      default:
        return std::nullopt;
    }
  }
  return rest;
}

}  // namespace nbcc
