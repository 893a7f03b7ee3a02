// Evaluates the guards for i_index == j_index in three-valued logic. Entry point: index_guard(). Reads the pipeline as
// parsed; it changes nothing.
#include "compiler/passes/facts/equal_indices.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace nbcc {
namespace {

using Truth = std::optional<bool>;  // no value: unknown

bool compares_indices(const Graph& graph, const Node& n) {
  if (n.op == Op::SelfPair) return true;
  if (n.op != Op::Eq && n.op != Op::Lt && n.op != Op::Le) return false;
  const Op a = graph[n.args[0]].op, b = graph[n.args[1]].op;
  return (a == Op::IIndex && b == Op::JIndex) || (a == Op::JIndex && b == Op::IIndex);
}

Truth negated(Truth a) { return a ? Truth(!*a) : a; }
Truth both(Truth a, Truth b) {
  if ((a && !*a) || (b && !*b)) return false;
  return a && b ? Truth(true) : Truth();
}

// [node] its value for a pair of equal indices.
std::vector<Truth> truths(const Graph& graph) {
  std::vector<Truth> found(std::size_t(graph.size()));
  const auto of = [&](NodeId id) { return found[std::size_t(id)]; };
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph[id];
    Truth& made = found[std::size_t(id)];
    if (compares_indices(graph, n))
      made = n.op == Op::Eq || n.op == Op::Le || n.op == Op::SelfPair;
    else if (n.type != Type::Bool)
      continue;
    else if (n.op == Op::Const)
      made = graph.constant_value(id) != 0;
    else if (n.op == Op::Not)
      made = negated(of(n.args[0]));
    else if (n.op == Op::And)
      made = both(of(n.args[0]), of(n.args[1]));
    else if (n.op == Op::Or)
      made = negated(both(negated(of(n.args[0])), negated(of(n.args[1]))));
    else if (n.op == Op::Select)
      made = of(n.args[0]) ? of(*of(n.args[0]) ? n.args[1] : n.args[2]) : Truth();
  }
  return found;
}

}  // namespace

IndexGuard index_guard(const Pipeline& pipeline) {
  const std::vector<Truth> truth = truths(pipeline.pair);
  std::vector<NodeId> guards;
  for (const Contribution& contribution : pipeline.contributions) {
    if (contribution.value == kNone) continue;  // never written
    if (contribution.guard == kNone || truth[std::size_t(contribution.guard)] != Truth(false)) return IndexGuard::None;
    guards.push_back(contribution.guard);
  }
  if (guards.empty()) return IndexGuard::None;
  const std::vector<bool> needed = reachable(pipeline.pair, guards);
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& n = pipeline.pair[id];
    if (needed[std::size_t(id)] && (n.op == Op::Lt || n.op == Op::Le) && compares_indices(pipeline.pair, n))
      return IndexGuard::Order;
  }
  return IndexGuard::Equal;
}

}  // namespace nbcc
