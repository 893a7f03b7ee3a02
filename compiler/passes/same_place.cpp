// x == 0 -> all differences == 0, where x is a sum of their squares. Doors: same_place(), differences_tested().
#include "compiler/passes/same_place.h"

#include <optional>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/image_shift.h"

namespace nbcc {
namespace {

constexpr int kMost = 3;  // differences: a place has as many coordinates at most

// Of two or three differences, whose squares `id` is the sum of. Looks no deeper than `additions`.
std::optional<std::vector<NodeId>> squared(const Graph& graph, NodeId id, int additions = kMost - 1) {
  const Node& n = graph[id];
  if (n.op == Op::Mul && n.args[0] == n.args[1] && is_input_difference(graph, n.args[0])) return {{n.args[0]}};
  if (n.op != Op::Add || additions == 0) return {};
  std::optional<std::vector<NodeId>> all = squared(graph, n.args[0], additions - 1);
  const std::optional<std::vector<NodeId>> rest = squared(graph, n.args[1], additions - 1);
  if (!all || !rest || all->size() + rest->size() > kMost) return {};
  all->insert(all->end(), rest->begin(), rest->end());
  return all;
}

// The other side of a comparison with 0.
NodeId compared_with_zero(const Graph& graph, Op op, NodeId a, NodeId b) {
  if (op != Op::Eq) return kNone;
  return graph.is_constant(b, 0) ? a : graph.is_constant(a, 0) ? b : kNone;
}

}  // namespace

void same_place(Pipeline& pipeline) {
  rewrite(pipeline, [](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    const NodeId x = compared_with_zero(target, old.op, args[0], args[1]);
    const auto differences = x == kNone ? std::nullopt : squared(target, x);
    if (!differences || differences->size() < 2) return copy_node(target, old, args);
    NodeId all = kNone;
    for (NodeId d : *differences) {
      const NodeId zero = target.constant(0, target[d].type);
      const NodeId test = target.binary(Op::Eq, d, zero, old.where);
      all = all == kNone ? test : target.binary(Op::And, all, test, old.where);
    }
    return all;
  });
}

namespace {
// Looks no deeper than `joints`: conditions may be chains of thousands, and this is asked of each link.
std::vector<NodeId> tested(const Graph& graph, NodeId id, int joints) {
  const Node& n = graph[id];
  if (n.op == Op::And && joints > 0) {
    std::vector<NodeId> all = tested(graph, n.args[0], joints - 1);
    const std::vector<NodeId> rest = tested(graph, n.args[1], joints - 1);
    if (all.empty() || rest.empty() || all.size() + rest.size() > kMost) return {};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  const NodeId x = compared_with_zero(graph, n.op, n.args[0], n.args[1]);
  if (x == kNone || !is_input_difference(graph, x)) return {};
  return {x};
}
}  // namespace

std::vector<NodeId> differences_tested(const Graph& graph, NodeId id) { return tested(graph, id, kMost - 1); }

}  // namespace nbcc
