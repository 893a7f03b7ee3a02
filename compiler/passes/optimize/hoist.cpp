// Splits the value of each Sum into (scale, core). Entry point: hoist(). Products are searched to any depth; from an
// addition only a factor that all its terms have is taken. A factor of unknown size leaves a product only if the
// remaining product already was a value, so that no term leaves the range of the source; small constants leave any
// product.
#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

// A value as constant * factors * core. No factor depends on j, nor on i if the pipeline has reactions.
struct Split {
  double constant = 1;
  std::vector<NodeId> factors;  // sorted
  NodeId core = kNone;          // kNone: 1
};

// Maximum number of factors of one split. A longer product becomes one node; otherwise n nested products would have n
// lists of n factors.
constexpr std::size_t kMaxFactorsPerSplit = 16;

// A constant that leaves a new product scales the terms by its reciprocal, so it must be small.
bool is_small(double constant) { return std::fabs(constant) >= 0x1p-16 && std::fabs(constant) <= 0x1p16; }

class Splitter {
 public:
  explicit Splitter(Pipeline& pipeline) : graph_(pipeline.pair), may_depend_on_i_(pipeline.first_reaction == 0) {
    find_elements();
    const std::vector<bool> alive = reachable(graph_, pipeline.roots());
    known_.resize(alive.size());
    for (NodeId id = 0; id < NodeId(alive.size()); ++id)
      if (alive[std::size_t(id)]) known_[std::size_t(id)] = compute(id);
  }

  const Split& split(NodeId id) const { return known_[std::size_t(id)]; }

  NodeId scale(const Split& s, Type type) {
    NodeId product = s.constant != 1 || s.factors.empty() ? graph_.constant(s.constant, type) : kNone;
    for (NodeId f : s.factors) product = product == kNone ? f : graph_.binary(Op::Mul, product, f);
    return product;
  }

 private:
  // Loops over elements stay where they are: factors are applied by statements without loops.
  void find_elements() {
    reads_elements_.assign(std::size_t(graph_.size()), false);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      reads_elements_[std::size_t(id)] = is_element(graph_[id].op);
      for (const NodeId arg : graph_[id].args)
        if (arg != kNone && reads_elements_[std::size_t(arg)]) reads_elements_[std::size_t(id)] = true;
    }
  }
  bool is_common(NodeId id) const {
    const Binding b = graph_[id].binding;
    return !reads_elements_[std::size_t(id)] &&
           (b == Binding::Constant || b == Binding::Param || (b == Binding::I && may_depend_on_i_));
  }

  Split compute(NodeId id) {
    const Node node = graph_[id];
    if (node.type < Type::Float) return {1, {}, id};
    if (graph_.is_constant(id)) return {graph_.constant_value(id), {}, kNone};
    if (node.op == Op::Neg) {
      Split s = split(node.args[0]);
      s.constant = -s.constant;
      return s;
    }
    if (node.op == Op::Mul) return split_product(id, node);
    if (node.op == Op::Add || node.op == Op::Sub) return split_sum(id, node);
    if (is_common(id)) return {1, {id}, kNone};
    return {1, {}, id};
  }

  Split split_product(NodeId id, const Node& node) {
    Split a = split(node.args[0]);
    const Split& b = split(node.args[1]);
    a.constant *= b.constant;
    if (a.core != kNone && b.core != kNone) {
      if (!a.factors.empty() || !b.factors.empty() || !is_small(a.constant)) return {1, {}, id};
      a.core = graph_.binary(Op::Mul, a.core, b.core, node.where);
      return a;
    }
    if (a.core == kNone) a.core = b.core;
    a.factors.insert(a.factors.end(), b.factors.begin(), b.factors.end());
    std::ranges::sort(a.factors);
    if (a.factors.size() > kMaxFactorsPerSplit) a.factors = {scale({1, a.factors, kNone}, node.type)};
    return a;
  }

  Split split_sum(NodeId id, const Node& node) {
    const Split &a = split(node.args[0]), &b = split(node.args[1]);
    if (is_common(id)) return {1, {id}, kNone};
    if (a.core == kNone || b.core == kNone || a.factors != b.factors) return {1, {}, id};
    if (a.constant != b.constant && a.constant != -b.constant) return {1, {}, id};
    if (a.constant == 1 && a.factors.empty() && b.constant == 1) return {1, {}, id};
    const bool same = (a.constant == b.constant) == (node.op == Op::Add);
    return {a.constant, a.factors, graph_.binary(same ? Op::Add : Op::Sub, a.core, b.core, node.where)};
  }

  Graph& graph_;
  const bool may_depend_on_i_;
  std::vector<bool> reads_elements_;  // [node] of the graph as it was
  std::vector<Split> known_;
};

}  // namespace

void hoist(Pipeline& pipeline) {
  Splitter splitter(pipeline);
  for (std::size_t k = 0; k < pipeline.contributions.size(); ++k) {
    Contribution& c = pipeline.contributions[k];
    const Field& field = pipeline.field_of(Role::Output, int(k));
    if (field.reduction != Reduction::Sum || field.is_of_pair() || pipeline.pair[c.value].type < Type::Float) continue;
    const Split& s = splitter.split(c.value);
    // The sum of a constant (a count) keeps its value: otherwise nothing would be left to sum.
    if (s.core == kNone || (s.constant == 1 && s.factors.empty())) continue;
    const Type type = pipeline.pair[c.value].type;
    const NodeId scale = splitter.scale(s, type);
    c.scale = c.scale == kNone ? scale : pipeline.pair.binary(Op::Mul, c.scale, scale);
    c.value = s.core;
  }
}

}  // namespace nbcc
