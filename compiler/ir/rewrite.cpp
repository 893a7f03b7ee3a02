// A graph becomes another by rewrite(): each needed node is handed, arguments first, to the pass's rule, which
// builds its successor. What no root needs is not carried over. It has no rule of its own but the plain copy.
#include "compiler/ir/rewrite.h"

#include <utility>

namespace nbcc {

NodeId copy_node(Graph& target, const Node& old, std::array<NodeId, 3> args) {
  if (arity(old.op) == 0) return target.leaf(old.op, old.payload, old.type, old.where);
  return target.make(old.op, old.type, args, old.where);
}

Graph rewrite(const Graph& graph, std::vector<NodeId*> roots, const RewriteRule& rule) {
  std::vector<NodeId> old_roots;
  for (const NodeId* root : roots) old_roots.push_back(*root);
  const std::vector<bool> needed = reachable(graph, old_roots);
  Graph target;
  std::vector<NodeId> successor(std::size_t(graph.size()), kNone);
  const auto renamed = [&](NodeId old) { return old == kNone ? kNone : successor[std::size_t(old)]; };
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!needed[std::size_t(id)]) continue;
    const Node& old = graph[id];
    successor[std::size_t(id)] = rule(target, old, {renamed(old.args[0]), renamed(old.args[1]), renamed(old.args[2])});
  }
  for (NodeId* root : roots) *root = renamed(*root);
  return target;
}

void rewrite(Pipeline& pipeline, const RewriteRule& rule) {
  std::vector<NodeId*> roots;
  for (Contribution& contribution : pipeline.contributions) {
    for (NodeId* root : {&contribution.value, &contribution.guard, &contribution.scale}) roots.push_back(root);
  }
  pipeline.pair = rewrite(pipeline.pair, std::move(roots), rule);
  std::vector<NodeId*> finished;
  for (NodeId& root : pipeline.finished) finished.push_back(&root);
  pipeline.finish = rewrite(pipeline.finish, std::move(finished), rule);
}

}  // namespace nbcc
