// Which lengths are periods of a periodic box. Kernels (ir/period.h, templates/math/cell.h.in), searches and the copies
// of every_image() agree.
#pragma once
#include <cmath>

namespace nbcc {

// A length, or a lattice vector, that is shorter than the one or longer than the other leaves its direction open: 0 and
// infinity in every precision. Both are floats with finite reciprocals.
constexpr double kShortestPeriod = 0x1p-126, kLongestPeriod = 0x1p126;
inline bool is_open(double length) {  // false for NaN
  return std::fabs(length) < kShortestPeriod || std::fabs(length) > kLongestPeriod;
}

}  // namespace nbcc
