// Recognises the minimum image of a difference of positions in a periodic box: dx - length * round(dx / length). In
// mixed precision dx is known to more digits than one float holds, and for pairs across the boundary these digits
// survive the subtraction of the shift; so kernels subtract the shift before they round. So do they with the shift of a
// copy. Tested by
// tests/unit/compiler/passes/facts/image_shift_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"

namespace nbcc {

// difference - whole * length, or difference + whole * length if `added`; `whole` is an integer.
struct ImageShift {
  NodeId difference, whole, length;
  bool added;
};

std::optional<ImageShift> image_shift(const Graph& graph, NodeId id);

// difference + shift, where shift is an input of j: the displacement of a copy (every_image.h).
struct CopyShift {
  NodeId difference, shift;
};
std::optional<CopyShift> copy_shift(const Graph& graph, NodeId id);

// True for xj - xi and xi - xj, where both are inputs.
bool is_input_difference(const Graph& graph, NodeId id);

}  // namespace nbcc
