// Nodes of a graph -> the vector between two positions as the source computes it: their difference, or in a periodic
// box or cell its minimum image. Tested by tests/unit/compiler/passes/derived/virial_test.cpp.
#pragma once
#include <array>
#include <span>
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// Why the vector is not known; the caller prefixes the message with the name of the value.
struct UnclearDisplacement {
  std::string message;
};

// x_j - x_i by component. `values` are nodes of the graph, to which nodes are added; position_i and position_j are
// inputs of type vec3. Throws UnclearDisplacement if the values use an image of the difference that is not recognised,
// several different images, or an image as well as the difference itself.
std::array<NodeId, 3> pair_displacement(Graph& graph, std::span<const NodeId> values, const Field& position_i,
                                        const Field& position_j);

}  // namespace nbcc
