// Products, quotients and powers as products of powers, for their derivatives. Part of derivative.cpp.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/passes/derivative_terms.h"

namespace nbcc {

class Products {
 public:
  // `depends`: by node, whether a variable reaches it. Variables are never opened.
  Products(Graph& graph, Terms& terms, const std::vector<bool>& depends, const std::set<NodeId>& variables);

  using Powers = std::map<NodeId, double>;

  bool is_product(NodeId id);
  // A power whose derivative is that of its logarithm times itself: another one by pow() would be dear.
  bool is_logarithmic(NodeId id);
  // Exponents of the factors that depend on a variable. A factor that is a product itself is opened where it is used
  // nowhere else, or where something that it divides by meets its like beside it: s6 in s6 * s6, not in s6 * dx.
  const Powers& powers(NodeId id);

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
  Powers of_factor(NodeId id, NodeId other);
  bool holds(NodeId id, NodeId other, NodeId atom);
  bool is_constant_power(const Node& node) const { return node.op == Op::Pow && graph_.is_constant(node.args[1]); }

  Graph& graph_;
  Terms& terms_;
  const std::vector<bool>& depends_;
  const std::set<NodeId>& variables_;
  std::vector<int> uses_;
  std::map<NodeId, Powers> known_;
};

}  // namespace nbcc
