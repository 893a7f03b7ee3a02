// Pipeline and its neighbourhood -> a pipeline whose guards are false for NaN, and which knows the positions of i.
// Entry point: exclude_non_finite(). neighbourhood.cpp proves facts about guards; here guards are only rewritten.
#include "compiler/passes/prove/non_finite.h"

#include <cmath>
#include <map>
#include <utility>

#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

class GuardRewrite {
 public:
  explicit GuardRewrite(Graph& graph) : graph_(graph) {}

  // The condition, or its negation, without negated comparisons.
  NodeId condition(NodeId id, bool negated) {
    if (const auto known = conditions_.find({id, negated}); known != conditions_.end()) return known->second;
    const NodeId rewritten = rewrite_condition(id, negated);
    return conditions_[{id, negated}] = rewritten;
  }

  // A value by which some pairs change an output: a branch that changes nothing is moved to the false side of its
  // selection.
  NodeId change(NodeId id) {
    if (const auto known = changes_.find(id); known != changes_.end()) return known->second;
    const NodeId rewritten = rewrite_change(id);
    return changes_[id] = rewritten;
  }

 private:
  NodeId rewrite_condition(NodeId id, bool negated) {
    const Node n = graph_[id];
    switch (n.op) {
      case Op::Not:
        return condition(n.args[0], !negated);
      case Op::And:
      case Op::Or: {
        const NodeId a = condition(n.args[0], negated), b = condition(n.args[1], negated);
        return graph_.binary((n.op == Op::And) != negated ? Op::And : Op::Or, a, b, n.where);
      }
      case Op::Select: {
        const NodeId yes = graph_.binary(Op::And, condition(n.args[0], false), condition(n.args[1], negated), n.where);
        const NodeId no = graph_.binary(Op::And, condition(n.args[0], true), condition(n.args[2], negated), n.where);
        return graph_.binary(Op::Or, yes, no, n.where);
      }
      case Op::Lt:
      case Op::Le:
        if (!negated) return id;
        return graph_.binary(n.op == Op::Lt ? Op::Le : Op::Lt, n.args[1], n.args[0], n.where);
      default:
        return negated ? graph_.unary(Op::Not, id, n.where) : id;
    }
  }

  NodeId rewrite_change(NodeId id) {
    const Node n = graph_[id];
    switch (n.op) {
      case Op::Select:
        if (n.type == Type::Bool) return id;
        if (changes_nothing(n.args[1]) && !changes_nothing(n.args[2]))
          return graph_.select(condition(n.args[0], true), change(n.args[2]), n.args[1], n.where);
        return graph_.select(condition(n.args[0], false), change(n.args[1]), change(n.args[2]), n.where);
      case Op::Neg:
      case Op::Cast:
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Div:
      case Op::Min:
      case Op::Max: {
        std::array<NodeId, 3> args = n.args;
        for (NodeId& arg : args)
          if (arg != kNone) arg = change(arg);
        return args == n.args ? id : graph_.make(n.op, n.type, args, n.where, n.payload);
      }
      default:
        return id;
    }
  }

  // True for the identity of a sum, or of an extreme.
  bool changes_nothing(NodeId id) const {
    if (!graph_.is_constant(id)) return false;
    const double value = graph_.constant_value(id);
    return value == 0 || std::isinf(value);
  }

  Graph& graph_;
  std::map<std::pair<NodeId, bool>, NodeId> conditions_;
  std::map<NodeId, NodeId> changes_;
};

}  // namespace

void exclude_non_finite(Pipeline& pipeline, const Neighbourhood& neighbourhood) {
  run_on_own_stack(kDeepStack, [&] {
    GuardRewrite rewrite(pipeline.pair);
    for (Contribution& c : pipeline.contributions) {
      if (c.guard != kNone) c.guard = rewrite.condition(c.guard, false);
      c.value = rewrite.change(c.value);
    }
  });
  pipeline.position_graph = neighbourhood.graph;
  pipeline.positions.clear();
  for (const Axis& axis : neighbourhood.axes) pipeline.positions.push_back(axis.of_i);
}

}  // namespace nbcc
