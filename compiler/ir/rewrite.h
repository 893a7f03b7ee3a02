// Rebuilds graphs for the passes: each node is replaced by the result of a rule, in topological order.
#pragma once
#include <functional>

#include "compiler/ir/ir.h"

namespace nbcc {

// Calls `rule(target, old, args)` for each live node of the pipeline's graphs, arguments first; `args` are the new
// ids of old's arguments. The rule returns the new id (Graph::make with the same op copies the node).
using RewriteRule = std::function<NodeId(Graph& target, const Node& old, std::array<NodeId, 3> args)>;
void rewrite(Pipeline& pipeline, const RewriteRule& rule);

// Copies `old` into `target` with the arguments `args`, or with new_ids[a] for each argument a of `old`.
NodeId copy_node(Graph& target, const Node& old, std::array<NodeId, 3> args);
NodeId copy_node(Graph& target, const Node& old, const std::vector<NodeId>& new_ids);

// Replaces each root r of the pipeline's pair graph by new_ids[r].
void rename_roots(Pipeline& pipeline, const std::vector<NodeId>& new_ids);

}  // namespace nbcc
