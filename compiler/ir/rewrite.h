// What the passes share: building a graph anew from an old one, node by node in topological order.
#pragma once
#include <functional>

#include "compiler/ir/ir.h"

namespace nbcc {

// Calls `rule(target, old, args)` for each node of `graph` that `roots` need, arguments first; `args` are the new
// ids of old's arguments. The rule returns the new id (Graph::make with the same op copies the node).
// Roots are replaced by their new ids.
using RewriteRule = std::function<NodeId(Graph& target, const Node& old, std::array<NodeId, 3> args)>;
Graph rewrite(const Graph& graph, std::vector<NodeId*> roots, const RewriteRule& rule);

// Copies the node with new arguments.
NodeId copy_node(Graph& target, const Node& old, std::array<NodeId, 3> args);

// Applies the rule to both graphs of a pipeline and updates contributions and finish.
void rewrite(Pipeline& pipeline, const RewriteRule& rule);

}  // namespace nbcc
