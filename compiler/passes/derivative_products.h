// Products, quotients and powers as products of powers, for their derivatives. Part of derivative.cpp.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/passes/derivative_terms.h"
#include "compiler/passes/power_product.h"

namespace nbcc {

class Products {
 public:
  // `depends`: the nodes that a variable reaches. Variables are never opened.
  Products(Graph& graph, Terms& terms, const std::unordered_set<NodeId>& depends, const std::set<NodeId>& variables);

  bool is_product(NodeId id);
  // A power whose derivative is that of its logarithm times itself: another one by pow() would be dear.
  bool is_logarithmic(NodeId id);
  // A product of so many factors that it is not opened, but a factor itself.
  bool is_long(NodeId id);
  // Exponents of the factors that depend on a variable. A factor that is a product itself is opened where it is used
  // nowhere else, or where something that it divides by meets its like beside it: s6 in s6 * s6, not in s6 * dx.
  const Exponents& powers(NodeId id);

  // sign * above / below (kNone: 1)
  struct Rest {
    double sign = 1;
    NodeId above = kNone, below = kNone;
  };
  // The product divided by a factor that is in it to a whole positive power, made of what else there is, since the
  // factor may be 0; none for other factors, by which one can divide, and for what has itself in its derivative.
  std::optional<Rest> without(NodeId id, NodeId atom, double power);

 private:
  bool can_open(NodeId id);
  bool is_opened(NodeId id, NodeId other);
  Exponents of_factor(NodeId id, NodeId other);
  bool holds(NodeId id, NodeId other, NodeId atom);
  bool is_constant_power(const Node& node) const { return node.op == Op::Pow && graph_.is_constant(node.args[1]); }

  Graph& graph_;
  Terms& terms_;
  const std::unordered_set<NodeId>& depends_;
  const std::set<NodeId>& variables_;
  std::unordered_map<NodeId, int> uses_;  // by those that a variable reaches
  std::map<NodeId, Exponents> known_;
};

}  // namespace nbcc
