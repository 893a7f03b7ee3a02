// The end of every kernel: statements that turn what was accumulated for one i into its results, by the common factors
// of the sums and by finish(). They are scalar and in double precision on every backend: a few operations per particle,
// where accuracy costs nothing.
#pragma once
#include <array>
#include <functional>
#include <string>

#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"

namespace nbcc {

// How a backend's text says what stands in these statements. No type is Real any more.
struct ScalarSpelling {
  const char* arguments;  // in front of the kernel's arguments: "a->"
  const char* tables;     // likewise, where its tables are meant
  std::string i_index, j_index;
  // Of InputI, InputJ and InputPair.
  std::function<std::string(const Node& node)> input;
  // The place of an output component: its accumulator, or of argmin and argmax the index that was chosen, a double.
  std::function<std::string(std::size_t output)> result;
  std::function<std::string(double value, Type type)> literal;
  std::function<std::string(const Graph& graph, const Node& node, const std::array<std::string, 3>& args)> operation;
};

// `nowhere`: NaN for an i with a coordinate that is NaN or infinite, else 0. Nothing where no result depends on it.
std::string nan_or_zero_statements(const Pipeline& pipeline, const Plan& plan, const ScalarSpelling& spelling);

// Behind those. The text calls scaled(sum, factor) and to_index(double), which the backend defines.
std::string finish_statements(const Pipeline& pipeline, const Plan& plan, const ScalarSpelling& spelling);

// Each of the nodes as a constant of double precision, or of its whole type, whose name is the prefix and its number.
// Nodes stand behind their arguments.
std::string scalar_statements(const Plan& plan, const Graph& graph, const std::vector<NodeId>& nodes, char prefix,
                              const ScalarSpelling& spelling);

}  // namespace nbcc
