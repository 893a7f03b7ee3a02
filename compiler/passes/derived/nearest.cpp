// Adds the guard value <= bound; the neighbourhood proof (neighbourhood.h) decides whether that bounds a distance.
// Entry points: nearest_pipeline(), finite_pipeline().
#include "compiler/passes/derived/nearest.h"

#include <algorithm>
#include <set>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/outputs/add_field.h"
#include "compiler/passes/outputs/one_choice.h"
#include "compiler/passes/prove/neighbourhood.h"

namespace nbcc {
namespace {

// What the outputs choose by, if all choose the least.
std::optional<OneChoice> least_of_all(const Pipeline& pipeline) {
  const std::optional<OneChoice> found = one_choice(pipeline);
  return found && found->is_minimum ? found : std::nullopt;
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

// Adds an output for the largest of the k least values: copying all k to the host would take most of a run's time.
void add_last(Pipeline& pipeline, int component, NodeId guard) {
  Graph& finish = pipeline.finish;
  if (pipeline.finished.empty())
    for (int c = 0; c < pipeline.components(Role::Output); ++c)
      pipeline.finished.push_back(finish.leaf(Op::Output, c, result_type(pipeline.field_of(Role::Output, c))));
  const Type type = pipeline.field_of(Role::Output, component).type;
  add_field(pipeline, "nbcc_last", Role::Output, type);
  pipeline.contributions.push_back({pipeline.pair.constant(0, type), guard, kNone});
  pipeline.finished.push_back(finish.leaf(Op::Output, component, type));
}

}  // namespace

std::optional<Pipeline> nearest_pipeline(const Pipeline& pipeline) {
  if (!least_of_all(pipeline) || has_images(pipeline) || pipeline.has_pair_values()) return {};
  if (prove_neighbourhood(pipeline).neighbourhood) return {};
  Pipeline bounded = pipeline;
  replace_j_index(bounded);
  const OneChoice first = *least_of_all(bounded);
  const int slots = std::max(1, first.indices);
  const Type type = bounded.pair[first.value].type;
  const int bound = add_field(bounded, "nbcc_bound", Role::InputI, type);
  Graph& graph = bounded.pair;
  const NodeId below = graph.binary(Op::Le, first.value, graph.leaf(Op::InputI, bound, type, graph[first.value].where));
  const NodeId guard = first.guard == kNone ? below : graph.binary(Op::And, first.guard, below);
  for (Contribution& one : bounded.contributions) one.guard = guard;
  Field kept;
  kept.reduction = slots == 1 ? Reduction::Min : Reduction::At;
  if (slots > 1) kept.length = slots, kept.follows = first.first;
  const int least = add_field(bounded, "nbcc_least", Role::Output, type, kept);
  for (int k = 0; k < slots; ++k) {
    bounded.contributions.push_back({first.value, guard, kNone});
    if (!bounded.finished.empty()) bounded.finished.push_back(bounded.finish.leaf(Op::Output, least + k, type, {}));
  }
  if (slots > 1) add_last(bounded, least + slots - 1, guard);
  if (!prove_neighbourhood(bounded).neighbourhood) return {};
  return bounded;
}

int axes_of_nearest(const Pipeline& pipeline) {
  const std::optional<OneChoice> chosen = least_of_all(pipeline);
  if (!chosen) return 0;
  const std::vector<bool> needed = reachable(pipeline.pair, std::vector<NodeId>{chosen->value});
  std::set<int> components;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (!needed[std::size_t(id)] || node.op != Op::Sub) continue;
    const Node &a = pipeline.pair[node.args[0]], &b = pipeline.pair[node.args[1]];
    if (a.op == Op::InputJ && b.op == Op::InputI) components.insert(int(a.payload));
    if (a.op == Op::InputI && b.op == Op::InputJ) components.insert(int(b.payload));
  }
  return int(components.size());
}

std::optional<Pipeline> finite_pipeline(const Pipeline& pipeline, Role side) {
  Pipeline made;
  made.name = pipeline.name;
  NodeId sum = kNone;
  for (const Field& field : pipeline.fields) {
    if (field.role != side || field.type < Type::Float) continue;
    const int first = add_field(made, field.name, Role::InputJ, field.type, field);
    for (int c = first; c < first + field.components(); ++c) {
      const NodeId value = made.pair.leaf(Op::InputJ, c, field.type);
      const NodeId zero = made.pair.cast(made.pair.binary(Op::Sub, value, value), Type::Real);
      sum = sum == kNone ? zero : made.pair.binary(Op::Add, sum, zero);
    }
  }
  if (sum == kNone) return {};
  add_field(made, "nbcc_zero", Role::Output, Type::Real);
  made.contributions.push_back({sum});
  return made;
}

}  // namespace nbcc
