// Entry points: int_operations(), wrapping_pair(). wrapping_pair() combines the least and the greatest values of i and
// of j: every combination is a pair of the sum.
#include "compiler/passes/facts/int_operations.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace nbcc {
namespace {

bool is_int_input(const Graph& graph, NodeId id) {
  const Node& n = graph[id];
  return n.type == Type::Int &&
         (n.op == Op::InputI || n.op == Op::InputJ || n.op == Op::InputPair || n.op == Op::Param);
}

Role role_of(Op op) {
  return op == Op::InputI   ? Role::InputI
         : op == Op::InputJ ? Role::InputJ
         : op == Op::Param  ? Role::Param
                            : Role::InputPair;
}

std::string name_of(const Pipeline& pipeline, NodeId id) {
  const Node& n = pipeline.pair[id];
  const int component = int(n.payload);
  return component_name(pipeline.field_of(role_of(n.op), component), component);
}

// A value of an operand, and the particle that has it.
struct Operand {
  double value = 0;
  std::int64_t particle = -1;  // -1: a param
};

double result(Op op, double a, double b) { return op == Op::Add ? a + b : op == Op::Sub ? a - b : a * b; }

bool wraps(double value) { return value < -0x1p31 || value > 0x1p31 - 1; }

// The numbers of an input; null for a param and for inputs of pairs.
const std::vector<double>* column_of(const Node& n, const OracleInput& input) {
  if (n.op == Op::InputI) return &input.i[std::size_t(n.payload)];
  if (n.op == Op::InputJ) return &input.j[std::size_t(n.payload)];
  return nullptr;
}

// The least and the greatest values of an operand.
std::vector<Operand> extremes(const Node& n, const OracleInput& input) {
  if (n.op == Op::Param) return {{input.params[std::size_t(n.payload)], -1}};
  const std::vector<double>* const column = column_of(n, input);
  if (!column || column->empty()) return {};
  const auto [least, greatest] = std::ranges::minmax_element(*column);
  return {{*least, least - column->begin()}, {*greatest, greatest - column->begin()}};
}

}  // namespace

std::vector<IntOperation> int_operations(const Pipeline& pipeline) {
  const Graph& graph = pipeline.pair;
  const std::vector<bool> needed = reachable(graph, pipeline.roots());
  std::vector<IntOperation> found;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph[id];
    const bool can_wrap = n.op == Op::Add || n.op == Op::Sub || n.op == Op::Mul;
    if (!needed[std::size_t(id)] || n.type != Type::Int || !can_wrap) continue;
    if (!is_int_input(graph, n.args[0]) || !is_int_input(graph, n.args[1])) continue;
    const char* const sign = n.op == Op::Add ? "+" : n.op == Op::Sub ? "-" : "*";
    found.push_back({n.op, n.args[0], n.args[1], n.where,
                     fmt::format("{} {} {}", name_of(pipeline, n.args[0]), sign, name_of(pipeline, n.args[1]))});
  }
  return found;
}

std::optional<std::string> wrapping_pair(const Pipeline& pipeline, const IntOperation& operation,
                                         const OracleInput& input) {
  const Node &a = pipeline.pair[operation.a], &b = pipeline.pair[operation.b];
  const auto sentence = [&](const Operand& one, const Operand& other) {
    const auto shown = [](const Node& n, const Operand& operand) {
      return operand.particle < 0 ? std::string()
                                  : fmt::format(" of {} = {}", n.op == Op::InputI ? "i" : "j", operand.particle);
    };
    return fmt::format("line {}: {} wraps around: {:.0f}{} and {:.0f}{} give {:.0f}, which is no int",
                       operation.where.line, operation.text, one.value, shown(a, one), other.value, shown(b, other),
                       result(operation.op, one.value, other.value));
  };
  if (a.op == b.op && a.op != Op::Param) {  // of one particle
    const std::vector<double>*const of_a = column_of(a, input), *const of_b = column_of(b, input);
    for (std::size_t k = 0; of_a && of_b && k < of_a->size(); ++k)
      if (wraps(result(operation.op, (*of_a)[k], (*of_b)[k])))
        return sentence({(*of_a)[k], std::int64_t(k)}, {(*of_b)[k], std::int64_t(k)});
    return {};
  }
  for (const Operand& one : extremes(a, input))
    for (const Operand& other : extremes(b, input))
      if (wraps(result(operation.op, one.value, other.value))) return sentence(one, other);
  return {};
}

}  // namespace nbcc
