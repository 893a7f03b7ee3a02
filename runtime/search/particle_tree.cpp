// Coordinates -> a tree of boxes, and its particles near a box. Interface: ParticleTree, SearchSpace, distance2().
#include "runtime/search/particle_tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ranges>
#include <utility>

#include "runtime/round_up.h"

namespace nbcc {
namespace {

// One thread builds subtrees with at most this many leaves.
constexpr std::int64_t kLeavesPerThread = 512;

}  // namespace

void SearchSpace::set_cell(const SearchCell& of) {
  cell = of;
  for (std::size_t k = 0; k < kMaxAxes; ++k) {
    set_length(k, of.width(k));
    for (std::size_t axis = 0; axis < k; ++axis) tilt[k - 1 + axis] = of.tilt(k, axis);
  }
  tilted = tilt != std::array<double, kMaxAxes>{};
}

Vector3 SearchSpace::minimum_image(Vector3 difference) const {
  if (cell) return cell->minimum_image(difference);
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis)
    difference[axis] = nearest_image(difference[axis], length[axis], inverse[axis]);
  return difference;
}

Vector3 SearchSpace::to_frame(const Vector3& position) const {
  Vector3 at = cell ? cell->to_frame(position) : position;
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
    // Subtract the nearest multiple, so that coordinates much smaller than the length remain exact.
    if (!cell && length[axis] > 0) {
      const double periods = at[axis] / length[axis];
      at[axis] -=
          length[axis] * (std::fabs(periods) < 0x1p51 ? (periods + 0x1.8p52) - 0x1.8p52 : std::nearbyint(periods));
    }
    // Non-finite if the quotient overflowed. Any value is correct then: the bound of rounding errors increases the
    // particle's reach by more than the length.
    if (!std::isfinite(at[axis])) at[axis] = 0;
  }
  return at;
}

double distance2(const SearchSpace& space, const BoundingBox& a, const BoundingBox& b, double reach) {
  Vector3 away = sum(b.centre, -1, a.centre);
  const Vector3 half = sum(a.half, 1, b.half);
  return distance2_of(space, away.data(), half.data(), reach);
}

BoundingBox joined(const BoundingBox& a, const BoundingBox& b, int axes) {
  BoundingBox box;
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
    const double low = std::min(a.centre[axis] - a.half[axis], b.centre[axis] - b.half[axis]),
                 high = std::max(a.centre[axis] + a.half[axis], b.centre[axis] + b.half[axis]);
    box.centre[axis] = low + (high - low) / 2;
    box.half[axis] = (high - low) / 2;
  }
  box.reach = std::max(a.reach, b.reach);
  box.size = std::max(a.size, b.size);
  return box;
}

ParticleTree::ParticleTree(const SearchSpace& space, std::span<const double* const> rows, bool reaches,
                           std::int64_t count, const ForEach& for_each)
    : space_(space),
      leaves_(ceil_div(count, kLeaf)),
      reaches_(reaches ? rows[std::size_t(space.axes)] : nullptr),
      records_(std::size_t(count)),
      numbers_(std::size_t(count)),
      reach_(reaches ? std::size_t(leaves_ * kLeaf) : 0),
      boxes_(std::size_t(std::max<std::int64_t>(2 * leaves_ - 1, 1))),
      node_of_leaf_(std::size_t(leaves_)) {
  if (count == 0) return;
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < std::size_t(space.axes); ++axis)
    coordinates_[axis].resize(std::size_t(leaves_ * kLeaf), std::numeric_limits<double>::quiet_NaN());
  constexpr std::int64_t chunk = 1024;
  const std::int64_t chunks = ceil_div(count, chunk);
  std::vector<Region> extents(static_cast<std::size_t>(chunks));
  for_each(chunks, [&](std::int64_t c) {
    Region& extent = extents[std::size_t(c)];
    extent.low.fill(infinity);
    extent.high.fill(-infinity);
    for (std::int64_t k = c * chunk; k < std::min(count, (c + 1) * chunk); ++k) {
      Record& record = records_[std::size_t(k)];
      record.number = int(k);
      double size = 0;
      for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
        record.at[axis] = rows[axis][k];
        size = std::max(size, std::fabs(rows[axis][k]));
      }
      record.size = float(size);
      if (record.size < size) record.size = std::nextafter(record.size, std::numeric_limits<float>::infinity());
      record.at = space_.to_frame(record.at);
      for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
        const double at = record.at[axis];
        extent.low[axis] = std::min(extent.low[axis], at);
        extent.high[axis] = std::max(extent.high[axis], at);
      }
    }
  });
  Region all = extents.front();
  for (const Region& extent : extents)
    for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
      all.low[axis] = std::min(all.low[axis], extent.low[axis]);
      all.high[axis] = std::max(all.high[axis], extent.high[axis]);
    }
  all.node = {0, 0, leaves_};
  build_all(all, for_each);
  records_ = {};
  reaches_ = nullptr;
}

std::span<ParticleTree::Record> ParticleTree::records_of(const Node& node) {
  const std::int64_t begin = node.first_leaf * kLeaf, end = (node.first_leaf + node.leaves) * kLeaf;
  return std::span(records_).subspan(std::size_t(begin), std::size_t(std::min(end, size()) - begin));
}

// Splits the first levels one after another, each level in parallel; then builds the subtrees in parallel.
void ParticleTree::build_all(const Region& all, const ForEach& for_each) {
  std::vector<std::vector<Region>> levels{{all}};
  while (levels.back().front().node.leaves > kLeavesPerThread) {
    const std::vector<Region>& level = levels.back();
    std::vector<Region> next(2 * level.size());
    for_each(std::int64_t(level.size()),
             [&](std::int64_t k) { std::ranges::copy(halve(level[std::size_t(k)]), next.begin() + 2 * k); });
    levels.push_back(std::move(next));
  }
  for_each(std::int64_t(levels.back().size()), [&](std::int64_t k) { build(levels.back()[std::size_t(k)]); });
  for (auto level = levels.rbegin() + 1; level != levels.rend(); ++level)
    for (const Region& region : *level) join(region.node);
}

// Moves the `first` records with the lowest coordinates to the front; for equal coordinates, those with the lowest
// particle indices. Records are moved without branches, because half of these would be mispredicted.
void ParticleTree::split(std::span<Record> records, std::size_t first, std::size_t axis) {
  static_assert(sizeof(Record) == 2 * sizeof(Doubles));
  constexpr std::size_t kRanked = 32, kMaxSample = 64, kRecordsOfSample = 16;
  const auto by_library = [&] {  // also for many equal coordinates
    std::nth_element(records.begin(), records.begin() + std::ptrdiff_t(first), records.end(),
                     [axis](const Record& a, const Record& b) {
                       return a.at[axis] != b.at[axis] ? a.at[axis] < b.at[axis] : a.number < b.number;
                     });
  };
  while (records.size() > kRanked) {
    // The rank of the pivot in a sample is one standard deviation nearer to the middle than the rank of the boundary,
    // so that the boundary is probably in the smaller part (Floyd and Rivest 1975).
    const std::size_t count = records.size(), taken = std::min(count / kRecordsOfSample, kMaxSample);
    std::array<double, kMaxSample> sample;
    for (std::size_t k = 0; k < taken; ++k) sample[k] = records[k * count / taken + count / taken / 2].at[axis];
    const double fraction = double(first) / double(count),
                 deviation = std::sqrt(fraction * (1 - fraction) * double(taken));
    const double rank = fraction * double(taken) + (fraction > 0.5 ? -deviation : deviation);
    const auto pivot_at =
        sample.begin() + std::clamp<std::ptrdiff_t>(std::ptrdiff_t(rank), 0, std::ptrdiff_t(taken) - 1);
    std::nth_element(sample.begin(), pivot_at, sample.begin() + std::ptrdiff_t(taken));
    const double pivot = *pivot_at;
    std::size_t lower = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t is_lower = records[k].at[axis] < pivot;
      // Records are copied as vectors, because a load that spans several recent stores waits for these.
      const auto load = [&](std::size_t record, std::size_t half) {
        Doubles value;
        std::memcpy(&value, reinterpret_cast<const std::byte*>(&records[record]) + half * sizeof value, sizeof value);
        return value;
      };
      const auto store = [&](std::size_t record, std::size_t half, Doubles value) {
        std::memcpy(reinterpret_cast<std::byte*>(&records[record]) + half * sizeof value, &value, sizeof value);
      };
      const Doubles here[2] = {load(k, 0), load(k, 1)}, other[2] = {load(lower, 0), load(lower, 1)};
      store(k, 0, other[0]);
      store(k, 1, other[1]);
      store(lower, 0, here[0]);
      store(lower, 1, here[1]);
      lower += is_lower;
    }
    if (lower == first) return;
    if (lower == 0) return by_library();
    if (first < lower) {
      records = records.first(lower);
    } else {
      records = records.subspan(lower);
      first -= lower;
    }
  }
  // The rank of each record is the number of lower coordinates.
  const std::size_t count = records.size();
  std::array<double, kRanked> at;
  for (std::size_t k = 0; k < count; ++k) at[k] = records[k].at[axis];
  if (count % 2 != 0) at[count] = 0;
  std::array<std::int64_t, kRanked> rank;
  std::size_t low = 0;
  for (std::size_t k = 0; k < count; k += kDoubles) {
    Doubles here;
    std::memcpy(&here, &at[k], sizeof here);
    auto ranks = here < here;
    for (std::size_t other = 0; other < count; ++other) ranks -= Doubles{} + at[other] < here;
    std::memcpy(&rank[k], &ranks, sizeof ranks);
  }
  for (std::size_t k = 0; k < count; ++k) low += std::size_t(rank[k] < std::int64_t(first));
  if (low != first) return by_library();
  std::array<Record, kRanked> sorted;
  std::size_t next_low = 0, next_high = first;
  for (std::size_t k = 0; k < count; ++k) {
    const bool is_low = rank[k] < std::int64_t(first);
    sorted[is_low ? next_low : next_high] = records[k];
    next_low += std::size_t(is_low);
    next_high += std::size_t(!is_low);
  }
  for (std::size_t k = 0; k < count; ++k) records[k] = sorted[k];
}

// Particles are ordered by the coordinate along the longest side; for equal coordinates, by particle index.
std::array<ParticleTree::Region, 2> ParticleTree::halve(const Region& region) {
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < std::size_t(space_.axes); ++axis)
    if (region.high[axis] - region.low[axis] > region.high[longest] - region.low[longest]) longest = axis;
  const std::span<Record> records = records_of(region.node);
  const auto first = std::size_t(region.node.left().leaves * kLeaf);
  split(records, first, longest);
  double middle = std::numeric_limits<double>::infinity();
  for (const Record& record : records.subspan(first)) middle = std::min(middle, record.at[longest]);
  std::array<Region, 2> halves{region, region};
  halves[0].node = region.node.left();
  halves[1].node = region.node.right();
  halves[0].high[longest] = halves[1].low[longest] = middle;
  return halves;
}

void ParticleTree::build(const Region& region) {
  if (region.node.leaves == 1) return finish_leaf(region.node);
  for (const Region& half : halve(region)) build(half);
  join(region.node);
}

// Halves the records along their longest side until pairs remain, which have ascending numbers. The comparison leaves
// no choice to the library.
void ParticleTree::order_leaf(std::span<Record> records) const {
  if (records.size() <= 2) {
    std::ranges::sort(records, {}, &Record::number);
    return;
  }
  Vector3 low = records[0].at, high = low;
  for (const Record& record : records.subspan(1))
    for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
      low[axis] = std::min(low[axis], record.at[axis]);
      high[axis] = std::max(high[axis], record.at[axis]);
    }
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < std::size_t(space_.axes); ++axis)
    if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
  const std::size_t half = (records.size() + 2) / 4 * 2;  // an even number, so that pairs remain
  split(records, half, longest);
  order_leaf(records.first(half));
  order_leaf(records.subspan(half));
}

void ParticleTree::finish_leaf(const Node& leaf) {
  const std::span<Record> records = records_of(leaf);
  order_leaf(records);
  BoundingBox& box = boxes_[std::size_t(leaf.index)];
  const auto first = std::size_t(leaf.first_leaf * kLeaf);
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
    double low = records[0].at[axis], high = low;
    for (std::size_t k = 0; k < records.size(); ++k) {
      const double x = coordinates_[axis][first + k] = records[k].at[axis];
      low = std::min(low, x);
      high = std::max(high, x);
    }
    box.centre[axis] = low + (high - low) / 2;
    box.half[axis] = (high - low) / 2;
  }
  box.reach = -std::numeric_limits<double>::infinity();
  for (const Record& record : records) box.size = std::max(box.size, double(record.size));
  for (std::size_t k = 0; k < records.size(); ++k) {
    numbers_[first + k] = records[k].number;
    if (!reaches_) continue;
    // A NaN reach counts as infinite.
    const double reach = reaches_[records[k].number];
    reach_[first + k] = std::isnan(reach) ? std::numeric_limits<double>::infinity() : reach;
    box.reach = std::max(box.reach, reach_[first + k]);
  }
  node_of_leaf_[std::size_t(leaf.first_leaf)] = leaf.index;
}

// Computes a node's box from the boxes of its children.
void ParticleTree::join(const Node& node) {
  boxes_[std::size_t(node.index)] =
      joined(boxes_[std::size_t(node.left().index)], boxes_[std::size_t(node.right().index)], space_.axes);
}

BoundingBox ParticleTree::box_of(std::int64_t begin, std::int64_t end) const {
  const BoundingBox& leaf = this->leaf(begin / kLeaf);
  BoundingBox box;
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
    const double* const at = coordinates_[axis].data();
    double low = at[begin], high = low;
    for (std::int64_t k = begin + 1; k < end; ++k) {
      low = std::min(low, at[k]);
      high = std::max(high, at[k]);
    }
    box.centre[axis] = low + (high - low) / 2;
    box.half[axis] = (high - low) / 2;
  }
  box.reach = reach_.empty() ? leaf.reach : *std::max_element(reach_.begin() + begin, reach_.begin() + end);
  box.size = leaf.size;
  return box;
}

// Calls visit(leaf) for each leaf from `first` on that may have a j that acts on an i in the box. Both children of a
// node are tested together.
template <typename Visit>
void ParticleTree::visit_leaves(const BoundingBox& of_i, std::int64_t first, const Visit& visit) const {
  static_assert(kDoubles == 2);
  const auto axes = std::size_t(space_.axes);
  const auto are_near = [&](const BoundingBox& a, const BoundingBox& b) {
    Doubles away[kMaxAxes], half[kMaxAxes];
    for (std::size_t axis = 0; axis < axes; ++axis) {
      away[axis] = Doubles{a.centre[axis], b.centre[axis]} - of_i.centre[axis];
      half[axis] = Doubles{a.half[axis], b.half[axis]} + of_i.half[axis];
    }
    const Doubles reach{reach_of(of_i, a), reach_of(of_i, b)};
    const Doubles distance2 = distance2_of(space_, away, half, reach);
    return std::array{reach[0] >= 0 && distance2[0] <= reach[0] * reach[0],
                      reach[1] >= 0 && distance2[1] <= reach[1] * reach[1]};
  };
  if (leaves_ == 0 || !are_near(boxes_[0], boxes_[0])[0]) return;
  Node stack[64];  // near nodes
  int depth = 0;
  stack[depth++] = {0, 0, leaves_};
  while (depth > 0) {
    const Node node = stack[--depth];
    if (node.leaves == 1) {
      visit(node.first_leaf);
      continue;
    }
    const Node left = node.left(), right = node.right();
    const auto near = are_near(boxes_[std::size_t(left.index)], boxes_[std::size_t(right.index)]);
    stack[depth] = right;
    depth += int(near[1]);
    stack[depth] = left;
    depth += int(near[0] && left.first_leaf + left.leaves > first);
  }
}

void ParticleTree::find(const BoundingBox& of_i, std::vector<int>& positions, Leaves without) const {
  visit_leaves(of_i, 0, [&](std::int64_t leaf) {
    if (leaf < without.first || leaf >= without.end) find_in_leaf(leaf, of_i, positions);
  });
}

std::int64_t ParticleTree::near_leaf(const BoundingBox& box) const {
  const auto distance = [&](const Node& node) { return distance2(space_, box, boxes_[std::size_t(node.index)], 0); };
  Node node{0, 0, leaves_};
  while (node.leaves > 1) node = distance(node.right()) < distance(node.left()) ? node.right() : node.left();
  return node.first_leaf;
}

void ParticleTree::find_leaves(const BoundingBox& of_i, std::int64_t first, std::vector<int>& leaves) const {
  visit_leaves(of_i, first, [&](std::int64_t leaf) { leaves.push_back(int(leaf)); });
}

void ParticleTree::find_in_leaf(std::int64_t leaf, const BoundingBox& of_i, std::vector<int>& positions) const {
  const auto first = std::size_t(leaf * kLeaf);
  const BoundingBox& box = this->leaf(leaf);
  const double reach = reach_of(of_i, box), sizes = of_i.size + box.size;
  Doubles distances[kLeaf / kDoubles], half[kMaxAxes];
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) half[axis] = Doubles{} + of_i.half[axis];
  for (int v = 0; v < kLeaf / kDoubles; ++v) {
    Doubles away[kMaxAxes];
    for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
      std::memcpy(&away[axis], coordinates_[axis].data() + first + v * kDoubles, sizeof(Doubles));
      away[axis] -= of_i.centre[axis];
    }
    distances[v] = distance2_of(space_, away, half, Doubles{} + reach);
  }
  const std::size_t before = positions.size();
  positions.resize(before + kLeaf);
  int* next = positions.data() + before;
  for (int k = 0; k < kLeaf; ++k) {
    const double own = reach_.empty() ? reach : space_.reach(of_i.reach, reach_[first + std::size_t(k)], sizes);
    *next = int(first) + k;
    // Distances of padding entries are NaN, so even an infinite reach does not include them.
    next += own >= 0 && distances[k / kDoubles][k % kDoubles] <= own * own;
  }
  positions.resize(std::size_t(next - positions.data()));
}

}  // namespace nbcc
