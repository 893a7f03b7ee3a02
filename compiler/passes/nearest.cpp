// Adds the guard value <= bound; the neighbourhood proof (neighbourhood.h) decides whether that bounds a distance.
// Entry point: nearest_pipeline().
#include "compiler/passes/nearest.h"

#include <algorithm>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/neighbourhood.h"

namespace nbcc {
namespace {

// True if all outputs choose by one value, under one guard.
bool is_of_one_number(const Pipeline& pipeline) {
  const std::vector<const Field*> outputs = pipeline.fields_of(Role::Output);
  // There is a bound for the nearest neighbour only, not for the next ones.
  if (outputs.empty() || !choices_of(pipeline.fields).empty()) return false;
  const Contribution& first = pipeline.contributions.front();
  if (pipeline.pair[first.value].type < Type::Float) return false;
  for (std::size_t c = 0; c < outputs.size(); ++c) {
    const Reduction reduction = outputs[c]->reduction;
    const Contribution& one = pipeline.contributions[c];
    if (reduction != Reduction::Min && reduction != Reduction::ArgMin) return false;
    if (one.value != first.value || one.guard != first.guard || one.scale != kNone) return false;
  }
  return true;
}

int add_field(Pipeline& pipeline, const char* name, Role role, Type type, Reduction reduction = Reduction::Sum) {
  Field field;
  field.name = name;
  field.role = role;
  field.type = type;
  field.reduction = reduction;
  field.first = pipeline.components(role);
  pipeline.fields.push_back(field);
  return field.first;
}

// A run over a strided subset of the j-particles reads the index of j from an input.
void replace_j_index(Pipeline& pipeline) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  bool any = false;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id)
    any = any || (needed[std::size_t(id)] && pipeline.pair[id].op == Op::JIndex);
  if (!any) return;
  const int number = add_field(pipeline, "nbcc_j", Role::InputJ, Type::Index);
  rewrite(pipeline, [number](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (old.op == Op::JIndex) return target.leaf(Op::InputJ, number, Type::Index, old.where);
    return copy_node(target, old, args);
  });
}

}  // namespace

std::optional<Pipeline> nearest_pipeline(const Pipeline& pipeline) {
  if (!is_of_one_number(pipeline)) return {};
  if (prove_neighbourhood(pipeline).neighbourhood) return {};
  Pipeline bounded = pipeline;
  replace_j_index(bounded);
  const Contribution first = bounded.contributions.front();
  const Type type = bounded.pair[first.value].type;
  const int bound = add_field(bounded, "nbcc_bound", Role::InputI, type);
  Graph& graph = bounded.pair;
  const NodeId below = graph.binary(Op::Le, first.value, graph.leaf(Op::InputI, bound, type, graph[first.value].where));
  const NodeId guard = first.guard == kNone ? below : graph.binary(Op::And, first.guard, below);
  for (Contribution& one : bounded.contributions) one.guard = guard;
  const int least = add_field(bounded, "nbcc_least", Role::Output, type, Reduction::Min);
  bounded.contributions.push_back({first.value, guard, kNone});
  if (!bounded.finished.empty()) bounded.finished.push_back(bounded.finish.leaf(Op::Output, least, type, {}));
  if (!prove_neighbourhood(bounded).neighbourhood) return {};
  return bounded;
}

}  // namespace nbcc
