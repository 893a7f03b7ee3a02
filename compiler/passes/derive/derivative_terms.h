// Sums of products, from which derivatives are built. Coefficients stay numbers until a node is requested, so that
// 2 * 0.5 vanishes, equal products are merged, and common factors are multiplied once. Part of derivative.cpp.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/derive/term.h"

namespace nbcc {

struct Multiple {
  double coefficient = 1;
  NodeId node = kNone;  // kNone: 1
};

class Terms {
 public:
  explicit Terms(Graph& graph) : graph_(graph) {}

  // op(a, b), folded. Arithmetic converts both arguments to the larger type.
  NodeId make(Op op, NodeId a, NodeId b = kNone);
  NodeId select(NodeId condition, NodeId yes, NodeId no);
  NodeId power(NodeId x, double exponent);  // kNone: 1

  // Splits a node into its constant factor and the remaining node.
  Multiple read(NodeId id);
  Term term(NodeId id) { return times(Term{}, {1, id}); }
  NodeId value(const Term& term, Type type);
  NodeId value(const Sum& sum, Type type) { return value(joined(sum), type); }

  static Term times(Term term, double factor);
  static Sum times(Sum sum, double factor);
  Term times(Term term, const Multiple& factor);
  Term over(const Term& term, NodeId divisor);  // kNone: 1
  Term converted(Term term, Type type);
  // -term where x < 0, else term.
  Term with_sign_of(const Term& term, NodeId x);
  // The sum as one product, with common factors taken out.
  Term joined(Sum sum);
  // Merges terms that have the same factors.
  static Sum collected(const Sum& sum);
  // Removes the factors that all terms have, and returns them.
  static std::vector<NodeId> take_common_factors(std::vector<Term>& terms);

 private:
  Node like(NodeId id, Op op, Type type) const;        // a node with the source location of `id`
  NodeId product(const std::vector<NodeId>& factors);  // kNone: 1
  NodeId scaled(double coefficient, const Term& term, Type type);
  void split_shared_products(Sum& sum);
  Term factored(Sum sum);
  Term added(const Sum& sum);
  Multiple find_multiple(NodeId id);

  Graph& graph_;
  std::unordered_map<NodeId, Multiple> read_;
};

}  // namespace nbcc
