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

// The distance of vector k from the plane or the line of the other vectors; zeros among these do not count.
double width_of(const std::array<Vector3, 3>& basis, std::size_t k) {
  const Vector3 &a = basis[(k + 1) % 3], &b = basis[(k + 2) % 3], normal = cross(a, b);
  const double area = length(normal), longer = std::max(length(a), length(b));
  if (length(a) > 0 && length(b) > 0) return std::fabs(dot(basis[k], normal)) / area;
  return longer > 0 ? length(cross(basis[k], sum(a, 1, b))) / longer : length(basis[k]);
}

}  // namespace

SearchCell::SearchCell(const std::array<Vector3, 3>& basis, double across) : given_(basis), valid_(true) {
  for (std::size_t k = 0; k < 3; ++k) {
    if (basis[k] == Vector3{}) continue;
    const double width = width_of(basis, k);
    valid_ = valid_ && width > 0 && std::isfinite(width);
    // An image of a difference can be shorter than the difference only if it is displaced by less than twice the
    // length.
    if (!valid_ || width > 2.1 * across) continue;
    basis_[count_++] = basis[k];
    for (const double number : basis[k]) largest_ = std::max(largest_, std::fabs(number));
  }
  if (!valid_) return;
  for (std::size_t k = 0; k < count_; ++k) {
    Vector3 upright = basis_[k];
    for (std::size_t axis = 0; axis < k; ++axis) upright = sum(upright, -dot(upright, axes_[axis]), axes_[axis]);
    widths_[k] = length(upright);
    axes_[k] = unit(upright);
    safe2_ = k == 0 ? widths_[0] * widths_[0] / 4 : std::min(safe2_, widths_[k] * widths_[k] / 4);
    sums_[sum_count_++] = basis_[k];
    for (std::size_t which = 0, before = sum_count_ - 1; which < before; ++which)
      for (const int sign : {1, -1}) sums_[sum_count_++] = sum(sums_[which], sign, basis_[k]);
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

// Voronoi's criterion: the basis is reduced, so an image is the shortest if no sum or difference of one, two or three
// of the vectors makes it shorter (Conway & Sloane 1992, Low-dimensional lattices VI).
Vector3 SearchCell::minimum_image(const Vector3& difference) const {
  Vector3 image = short_image(difference);
  double length2 = dot(image, image);
  for (bool shorter = length2 > safe2_; shorter;) {
    shorter = false;
    for (std::size_t k = 0; k < sum_count_; ++k) {
      const Vector3 next = sum(image, -std::nearbyint(dot(image, sums_[k]) / dot(sums_[k], sums_[k])), sums_[k]);
      const double next2 = dot(next, next);
      if (!(next2 < length2 * (1 - 1e-14))) continue;
      image = next;
      length2 = next2;
      shorter = true;
    }
  }
  return image;
}

Vector3 SearchCell::to_frame(const Vector3& position) const {
  const Vector3 copy = short_image(position);
  return {dot(copy, axes_[0]), dot(copy, axes_[1]), dot(copy, axes_[2])};
}

}  // namespace nbcc
