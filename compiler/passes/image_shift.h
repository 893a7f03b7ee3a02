// The copy of a difference of positions that a periodic box moves it to: dx - length * round(dx / length). In mixed
// precision dx is known to more digits than one float holds, and across the box's edge they are what is left of it; so
// kernels take the shift off before they round. Tested by tests/unit/image_shift_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"

namespace nbcc {

// difference - whole * length, or with `added` difference + whole * length.
struct ImageShift {
  NodeId difference, whole, length;
  bool added;
};

std::optional<ImageShift> image_shift(const Graph& graph, NodeId id);

// xj - xi or xi - xj, of the particles' own numbers.
bool is_input_difference(const Graph& graph, NodeId id);

}  // namespace nbcc
