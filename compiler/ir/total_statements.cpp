// The node of a total's result in finish() -> statements that change the total. Entry point: total_statements().
// Inverts Lowering::add_to_total.
#include "compiler/ir/total_statements.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

namespace nbcc {
namespace {

struct Condition {
  NodeId id;
  bool holds;
};

class TotalStatements {
 public:
  TotalStatements(const Pipeline& pipeline, int component)
      : graph_(pipeline.finish), field_(pipeline.field_of(Role::Output, component)) {
    const NodeId result = pipeline.finished[std::size_t(component)];
    out_ = component_name(field_, component);
    before_ = find_leaf(component);
    collect(result, before_, {});
  }

  std::vector<Statement> statements;

 private:
  // A value that a statement combines with the total, and the total before that statement.
  struct Step {
    NodeId before, value;
    bool subtracts = false;
  };

  NodeId find_leaf(int component) const {
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (graph_[id].op == Op::Output && graph_[id].payload == component) return id;
    return kNone;
  }

  bool contains_total(NodeId id) const { return before_ != kNone && reachable(graph_, {id})[std::size_t(before_)]; }

  // log(exp(a - largest) + exp(b - largest)) + largest, as Lowering::combine_exponentials() makes it.
  std::optional<Step> logsumexp_step(const Node& n) const {
    if (n.op != Op::Add) return {};
    for (const int of_log : {1, 0}) {
      const Node& log = graph_[n.args[std::size_t(of_log)]];
      if (log.op != Op::Log || graph_[log.args[0]].op != Op::Add) continue;
      const Node& sum = graph_[log.args[0]];
      std::array<NodeId, 2> logits{kNone, kNone};
      for (std::size_t k = 0; k < 2; ++k) {
        const Node& weight = graph_[sum.args[k]];
        if (weight.op == Op::Exp && graph_[weight.args[0]].op == Op::Sub) logits[k] = graph_[weight.args[0]].args[0];
      }
      if (logits[0] == kNone || logits[1] == kNone) continue;
      return contains_total(logits[0]) ? Step{logits[0], logits[1]} : Step{logits[1], logits[0]};
    }
    return {};
  }

  std::optional<Step> step_of(NodeId id) const {
    const Node& n = graph_[id];
    if (field_.reduction == Reduction::LogSumExp) return logsumexp_step(n);
    if (is_sum(field_.reduction) && n.op == Op::Sub) return Step{n.args[0], n.args[1], true};
    const Op op = is_sum(field_.reduction)                 ? Op::Add
                  : field_.reduction == Reduction::Product ? Op::Mul
                  : is_minimum(field_.reduction)           ? Op::Min
                                                           : Op::Max;
    if (n.op != op) return {};
    return contains_total(n.args[0]) ? Step{n.args[0], n.args[1]} : Step{n.args[1], n.args[0]};
  }

  // Whether statements lead from the total `from` to the total `id`.
  bool follows(NodeId id, NodeId from) const {
    while (id != from) {
      if (const std::optional<Step> step = step_of(id)) {
        id = step->before;
      } else if (graph_[id].op == Op::Select) {
        const NodeId yes = graph_[id].args[1], no = graph_[id].args[2];
        id = follows(yes, no) ? no : yes;
      } else {
        return false;
      }
    }
    return true;
  }

  void collect(NodeId id, NodeId from, const std::vector<Condition>& path) {
    if (id == from) return;
    if (const std::optional<Step> step = step_of(id)) {
      collect(step->before, from, path);
      return add(*step, path);
    }
    if (graph_[id].op != Op::Select)
      throw std::runtime_error(fmt::format("finish() cannot be written: it reads the total '{}'", out_));
    const auto [condition, yes, no] = graph_[id].args;
    const auto with = [&](bool holds) {
      std::vector<Condition> longer = path;
      longer.push_back({condition, holds});
      return longer;
    };
    // One branch may leave the total as it is.
    const NodeId shared = follows(yes, no) ? no : follows(no, yes) ? yes : from;
    if (shared != from) collect(shared, from, path);
    collect(yes, shared, with(true));
    collect(no, shared, with(false));
  }

  void add(const Step& step, const std::vector<Condition>& path) {
    Statement statement;
    for (const Condition& condition : path) {
      statement.pattern += statement.pattern.empty() ? "if (" : " && ";
      statement.pattern += condition.holds ? "@" : "!@";
      statement.values.push_back({condition.id, Precedence::Operand});
    }
    if (!path.empty()) statement.pattern += ") ";
    NodeId value = step.value;
    if (field_.reduction == Reduction::Count) value = graph_[value].args[0];  // a condition, converted
    if (is_sum(field_.reduction))
      statement.pattern += fmt::format("{} {} @", out_, step.subtracts ? "-=" : "+=");
    else if (field_.reduction == Reduction::Product)
      statement.pattern += fmt::format("{} *= @", out_);
    else
      statement.pattern += fmt::format("{0} = {1}({0}, @)", out_, name(field_.reduction));
    statement.values.push_back({value});
    statements.push_back(std::move(statement));
  }

  const Graph& graph_;
  const Field& field_;
  std::string out_;
  NodeId before_ = kNone;
};

}  // namespace

std::vector<Statement> total_statements(const Pipeline& pipeline, int component) {
  return TotalStatements(pipeline, component).statements;
}

}  // namespace nbcc
