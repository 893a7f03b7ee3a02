// Entry points: inner_nodes(), loop_operands(), read_outside(), plan_loops().
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

namespace {

// A loop in the statements of a pair computes the values of one side again for each pair. Functions of one side, such
// as exp(x[k]), cost less if they are written out, because their results are stored once for each particle.
bool is_cheap_for_pairs(const Plan& plan, NodeId term) {
  return std::ranges::none_of(nodes_of_loop(plan.graph, plan.in_loop, term), [&](NodeId id) {
    return facts(plan.graph[id].op).is_function && plan.graph[id].binding != Binding::Pair;
  });
}

}  // namespace

Plan plan_loops(Pipeline& pipeline, const Options& options, const LoopFrames& frames) {
  for (bool tiles = true;;) {
    Plan plan = make_plan(pipeline, options, tiles);
    if (plan.tiles_loops && !frames.tiles(plan)) {
      tiles = false;
      continue;
    }
    const auto is_cheap = [&](NodeId term) { return is_cheap_for_pairs(plan, term); };
    const bool keeps_arrays =
        plan.tiles_loops || (frames.arrays_of_pairs && std::ranges::all_of(plan.arrays, is_cheap, &OutputArray::value));
    const std::set<NodeId> tiled(plan.tiled_loops.begin(), plan.tiled_loops.end());
    std::set<NodeId> kept;
    bool keeps_all = keeps_arrays || plan.arrays.empty();
    for (NodeId id = 0; id < plan.graph.size(); ++id) {
      const Node& n = plan.graph[id];
      if (!is_loop(n.op)) continue;
      if (n.binding != Binding::Pair || tiled.contains(id) || is_cheap(n.args[0]))
        kept.insert(id);
      else
        keeps_all = false;
    }
    if (keeps_all) return plan;
    pipeline = written_out(std::move(pipeline), kept, keeps_arrays);
    if (options.math == Math::Fast && frames.fused) contract(pipeline);
  }
}

}  // namespace nbcc
