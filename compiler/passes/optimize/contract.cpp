// Expands a sum down to terms that have other users, then rebuilds it: bare terms first, in source order (an error-free
// transformation that a user wrote stays intact), then products, fused from the last to the first. Entry point:
// contract().
#include <map>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

struct ContractedTerm {
  NodeId node;  // in the old graph
  bool negative;
};

class Contraction {
 public:
  explicit Contraction(const Pipeline& pipeline)
      : old_(pipeline.pair), alive_(reachable(old_, pipeline.roots())), uses_(count_uses(old_, pipeline.roots())) {}

  Graph run(Pipeline& pipeline) {
    find_terms();
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive_[std::size_t(id)] && !expanded_[std::size_t(id)]) new_id_[std::size_t(id)] = remake(id);
    rename_roots(pipeline, new_id_);
    return std::move(target_);
  }

 private:
  bool is_sum(const Node& node) const { return (node.op == Op::Add || node.op == Op::Sub) && node.type >= Type::Float; }

  // xj - xi is exact if the particles are near each other, so that a distant origin does no harm. No third term may
  // come between them.
  bool is_difference_of_particles(const Node& node) const {
    return node.op == Op::Sub && node.binding == Binding::Pair && old_[node.args[0]].binding != Binding::Pair &&
           old_[node.args[1]].binding != Binding::Pair;
  }

  // The terms of a sum, and the additions that were expanded into it, which have no other user.
  struct Sum {
    std::vector<ContractedTerm> terms;
    std::vector<NodeId> expanded;
  };

  // Visits users before their arguments: a sum that its user has expanded is skipped.
  void find_terms() {
    find_gains();
    expanded_.assign(std::size_t(old_.size()), false);
    for (NodeId id = old_.size(); id-- > 0;) {
      if (!alive_[std::size_t(id)] || expanded_[std::size_t(id)] || !is_sum(old_[id])) continue;
      Sum sum;
      expand(old_[id], false, old_[id].type, sum);
      for (const NodeId inner : sum.expanded) expanded_[std::size_t(inner)] = true;
      terms_[id] = std::move(sum.terms);
    }
  }

  // Finds the sums that have a product among their expanded terms.
  void find_gains() {
    gains_.assign(std::size_t(old_.size()), false);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive_[std::size_t(id)] && is_sum(old_[id]))
        gains_[std::size_t(id)] = gains(old_[id].args[0], old_[id].type) || gains(old_[id].args[1], old_[id].type);
  }
  bool gains(NodeId id, Type type) const {
    return expands(id, type) ? gains_[std::size_t(id)] : is_product({id, false}, type);
  }

  bool expands(NodeId id, Type type) const {
    const Node& node = old_[id];
    return uses_[std::size_t(id)] == 1 && is_sum(node) && node.type == type && !is_difference_of_particles(node);
  }

  void collect(NodeId id, bool negative, Type type, Sum& sum) const {
    if (!expands(id, type)) return sum.terms.push_back({id, negative});
    sum.expanded.push_back(id);
    expand(old_[id], negative, type, sum);
  }

  // The parentheses of a - (b - c) stay if expanding them fuses no product.
  void expand(const Node& node, bool negative, Type type, Sum& sum) const {
    collect(node.args[0], negative, type, sum);
    const bool right_negative = negative != (node.op == Op::Sub);
    if (gains(node.args[1], type))
      collect(node.args[1], right_negative, type, sum);
    else
      sum.terms.push_back({node.args[1], right_negative});
  }

  NodeId remake(NodeId id) {
    const Node node = old_[id];
    if (is_sum(node)) return build(terms_.at(id), node);
    return copy_node(target_, node, new_id_);
  }

  // True for a product that only this sum uses. A product with other users is computed anyway, and adding it is cheaper
  // than fusing it again.
  bool is_product(const ContractedTerm& term, Type type) const {
    const Node& node = old_[term.node];
    return node.op == Op::Mul && node.type == type && uses_[std::size_t(term.node)] == 1;
  }

  NodeId build(const std::vector<ContractedTerm>& terms, const Node& node) {
    NodeId sum = kNone;
    bool sum_negative = false;
    for (const ContractedTerm& term : terms) {
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
  std::map<NodeId, std::vector<ContractedTerm>> terms_;  // of the sums that are rebuilt
  std::vector<bool> gains_;
  std::vector<bool> expanded_;  // expanded into their users; not built
  std::vector<NodeId> new_id_;
  Graph target_;
};

}  // namespace

void contract(Pipeline& pipeline) { pipeline.pair = Contraction(pipeline).run(pipeline); }

}  // namespace nbcc
