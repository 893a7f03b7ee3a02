// Lattice vectors and the extent of the particles -> those that count, with their normals. Door: SearchCell.
#include "runtime/search/search_cell.h"

#include <algorithm>
#include <limits>

namespace nbcc {
namespace {

Place cross(const Place& a, const Place& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double length(const Place& a) { return std::sqrt(dot(a, a)); }

}  // namespace

SearchCell::SearchCell(const std::array<Place, 3>& basis, const Place& low, const Place& high) : given_(basis) {
  const double volume = std::fabs(dot(basis[0], cross(basis[1], basis[2])));
  valid_ = volume > 0 && std::isfinite(volume);
  if (!valid_) return;
  middle_ = sum(low, 0.5, sum(high, -1, low));
  const double across = length(sum(high, -1, low));
  for (std::size_t k = 0; k < 3; ++k) {
    const double width = volume / length(cross(basis[(k + 1) % 3], basis[(k + 2) % 3]));
    // A copy that is nearer than a difference itself is less than twice its length away.
    if (width > 2.1 * across) continue;
    basis_[count_++] = basis[k];
    for (const double number : basis[k]) largest_ = std::max(largest_, std::fabs(number));
  }
  for (std::size_t k = 0; k < count_; ++k) {
    Place upright = basis_[k];
    for (std::size_t other = 0; other < k; ++other)
      upright =
          sum(upright, -dot(basis_[k], normals_[other]), sum({}, widths_[other] * widths_[other], normals_[other]));
    widths_[k] = length(upright);
    normals_[k] = sum({}, 1 / dot(upright, upright), upright);
    covering_ += dot(upright, upright) / 4;
  }
  covering_ = std::sqrt(covering_) * (1 + 1e-9);
}

Place SearchCell::short_copy(Place difference) const {
  for (std::size_t k = count_; k-- > 0;)
    difference = sum(difference, -std::nearbyint(dot(difference, normals_[k])), basis_[k]);
  return difference;
}

Place SearchCell::wrapped(const Place& at) const { return sum(middle_, 1, short_copy(sum(at, -1, middle_))); }

}  // namespace nbcc
