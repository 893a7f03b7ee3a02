// Lattice vectors and the extent of the particles -> the vectors that are needed, and their frame. Interface:
// SearchCell.
#include "runtime/search/search_cell.h"

#include <algorithm>

namespace nbcc {
namespace {

Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double length(const Vector3& a) { return std::hypot(a[0], a[1], a[2]); }
Vector3 unit(const Vector3& a) { return sum({}, 1 / length(a), a); }

}  // namespace

SearchCell::SearchCell(const std::array<Vector3, 3>& basis, double across) : given_(basis) {
  const double volume = std::fabs(dot(basis[0], cross(basis[1], basis[2])));
  valid_ = volume > 0 && std::isfinite(volume);
  if (!valid_) return;
  for (std::size_t k = 0; k < 3; ++k) {
    const double width = volume / length(cross(basis[(k + 1) % 3], basis[(k + 2) % 3]));
    // An image of a difference can be shorter than the difference only if it is displaced by less than twice the
    // length.
    if (width > 2.1 * across) continue;
    basis_[count_++] = basis[k];
    for (const double number : basis[k]) largest_ = std::max(largest_, std::fabs(number));
  }
  for (std::size_t k = 0; k < count_; ++k) {
    Vector3 upright = basis_[k];
    for (std::size_t axis = 0; axis < k; ++axis) upright = sum(upright, -dot(upright, axes_[axis]), axes_[axis]);
    widths_[k] = length(upright);
    axes_[k] = unit(upright);
  }
  // Complete the frame by arbitrary perpendicular axes.
  if (count_ == 0) axes_[0] = {1, 0, 0};
  if (count_ <= 1) {
    const Vector3& first = axes_[0];
    axes_[1] = unit(std::fabs(first[0]) < 0.5 ? cross(first, {1, 0, 0}) : cross(first, {0, 1, 0}));
  }
  if (count_ <= 2) axes_[2] = cross(axes_[0], axes_[1]);
}

Vector3 SearchCell::short_image(Vector3 difference) const {
  for (std::size_t k = count_; k-- > 0;)
    difference = sum(difference, -std::nearbyint(dot(difference, axes_[k]) / widths_[k]), basis_[k]);
  return difference;
}

Vector3 SearchCell::to_frame(const Vector3& position) const {
  const Vector3 copy = short_image(position);
  return {dot(copy, axes_[0]), dot(copy, axes_[1]), dot(copy, axes_[2])};
}

}  // namespace nbcc
