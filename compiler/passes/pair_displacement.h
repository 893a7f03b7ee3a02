// The nodes that a value depends on -> the vector between two positions as the text forms it: their difference, or
// along an axis of a periodic box or cell its nearest image. Tested by tests/unit/virial_test.cpp.
#pragma once
#include <array>
#include <span>
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// Why the vector is not known, in words for the caller, behind the name of the pipeline.
struct UnclearDisplacement {
  std::string message;
};

// x_j - x_i, component by component. `values` are nodes of the graph, which gets further nodes; at_i and at_j are
// inputs of type vec3. Throws UnclearDisplacement where the values take an image of the difference that is not known as
// one, several different ones, or an image beside the difference itself.
std::array<NodeId, 3> pair_displacement(Graph& graph, std::span<const NodeId> values, const Field& at_i,
                                        const Field& at_j);

}  // namespace nbcc
