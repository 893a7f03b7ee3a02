// Rebuilds a graph node by node: rewrite() calls the pass's rule for each live node, arguments first. Dead nodes are
// dropped. Entry points: the header. The only rule here is the plain copy.
#include "compiler/ir/rewrite.h"

#include <utility>

namespace nbcc {

NodeId copy_node(Graph& target, const Node& old, std::array<NodeId, 3> args) {
  if (arity(old.op) == 0) return target.leaf(old.op, old.payload, old.type, old.where);
  return target.make(old.op, old.type, args, old.where, old.payload);
}

NodeId copy_node(Graph& target, const Node& old, const std::vector<NodeId>& new_ids) {
  std::array<NodeId, 3> args{kNone, kNone, kNone};
  for (std::size_t k = 0; k < std::size_t(arity(old.op)); ++k) args[k] = new_ids[std::size_t(old.args[k])];
  return copy_node(target, old, args);
}

void rename_roots(Pipeline& pipeline, const std::vector<NodeId>& new_ids) {
  for (Contribution& c : pipeline.contributions)
    for (NodeId* root : {&c.value, &c.guard, &c.scale, &c.logit})
      if (*root != kNone) *root = new_ids[std::size_t(*root)];
  if (pipeline.within != kNone) pipeline.within = new_ids[std::size_t(pipeline.within)];
}

namespace {

// Returns [old id] -> new id.
std::vector<NodeId> rewrite(Graph& graph, const std::vector<NodeId>& roots, const RewriteRule& rule) {
  const std::vector<bool> needed = reachable(graph, roots);
  Graph target;
  std::vector<NodeId> new_ids(std::size_t(graph.size()), kNone);
  const auto renamed = [&](NodeId old) { return old == kNone ? kNone : new_ids[std::size_t(old)]; };
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!needed[std::size_t(id)]) continue;
    const Node& old = graph[id];
    new_ids[std::size_t(id)] = rule(target, old, {renamed(old.args[0]), renamed(old.args[1]), renamed(old.args[2])});
  }
  graph = std::move(target);
  return new_ids;
}

}  // namespace

void rewrite(Pipeline& pipeline, const RewriteRule& rule) {
  rename_roots(pipeline, rewrite(pipeline.pair, pipeline.roots(), rule));
  const std::vector<NodeId> finished = rewrite(pipeline.finish, pipeline.finished, rule);
  for (NodeId& root : pipeline.finished) root = finished[std::size_t(root)];
}

}  // namespace nbcc
