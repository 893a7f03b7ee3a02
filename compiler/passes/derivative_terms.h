// Sums of products, as derivatives are made of them: coefficients are numbers until a node is asked for, so that 2
// times a half vanishes, equal products are one, and what several have in common is multiplied once. Part of
// derivative.cpp.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/term.h"

namespace nbcc {

struct Multiple {
  double coefficient = 1;
  NodeId node = kNone;  // kNone: 1
};

class Terms {
 public:
  explicit Terms(Graph& graph) : graph_(graph) {}

  // Folded, of numbers of whatever types.
  NodeId make(Op op, NodeId a, NodeId b = kNone);
  NodeId select(NodeId condition, NodeId yes, NodeId no);
  NodeId power(NodeId x, double exponent);  // kNone: 1

  // The constant factor of a node, and the rest.
  Multiple read(NodeId id);
  Term term(NodeId id) { return times(Term{}, {1, id}); }
  NodeId value(const Term& term, Type type);
  NodeId value(const Sum& sum, Type type) { return value(joined(sum), type); }

  static Term times(Term term, double factor);
  static Sum times(Sum sum, double factor);
  Term times(Term term, const Multiple& factor);
  Term over(const Term& term, NodeId divisor);  // kNone: 1
  Term converted(Term term, Type type);
  // -term where x is below 0
  Term with_sign_of(const Term& term, NodeId x);
  // The sum as one product, by common factors.
  Term joined(Sum sum);
  // Terms of the same factors become one.
  static Sum collected(const Sum& sum);
  // What every one of them has, which they lose.
  static std::vector<NodeId> take_common_factors(std::vector<Term>& terms);

 private:
  Node like(NodeId id, Op op, Type type) const;        // an operation that comes of the same place
  NodeId product(const std::vector<NodeId>& factors);  // kNone: 1
  NodeId scaled(double coefficient, const Term& term, Type type);
  void open_shared_products(Sum& sum);
  Term factored(Sum sum);
  Term added(const Sum& sum);
  Multiple find_multiple(NodeId id);

  Graph& graph_;
  std::unordered_map<NodeId, Multiple> read_;
};

}  // namespace nbcc
