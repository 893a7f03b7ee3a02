// Entry point: NearestImage::number(). The rows of the cell are reduced, so that the nearest image is at most one
// period along each row from that of the rounded coordinates.
#include "runtime/far/periodic/nearest_image.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nbcc {

NearestImage::NearestImage(const PeriodicCell& cell, std::span<const CellVector> shifts)
    : cell_(cell), shifts_(shifts.begin(), shifts.end()) {
  for (std::size_t k = 0; k < shifts_.size(); ++k) {
    CellVector end = shifts_[k];
    for (std::size_t axis = 0; axis < 3; ++axis) end[axis] += cell.origin[axis];
    const CellVector coordinates = cell.coordinates(end.data());
    CellImage image{};
    for (std::size_t row = 0; row < std::size_t(cell.periodic); ++row) image[row] = int(std::lround(coordinates[row]));
    numbers_[image] = int(k);
  }
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < std::size_t(cell.periodic); ++row)
    shortest = std::min(shortest, std::hypot(cell.rows[row][0], cell.rows[row][1], cell.rows[row][2]));
  surely_nearest_ = 0.249 * shortest * shortest;
}

int NearestImage::number(const double* position_i, const double* position_j) const {
  const auto axes = std::size_t(cell_.axes);
  CellVector way{}, end{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    way[axis] = position_j[axis] - position_i[axis];
    end[axis] = way[axis] + cell_.origin[axis];
    if (!std::isfinite(way[axis])) return 0;
  }
  const auto squared_distance = [&](int number) {
    const auto to_image = [&](std::size_t axis) { return way[axis] + shifts_[std::size_t(number)][axis]; };
    double squared = 0;  // GPUs round it in the same way
    for (std::size_t axis = 0; axis < axes; ++axis) squared += to_image(axis) * to_image(axis);
    return squared;
  };
  const CellVector coordinates = cell_.coordinates(end.data());
  CellImage rounded{}, reach{};
  for (std::size_t row = 0; row < std::size_t(cell_.periodic); ++row) {
    rounded[row] = -int(std::lround(coordinates[row]));
    reach[row] = 1;
  }
  int nearest = -1;
  double least = std::numeric_limits<double>::infinity();
  const auto offer = [&](const CellImage& image) {
    const auto found = numbers_.find(image);
    if (found == numbers_.end()) return;
    const double squared = squared_distance(found->second);
    if (squared > least || (squared == least && found->second > nearest)) return;
    least = squared;
    nearest = found->second;
  };
  offer(rounded);
  if (least < surely_nearest_) return nearest;
  for (int a = -reach[0]; a <= reach[0]; ++a)
    for (int b = -reach[1]; b <= reach[1]; ++b)
      for (int c = -reach[2]; c <= reach[2]; ++c) offer({rounded[0] + a, rounded[1] + b, rounded[2] + c});
  return nearest;
}

}  // namespace nbcc
