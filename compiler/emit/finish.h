// The end of every kernel: statements that turn the accumulators of one i into its results, by the common factors of
// the sums and by finish(). They are scalar and in double precision on every backend, since they are few per particle.
#pragma once
#include <array>
#include <functional>
#include <string>

#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"

namespace nbcc {

// How a backend spells the operands of these statements. Type::Real does not occur: it has become Double.
struct ScalarSpelling {
  const char* arguments;  // prefix of the kernel's arguments: "a->"
  const char* tables;     // prefix of the kernel's tables
  std::string i_index, j_index;
  // The value of an InputI, InputJ or InputPair node.
  std::function<std::string(const Node& node)> input;
  // The variable of an output component: its accumulator, or for argmin and argmax the selected index, a double.
  std::function<std::string(std::size_t output)> result;
  std::function<std::string(double value, Type type)> literal;
  std::function<std::string(const Graph& graph, const Node& node, const std::array<std::string, 3>& args)> operation;
};

// Defines `nan_or_zero`: NaN for an i with a non-finite position, else 0. Empty if no result depends on it.
std::string nan_or_zero_statements(const Pipeline& pipeline, const Plan& plan, const ScalarSpelling& spelling);

// Statements behind those of nan_or_zero_statements(). They call scaled(sum, factor) and to_index(double), which the
// backend defines.
std::string finish_statements(const Pipeline& pipeline, const Plan& plan, const ScalarSpelling& spelling);

// Defines a constant for each node, in double precision or of its integer type. Its name is the prefix and the node's
// number. `nodes` are in topological order.
std::string scalar_statements(const Plan& plan, const Graph& graph, const std::vector<NodeId>& nodes, char prefix,
                              const ScalarSpelling& spelling);

}  // namespace nbcc
