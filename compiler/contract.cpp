// An addition is opened down to terms that others use too, then built anew: bare terms first, in the order of the
// text (an error-free transformation that a user wrote stays one), products fused on from the last to the first. One
// door: contract().
#include "compiler/contract.h"

#include <algorithm>

#include "compiler/rewrite.h"

namespace nbcc {
namespace {

struct Term {
  NodeId node;  // in the old graph
  bool negative;
};

class Contraction {
 public:
  Contraction(const Graph& old, const std::vector<NodeId>& roots)
      : old_(old), alive_(reachable(old, roots)), uses_(std::size_t(old.size()), 0) {
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive_[std::size_t(id)])
        for (NodeId arg : old_[id].args)
          if (arg != kNone) ++uses_[std::size_t(arg)];
    for (NodeId root : roots)
      if (root != kNone) ++uses_[std::size_t(root)];
  }

  Graph run(const std::vector<NodeId*>& roots) {
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive_[std::size_t(id)]) new_id_[std::size_t(id)] = remake(id);
    for (NodeId* root : roots)
      if (*root != kNone) *root = new_id_[std::size_t(*root)];
    return std::move(target_);
  }

 private:
  bool is_sum(const Node& node) const { return (node.op == Op::Add || node.op == Op::Sub) && node.type >= Type::Float; }

  // xj - xi: exact when the particles are near each other, which is what makes the far-off origin harmless. A third
  // term must not come between them.
  bool is_difference_of_particles(const Node& node) const {
    return node.op == Op::Sub && node.binding == Binding::Pair && old_[node.args[0]].binding != Binding::Pair &&
           old_[node.args[1]].binding != Binding::Pair;
  }

  void collect(NodeId id, bool negative, Type type, std::vector<Term>& terms) const {
    const Node& node = old_[id];
    if (uses_[std::size_t(id)] == 1 && is_sum(node) && node.type == type && !is_difference_of_particles(node)) {
      open(node, negative, type, terms);
      return;
    }
    terms.push_back({id, negative});
  }

  // The parentheses of a - (b - c) stay where no product gains by opening them.
  void open(const Node& node, bool negative, Type type, std::vector<Term>& terms) const {
    collect(node.args[0], negative, type, terms);
    const bool right_negative = negative != (node.op == Op::Sub);
    std::vector<Term> right;
    collect(node.args[1], right_negative, type, right);
    const bool gains = std::any_of(right.begin(), right.end(), [&](const Term& t) { return is_product(t, type); });
    if (gains)
      terms.insert(terms.end(), right.begin(), right.end());
    else
      terms.push_back({node.args[1], right_negative});
  }

  NodeId remake(NodeId id) {
    const Node node = old_[id];
    if (is_sum(node)) {
      std::vector<Term> terms;
      open(node, false, node.type, terms);
      return build(terms, node);
    }
    std::array<NodeId, 3> args{kNone, kNone, kNone};
    for (int k = 0; k < arity(node.op); ++k) args[std::size_t(k)] = new_id_[std::size_t(node.args[std::size_t(k)])];
    return copy_node(target_, node, args);
  }

  // A product that only this sum uses; one that others need exists anyway and is cheaper added than fused again.
  bool is_product(const Term& term, Type type) const {
    const Node& node = old_[term.node];
    return node.op == Op::Mul && node.type == type && uses_[std::size_t(term.node)] == 1;
  }

  NodeId build(const std::vector<Term>& terms, const Node& node) {
    NodeId sum = kNone;
    bool sum_negative = false;
    for (const Term& term : terms) {
      if (is_product(term, node.type)) continue;
      const NodeId next = new_id_[std::size_t(term.node)];
      if (sum == kNone) {
        sum = next;
        sum_negative = term.negative;
      } else if (sum_negative && !term.negative) {
        sum = target_.binary(Op::Sub, next, sum, node.where);
        sum_negative = false;
      } else {
        sum = target_.binary(term.negative == sum_negative ? Op::Add : Op::Sub, sum, next, node.where);
      }
    }
    if (sum != kNone && sum_negative) sum = target_.unary(Op::Neg, sum, node.where);
    for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
      if (!is_product(*term, node.type)) continue;
      const Node& product = old_[term->node];
      NodeId a = new_id_[std::size_t(product.args[0])];
      const NodeId b = new_id_[std::size_t(product.args[1])];
      if (term->negative) a = target_.unary(Op::Neg, a, node.where);
      sum = sum == kNone ? target_.binary(Op::Mul, a, b, product.where)
                         : target_.make(Op::Fma, node.type, {a, b, sum}, node.where);
    }
    return sum;
  }

  const Graph& old_;
  std::vector<bool> alive_;
  std::vector<int> uses_;
  std::vector<NodeId> new_id_;
  Graph target_;
};

}  // namespace

void contract(Pipeline& pipeline) {
  std::vector<NodeId*> roots;
  for (Contribution& c : pipeline.contributions)
    for (NodeId* root : {&c.value, &c.guard, &c.scale}) roots.push_back(root);
  pipeline.pair = Contraction(pipeline.pair, pipeline.roots()).run(roots);
}

}  // namespace nbcc
