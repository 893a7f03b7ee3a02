// The IR as text, for people and for table tests. One node a line, in topological order, dead nodes left out:
//   %3 = sub.real %1 %0        ; pair
#pragma once
#include <array>
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {
std::string print(const Pipeline& pipeline);
// Only the nodes from which `roots` are made, renumbered from 0 in order.
std::string print(const Graph& graph, const std::vector<NodeId>& roots);
// What stands behind the '=' of a node whose arguments are called `args`: "sub.real %1 %0".
std::string print_operation(const Node& node, const std::array<NodeId, 3>& args);
}  // namespace nbcc
