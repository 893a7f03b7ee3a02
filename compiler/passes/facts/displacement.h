// Node -> the displacement of a j-particle from an i-particle along one axis, if the node is one: a value of j minus a
// value of i; in a periodic box the minimum image of that difference; in a cell of three lattice vectors a component of
// the minimum-image vector, or of every_image(). Tested by tests/unit/compiler/passes/facts/displacement_test.cpp.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// of_j - of_i or its negative; with `length` the minimum image of that in a periodic box of length |length|.
struct Axis {
  NodeId of_i = kNone, of_j = kNone;
  NodeId length = kNone;  // uniform; kNone: not periodic, or in a cell
  // In a cell: the image that the axis is a component of. Only the three components of one image together give a
  // distance.
  NodeId image = kNone, cell = kNone;
  int component = 0;
  bool operator==(const Axis&) const = default;
};

// Values of i and values of j must have opposite signs: xj - xi + shift and (xj + dt * vj) - (xi + dt * vi) are
// displacements, hi + hj is not. May add nodes to the graph.
std::optional<Axis> read_axis(Graph& graph, NodeId id);

// The two values of a difference, without periodic images; `reversed`: the node is of_i - of_j. May add nodes to the
// graph.
struct Difference {
  NodeId of_i = kNone, of_j = kNone;
  bool reversed = false;
};
std::optional<Difference> read_difference(Graph& graph, NodeId id);

// The axis in other units: all its values are multiplied by `factor`.
Axis scaled(Graph& graph, const Axis& axis, NodeId factor);

// Keeps only the axes of an image whose three components are all present; without such an image, removes all axes of
// images.
void keep_complete_images(std::vector<Axis>& axes);

}  // namespace nbcc
