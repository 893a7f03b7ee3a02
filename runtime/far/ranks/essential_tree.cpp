// A tree and the boxes of another process -> the cells, grids and particles that it needs. Entry points: the header.
#include "runtime/far/ranks/essential_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace nbcc {
namespace {

constexpr std::array<std::array<double, 3>, 1> kUnshifted{};

// A smaller box within a box is at least as far, so that a grid must serve at all smaller ratios, too.
FarLimits at_smaller_ratios(FarLimits limits) {
  for (FarLimits::Row& row : limits.rows)
    for (std::size_t k = FarLimits::kFirst + 1; k < row.size(); ++k) row[k] = std::min(row[k], row[k - 1]);
  return limits;
}

// The test of Descent::is_far (far_walk.cpp) for a cell of j, with a shift, and all i in a box.
bool serves(const FarCell& cell, const std::array<double, 3>& shift, const FarBox& box, int axes,
            const FarLimits& limits) {
  if (!(cell.radius > 0)) return false;
  const std::int64_t row = std::int64_t(cell.size()) - limits.first_size;
  if (row < 0 || row >= std::int64_t(limits.rows.size())) return false;
  double squared = 0;
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
    const double gap = std::fabs(box.centre[axis] - (cell.centre[axis] + shift[axis])) - box.half[axis];
    if (gap > 0) squared += gap * gap;
  }
  const double ratio = std::ceil(FarLimits::kRatios * cell.radius / std::sqrt(squared));
  if (!(ratio < FarLimits::kRatios)) return false;
  return double(cell.count()) <=
         double(limits.rows[std::size_t(row)][std::size_t(std::max<double>(ratio, FarLimits::kFirst))]);
}

FarBox box_around(std::span<const FarBox> boxes) {
  FarBox all;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const FarBox& box : boxes) {
      low = std::min(low, box.centre[axis] - box.half[axis]);
      high = std::max(high, box.centre[axis] + box.half[axis]);
    }
    all.centre[axis] = low / 2 + high / 2;
    all.half[axis] = std::max(high - all.centre[axis], all.centre[axis] - low);
  }
  return all;
}

// Boxes, and boxes around some of them that are neighbours: what serves for all points of a large box serves for the
// small ones in it.
class Boxes {
 public:
  Boxes(std::span<const FarBox> boxes, int axes, const FarLimits& limits, std::span<const std::array<double, 3>> images)
      : boxes_(boxes),
        axes_(axes),
        limits_(at_smaller_ratios(limits)),
        images_(images.empty() ? std::span<const std::array<double, 3>>(kUnshifted) : images),
        around_(box_around(boxes)) {
    for (std::size_t first = 0; first < boxes.size(); first += kInGroup) groups_.push_back(box_around(group(first)));
  }
  // True if the cell's grid serves for all i with each shift. The shift with which it did not last time comes first:
  // most neighbours are near with the same shift.
  bool are_served_by(const FarCell& cell) {
    if (!are_served_by(cell, near_)) return false;
    for (std::size_t image = 0; image < images_.size(); ++image)
      if (image != near_ && !are_served_by(cell, image)) return near_ = image, false;
    return true;
  }

 private:
  static constexpr std::size_t kInGroup = 16;
  bool are_served_by(const FarCell& cell, std::size_t image) const {
    const auto is_served = [&](const FarBox& box) { return serves(cell, images_[image], box, axes_, limits_); };
    if (is_served(around_)) return true;
    for (std::size_t k = 0; k < groups_.size(); ++k)
      if (!is_served(groups_[k]) && !std::ranges::all_of(group(k * kInGroup), is_served)) return false;
    return true;
  }
  std::span<const FarBox> group(std::size_t first) const {
    return boxes_.subspan(first, std::min(kInGroup, boxes_.size() - first));
  }
  std::span<const FarBox> boxes_;
  int axes_;
  FarLimits limits_;
  std::span<const std::array<double, 3>> images_;
  std::size_t near_ = 0;  // of images_
  FarBox around_;
  std::vector<FarBox> groups_;
};

}  // namespace

std::vector<FarBox> boxes_of(std::span<const FarCell> cells, std::size_t most) {
  std::vector<FarBox> boxes;
  if (cells.empty()) return boxes;
  std::priority_queue<std::pair<double, std::int32_t>> largest;
  largest.emplace(cells[0].radius, 0);
  std::vector<std::int32_t> leaves;
  while (!largest.empty() && largest.size() + leaves.size() < most) {
    const std::int32_t k = largest.top().second;
    largest.pop();
    const FarCell& cell = cells[std::size_t(k)];
    if (cell.is_leaf()) {
      leaves.push_back(k);
      continue;
    }
    for (const std::int32_t child : {cell.child, cell.child + 1})
      largest.emplace(cells[std::size_t(child)].radius, child);
  }
  for (; !largest.empty(); largest.pop()) leaves.push_back(largest.top().second);
  std::ranges::sort(leaves, {}, [&](std::int32_t k) { return cells[std::size_t(k)].begin; });
  for (const std::int32_t k : leaves) boxes.push_back({cells[std::size_t(k)].centre, cells[std::size_t(k)].half});
  return boxes;
}

EssentialTree essential_tree(std::span<const FarCell> cells, int axes, std::span<const FarBox> boxes,
                             const FarLimits& limits, std::span<const std::array<double, 3>> images) {
  EssentialTree found;
  if (cells.empty() || boxes.empty()) return found;
  Boxes of_i(boxes, axes, limits, images);
  std::vector<std::int32_t> visits{0}, leaves;
  for (std::size_t k = 0; k < visits.size(); ++k) {
    const FarCell& cell = cells[std::size_t(visits[k])];
    FarCell& sent = found.cells.emplace_back(cell);
    sent.child = -1;
    // A cell may be near where its parent is not: its centre may be nearer to the box.
    if (of_i.are_served_by(cell)) {
      found.grids.push_back(visits[k]);
    } else if (cell.is_leaf()) {
      leaves.push_back(visits[k]);
    } else {
      sent.child = std::int32_t(visits.size());
      visits.push_back(cell.child);
      visits.push_back(cell.child + 1);
    }
  }
  // In the order of the own tree the particles of a cell are adjacent.
  std::ranges::sort(leaves, {}, [&](std::int32_t k) { return cells[std::size_t(k)].begin; });
  std::vector<std::int32_t> begins, sent_before{0};
  for (const std::int32_t leaf : leaves) {
    const FarCell& cell = cells[std::size_t(leaf)];
    begins.push_back(cell.begin);
    for (std::int32_t p = cell.begin; p < cell.end; ++p) found.order.push_back(p);
    sent_before.push_back(std::int32_t(found.order.size()));
  }
  const auto before = [&](std::int32_t position) {
    return sent_before[std::size_t(std::ranges::lower_bound(begins, position) - begins.begin())];
  };
  for (FarCell& cell : found.cells) {
    const std::int32_t count = cell.end - cell.begin;
    cell.begin = before(cell.begin);
    cell.end = before(cell.end);
    cell.elsewhere = count - (cell.end - cell.begin);
  }
  return found;
}

}  // namespace nbcc
