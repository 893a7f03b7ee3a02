// Elements, numbers, lengths -> C++. Entry points: see the header. Independent of backends.
#include "compiler/emit/spelling.h"

#include <fmt/core.h>

#include <cmath>

#include "compiler/ir/period.h"

namespace nbcc {

const char* c_name(Element element) {
  constexpr const char* kNames[] = {"float", "double", "int", "index"};
  return kNames[int(element)];
}

std::string whole_literal(double value) {
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  if (value >= 0x1p63) return fmt::format("{}LL", kLargest);
  // -2^63 is no literal: the minus is an operator, and 2^63 is out of range.
  if (value <= -0x1p63) return fmt::format("({}LL - 1)", -kLargest);
  return fmt::format("{}", std::int64_t(value));
}

std::string table_element(const PlacedTable& table, const std::string& arguments, const std::string& index) {
  return fmt::format("((const {}*)((const char*){}tables + {}))[{}]", c_name(table.element), arguments, table.offset,
                     index);
}

std::string lower_part_of_length(const Graph& graph, NodeId length, const char* arguments) {
  length = length_of_period(graph, length);
  const Node& n = graph[length];
  if (n.op == Op::Neg) return "-" + lower_part_of_length(graph, n.args[0], arguments);
  if (n.op == Op::Param) return fmt::format("lower_part({}param[{}])", arguments, n.payload);
  const bool known = n.op == Op::Const && std::isfinite(graph.constant_value(length));
  return known ? fmt::format("lower_part({})", graph.constant_value(length)) : "0";
}

std::string copy_with_parts(const std::string& difference, const std::string& shift) {
  return fmt::format("({0}s + {1}) + ({0}e + {1}l)", difference, shift);
}

std::string vectors_with_parts(const Plan& plan, const Node& node,
                               const std::function<std::string(NodeId)>& value_name) {
  const auto vector = [&](NodeId id, const auto& number) {
    const auto [x, y, z] = plan.graph[id].args;
    return fmt::format("{{{}, {}, {}}}", number(x), number(y), number(z));
  };
  const auto [a, b, c] = node.args;
  if (node.op == Op::Cell) {
    const auto lower = [&](NodeId id) { return value_name(id) + "l"; };
    return fmt::format("cell_of({}, {}, {}, {}, {}, {})", value_name(a), value_name(b), value_name(c), vector(a, lower),
                       vector(b, lower), vector(c, lower));
  }
  const auto upper = [&](NodeId id) { return value_name(id) + (plan.shifted.contains(id) ? "s" : ""); };
  const auto lower = [&](NodeId id) { return plan.shifted.contains(id) ? value_name(id) + "e" : "{}"; };
  return fmt::format("image({}, {}, {})", vector(a, upper), vector(a, lower), value_name(b));
}

}  // namespace nbcc
