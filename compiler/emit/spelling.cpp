// Elements, numbers, lengths -> C++. Doors: those of the header. Knows no backend.
#include "compiler/emit/spelling.h"

#include <fmt/core.h>

#include <cmath>

namespace nbcc {

const char* c_name(Element element) {
  constexpr const char* kNames[] = {"float", "double", "int", "index"};
  return kNames[int(element)];
}

std::string whole_literal(double value) {
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  if (value >= 0x1p63) return fmt::format("{}LL", kLargest);
  // The minus is an operator, and what stands behind it must be a number by itself.
  if (value <= -0x1p63) return fmt::format("({}LL - 1)", -kLargest);
  return fmt::format("{}", std::int64_t(value));
}

std::string lower_part_of_length(const Graph& graph, NodeId length, const char* arguments) {
  const Node& n = graph[length];
  if (n.op == Op::Neg) return "-" + lower_part_of_length(graph, n.args[0], arguments);
  if (n.op == Op::Param) return fmt::format("lower_part({}param[{}])", arguments, n.payload);
  const bool known = n.op == Op::Const && std::isfinite(graph.constant_value(length));
  return known ? fmt::format("lower_part({})", graph.constant_value(length)) : "0";
}

}  // namespace nbcc
