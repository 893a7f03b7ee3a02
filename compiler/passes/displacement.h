// Node -> the displacement of a j-particle from an i-particle along one axis, if it is one: a number of j less a number
// of i, in a periodic box the copy of it that is nearest to 0, in a cell of three lattice vectors a component of the
// shortest copy. Tested by tests/unit/displacement_test.cpp.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// of_j - of_i or its negative; in a box of this length, if there is one (of which the size counts), its nearest copy.
struct Axis {
  NodeId of_i = kNone, of_j = kNone;
  NodeId length = kNone;  // uniform; kNone: not periodic, or in a cell
  // In a cell, of which image it is a component; axes of one image make a distance all three together, and not alone.
  NodeId image = kNone, cell = kNone;
  int component = 0;
  bool operator==(const Axis&) const = default;
};

// Sums of numbers of i and of j are of one sign each: xj - xi + shift and (xj + dt * vj) - (xi + dt * vi) are
// displacements, hi + hj is none. May add nodes to the graph.
std::optional<Axis> read_axis(Graph& graph, NodeId id);

// The axis, measured in other units.
Axis scaled(Graph& graph, const Axis& axis, NodeId factor);

// Leaves out axes of images of which not all three are there; if all three of one are, leaves out all else.
void keep_whole_images(std::vector<Axis>& axes);

}  // namespace nbcc
