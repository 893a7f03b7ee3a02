// Entry point: share_powers().
#include "compiler/passes/optimize/shared_powers.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

constexpr double kMaxDifference = 4;  // of exponents: so many divisions cost less than a power

// An exponent as `root` + offset.
struct Exponent {
  NodeId root = kNone;
  double offset = 0;
};
Exponent exponent_of(const Graph& graph, NodeId id) {
  Exponent found{id, 0};
  for (;;) {
    const Node& node = graph[found.root];
    const bool is_sum = node.op == Op::Add || node.op == Op::Sub;
    if (is_sum && graph.is_constant(node.args[1])) {
      found.offset += (node.op == Op::Add ? 1 : -1) * graph.constant_value(node.args[1]);
      found.root = node.args[0];
    } else if (node.op == Op::Add && graph.is_constant(node.args[0])) {
      found.offset += graph.constant_value(node.args[0]);
      found.root = node.args[1];
    } else {
      return found;
    }
  }
}

bool is_power(const Graph& graph, NodeId id) {
  return graph[id].op == Op::Pow && !graph.is_constant(graph[id].args[1]);
}

// x^exponent at x = 0.
NodeId at_zero(Graph& graph, NodeId exponent, Type type) {
  const NodeId zero = graph.constant(0, type), one = graph.constant(1, type);
  const NodeId infinite = graph.constant(std::numeric_limits<double>::infinity(), type);
  return graph.select(graph.binary(Op::Lt, zero, exponent), zero,
                      graph.select(graph.binary(Op::Eq, exponent, zero), one, infinite));
}

}  // namespace

void share_powers(Pipeline& pipeline) {
  const Graph& old = pipeline.pair;
  const std::vector<bool> alive = reachable(old, pipeline.roots());
  // The power with the greatest exponent of each base and root of an exponent.
  std::map<std::pair<NodeId, NodeId>, std::pair<double, NodeId>> greatest;
  bool are_shared = false;
  for (NodeId id = 0; id < old.size(); ++id) {
    if (!alive[std::size_t(id)] || !is_power(old, id)) continue;
    const Exponent exponent = exponent_of(old, old[id].args[1]);
    const auto [at, is_new] = greatest.try_emplace({old[id].args[0], exponent.root}, exponent.offset, id);
    are_shared = are_shared || !is_new;
    if (at->second.first < exponent.offset) at->second = {exponent.offset, id};
  }
  if (!are_shared) return;
  Graph graph;
  std::vector<NodeId> new_id(std::size_t(old.size()), kNone);
  // The greatest power may follow the power that is made of it: its arguments are copied before.
  const auto copy = [&](const auto& self, NodeId id) -> NodeId {
    if (new_id[std::size_t(id)] != kNone) return new_id[std::size_t(id)];
    for (const NodeId arg : old[id].args)
      if (arg != kNone) self(self, arg);
    if (is_power(old, id)) {
      const Exponent exponent = exponent_of(old, old[id].args[1]);
      const auto [offset, power] = greatest.at({old[id].args[0], exponent.root});
      const double difference = offset - exponent.offset;
      if (power != id && difference >= 1 && difference <= kMaxDifference && std::trunc(difference) == difference) {
        const Type type = old[id].type;
        const NodeId x = new_id[std::size_t(old[id].args[0])], zero = graph.constant(0, graph[x].type);
        NodeId quotient = self(self, power);
        for (int n = 0; n < int(difference); ++n) quotient = graph.binary(Op::Div, quotient, x);
        const NodeId limit = at_zero(graph, new_id[std::size_t(old[id].args[1])], type);
        return new_id[std::size_t(id)] = graph.select(graph.binary(Op::Eq, x, zero), limit, quotient);
      }
    }
    return new_id[std::size_t(id)] = copy_node(graph, old[id], new_id);
  };
  for (NodeId id = 0; id < old.size(); ++id)
    if (alive[std::size_t(id)]) copy(copy, id);
  rename_roots(pipeline, new_id);
  pipeline.pair = std::move(graph);
}

}  // namespace nbcc
