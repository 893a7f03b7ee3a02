// What the passes share: building a graph anew from an old one, node by node in topological order.
#pragma once
#include <functional>

#include "compiler/ir/ir.h"

namespace nbcc {

// Calls `rule(target, old, args)` for each node that the pipeline's graphs need, arguments first; `args` are the new
// ids of old's arguments. The rule returns the new id (Graph::make with the same op copies the node).
using RewriteRule = std::function<NodeId(Graph& target, const Node& old, std::array<NodeId, 3> args)>;
void rewrite(Pipeline& pipeline, const RewriteRule& rule);

// Copies the node with new arguments; or with those that its own have become.
NodeId copy_node(Graph& target, const Node& old, std::array<NodeId, 3> args);
NodeId copy_node(Graph& target, const Node& old, const std::vector<NodeId>& new_ids);

// What the contributions name, in a new graph.
void rename_roots(Pipeline& pipeline, const std::vector<NodeId>& new_ids);

}  // namespace nbcc
