// A run's reach and periodic box -> whether several periodic images of one pair may be within reach, of which sums
// count the nearest (minimum image) alone. Tested by tests/unit/image_warning_test.cpp.
//
//        v                      Two images of a pair are a lattice vector v apart. Both are within reach R of i only if
//   j' <-----> j                |v| < 2 R; and for |v| < 2 R a pair at distance |v| / 2 has both. So the condition is
//     \      /                  that R is more than half of the shortest lattice vector. The height of the cell, which
//      \ R  / R                 is less in a skewed one, does not matter: nearest_image() finds the shortest image.
//       \  /
//        i
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "runtime/sum/device.h"

namespace nbcc {

// The length of the shortest vector of the lattice of a cell's three vectors, nine numbers; NaN where they are not
// finite or span no volume.
double shortest_lattice_vector(const std::array<double, 9>& cell);

// The text of the warning; nothing where no pair can have several images within reach, or that is not known: no reach
// is proved, or its formula is none of Formula's. Of reaches of particles the largest counts, NaN aside; those that
// `can_read` does not grant are not looked at. Each row of request.params_of_groups has a box or a reach of its own.
std::optional<std::string> image_warning(const KernelSource& kernel, const SumRequest& request,
                                         const std::function<bool(const void*)>& can_read);

}  // namespace nbcc
