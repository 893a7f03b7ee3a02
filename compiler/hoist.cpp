// Each Sum's value is split into (scale, core). One door: hoist(). Products are searched to any depth; of an addition
// only a factor that all its terms share comes out.
#include "compiler/hoist.h"

#include <algorithm>
#include <map>

#include "compiler/rewrite.h"

namespace nbcc {
namespace {

// constant * product of nodes (each without j), and the rest.
struct Split {
  double constant = 1;
  std::vector<NodeId> factors;  // sorted
  NodeId core = kNone;          // kNone: 1
};

class Splitter {
 public:
  explicit Splitter(Graph& graph) : graph_(graph) {}

  Split split(NodeId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    Split result = compute(id);
    known_[id] = result;
    return result;
  }

  NodeId scale(const Split& s, Type type) {
    NodeId product = s.constant != 1 || s.factors.empty() ? graph_.constant(s.constant, type) : kNone;
    for (NodeId f : s.factors) product = product == kNone ? f : graph_.binary(Op::Mul, product, f);
    return product;
  }

 private:
  static bool without_j(Binding b) { return b == Binding::Constant || b == Binding::Param || b == Binding::I; }

  Split compute(NodeId id) {
    const Node node = graph_[id];
    if (node.type < Type::Float) return {1, {}, id};
    if (graph_.is_constant(id)) return {graph_.constant_value(id), {}, kNone};
    if (node.op == Op::Neg) {
      Split s = split(node.args[0]);
      s.constant = -s.constant;
      return s;
    }
    if (node.op == Op::Mul) {
      Split a = split(node.args[0]);
      const Split b = split(node.args[1]);
      a.constant *= b.constant;
      a.factors.insert(a.factors.end(), b.factors.begin(), b.factors.end());
      std::sort(a.factors.begin(), a.factors.end());
      a.core = a.core == kNone ? b.core : b.core == kNone ? a.core : graph_.binary(Op::Mul, a.core, b.core, node.where);
      return a;
    }
    if (node.op == Op::Add || node.op == Op::Sub) return split_sum(id, node);
    if (without_j(node.binding)) return {1, {id}, kNone};
    return {1, {}, id};
  }

  Split split_sum(NodeId id, const Node& node) {
    const Split a = split(node.args[0]), b = split(node.args[1]);
    if (without_j(node.binding)) return {1, {id}, kNone};
    if (a.core == kNone || b.core == kNone || a.factors != b.factors) return {1, {}, id};
    if (a.constant != b.constant && a.constant != -b.constant) return {1, {}, id};
    if (a.constant == 1 && a.factors.empty() && b.constant == 1) return {1, {}, id};
    const bool same = (a.constant == b.constant) == (node.op == Op::Add);
    return {a.constant, a.factors, graph_.binary(same ? Op::Add : Op::Sub, a.core, b.core, node.where)};
  }

  Graph& graph_;
  std::map<NodeId, Split> known_;
};

}  // namespace

void hoist(Pipeline& pipeline) {
  Splitter splitter(pipeline.pair);
  for (std::size_t k = 0; k < pipeline.contributions.size(); ++k) {
    Contribution& c = pipeline.contributions[k];
    if (pipeline.field_of(Role::Output, int(k)).reduction != Reduction::Sum ||
        pipeline.pair[c.value].type < Type::Float)
      continue;
    const Split s = splitter.split(c.value);
    // A sum of a constant (a count) keeps its value: there is nothing left to sum otherwise.
    if (s.core == kNone || (s.constant == 1 && s.factors.empty())) continue;
    const Type type = pipeline.pair[c.value].type;
    const NodeId scale = splitter.scale(s, type);
    c.scale = c.scale == kNone ? scale : pipeline.pair.binary(Op::Mul, c.scale, scale);
    c.value = s.core;
  }
}

}  // namespace nbcc
