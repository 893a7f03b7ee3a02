// The IR as text, for people and for table tests. One node per line, in topological order, without dead nodes:
//   %3 = sub.real %1 %0        ; pair
#pragma once
#include <array>
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {
std::string print(const Pipeline& pipeline);
// Prints only the nodes that `roots` depend on, renumbered from 0 in order.
std::string print(const Graph& graph, const std::vector<NodeId>& roots);
// The right side of a node's line, with `args` as the numbers of its arguments: "sub.real %1 %0".
std::string print_operation(const Node& node, const std::array<NodeId, 3>& args);
}  // namespace nbcc
