// Entry points: inner_nodes(), loop_operands(), read_outside(), without_loops().
#include "compiler/emit/loop_operands.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

bool is_inner(const Plan& plan, NodeId id) {
  const Node& n = plan.graph[id];
  return plan.in_loop[std::size_t(id)] && !is_element(n.op) && (n.binding == Binding::Pair || n.type == Type::Bool);
}

}  // namespace

std::vector<NodeId> inner_nodes(const Plan& plan, NodeId term) {
  std::set<NodeId> inner;
  std::vector<NodeId> open{term};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!is_inner(plan, id) || !inner.insert(id).second) continue;
    for (const NodeId arg : plan.graph[id].args)
      if (arg != kNone) open.push_back(arg);
  }
  return {inner.begin(), inner.end()};
}

std::vector<LoopOperand> loop_operands(const Plan& plan, NodeId term) {
  std::set<NodeId> read;
  const std::vector<NodeId> inner = inner_nodes(plan, term);
  if (inner.empty()) read.insert(term);
  for (const NodeId id : inner)
    for (const NodeId arg : plan.graph[id].args)
      if (arg != kNone && !is_inner(plan, arg)) read.insert(arg);
  std::vector<LoopOperand> operands;
  for (const NodeId id : read) {
    const Node& n = plan.graph[id];
    const bool in_loop = plan.in_loop[std::size_t(id)];
    if (!in_loop && is_uniform(n.binding)) continue;
    // A condition of one particle is stored for each pair.
    const bool is_condition = !in_loop && n.type == Type::Bool;
    operands.push_back({id, is_condition ? Binding::Pair : n.binding, in_loop});
  }
  return operands;
}

std::vector<NodeId> read_outside(const Plan& plan, NodeId operand) {
  if (!plan.in_loop[std::size_t(operand)]) return {operand};
  std::vector<NodeId> read = read_by_loop(plan.graph, plan.in_loop, operand);
  std::erase_if(read, [&](NodeId id) { return is_uniform(plan.graph[id].binding); });
  return read;
}

Pipeline without_loops(Pipeline pipeline, const Options& options, bool fused) {
  pipeline = written_out(std::move(pipeline));
  if (options.math == Math::Fast && fused) contract(pipeline);
  return pipeline;
}

Plan plan_loops(Pipeline& pipeline, const Options& options, bool fused, const std::function<bool(const Plan&)>& fits) {
  Plan plan = make_plan(pipeline, options);
  if (!has_element_loops(pipeline) || fits(plan)) return plan;
  pipeline = without_loops(std::move(pipeline), options, fused);
  return make_plan(pipeline, options);
}

}  // namespace nbcc
