// Products, quotients and powers as products of powers, for their derivatives. Part of derivative.cpp.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/passes/derive/derivative_terms.h"
#include "compiler/passes/facts/power_product.h"

namespace nbcc {

class Products {
 public:
  // `depends`: the nodes that depend on a variable. Variables are never expanded.
  Products(Graph& graph, Terms& terms, const std::unordered_set<NodeId>& depends, const std::set<NodeId>& variables);

  bool is_product(NodeId id);
  // True for a power with a constant exponent that is differentiated as d(x^p) = p x^p / x dx, and 0 at x = 0, because
  // a second pow() would be expensive.
  bool is_logarithmic(NodeId id);
  // True for a product of so many factors that it is not expanded, but counts as one factor.
  bool is_long(NodeId id);
  // Exponents of the factors that depend on a variable. A factor that is itself a product is expanded if it has no
  // other user, or if one of its reciprocals or roots also occurs in the factor next to it: s6 in s6 * s6, not
  // in s6 * dx.
  const Exponents& powers(NodeId id);

  // sign * above / below (kNone: 1)
  struct Rest {
    double sign = 1;
    NodeId above = kNone, below = kNone;
  };
  // The product divided by one of its factors, which has a positive integer power. The quotient is the product of the
  // remaining factors, since the factor may be 0. Empty for other powers, which can be divided by, and for factors
  // whose derivative contains the factor itself (exp, pow).
  std::optional<Rest> without(NodeId id, NodeId atom, double power);

 private:
  bool can_expand(NodeId id);
  bool is_expanded(NodeId id, NodeId other);
  Exponents of_factor(NodeId id, NodeId other);
  bool holds(NodeId id, NodeId other, NodeId atom);
  bool is_constant_power(const Node& node) const { return node.op == Op::Pow && graph_.is_constant(node.args[1]); }

  Graph& graph_;
  Terms& terms_;
  const std::unordered_set<NodeId>& depends_;
  const std::set<NodeId>& variables_;
  std::unordered_map<NodeId, int> uses_;  // number of uses by nodes that depend on a variable
  std::map<NodeId, Exponents> known_;
};

}  // namespace nbcc
