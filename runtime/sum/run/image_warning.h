// Warns if the reach is so large for the periodic box that several periodic images of one pair may be within reach:
// sums count only the nearest image (minimum image convention). Tested by
// tests/unit/runtime/sum/run/image_warning_test.cpp.
//
//        v                      Two images of a pair are a lattice vector v apart. Both are within reach R of i only if
//   j' <-----> j                |v| < 2 R; and for |v| < 2 R a pair at distance |v| / 2 has both. So the condition is
//     \      /                  that R is more than half of the shortest lattice vector. The height of the cell, which
//      \ R  / R                 is smaller in a skewed cell, does not matter: nearest_image() finds the shortest image.
//       \  /
//        i
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "runtime/sum/plan/device.h"

namespace nbcc {

// The length of the shortest vector of the lattice spanned by a cell's three vectors (nine numbers, vector by vector),
// without open directions (vectors that are 0 or infinite); infinite if all directions are open. NaN if a number is NaN
// or three vectors span no volume.
double shortest_lattice_vector(const std::array<double, 9>& cell);

// The text of the warning. Returns nothing if no pair can have several images within reach, or if the reach or the box
// is unknown: no reach is proved, or Formula cannot express it. If particles have individual reaches, the largest one
// counts, NaN ignored; arrays for which `can_read` is false are not read. Each row of request.params_of_groups is
// checked separately, because it may have its own box or reach.
std::optional<std::string> image_warning(const KernelSource& kernel, const SumRequest& request,
                                         const std::function<bool(const void*)>& can_read);

}  // namespace nbcc
