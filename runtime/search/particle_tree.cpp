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

// A vector type, because compilers do not vectorise loops with conditions.
typedef double Doubles __attribute__((vector_size(16)));
constexpr int kDoubles = sizeof(Doubles) / sizeof(double);

// A lower bound of the squared distance of two boxes; a box may be a single particle. `away`: the difference of their
// centres in frame coordinates; `half`: the sum of their half sides. T is double or a vector of doubles.
//
// The last axis alone decides which multiple of the last lattice vector brings the boxes nearest, and their distance
// along that axis. A tilted vector also shifts the boxes along the earlier axes. If the next multiple of a tilted
// vector may be within reach too, the shift along the earlier axes is ambiguous, and these axes add nothing to the
// bound.
template <typename T>
T distance2_of(const SearchSpace& space, T* away, const Vector3& half, double reach) {
  T sum{}, known = sum + 1;  // known: 1, or 0 if the axis adds nothing
  for (std::size_t axis = std::size_t(space.axes); axis-- > 0;) {
    const double length = space.length[axis];
    if (length > 0) {
      const T multiple = (away[axis] * space.inverse[axis] + 0x1.8p52) - 0x1.8p52;
      away[axis] -= length * multiple;
      if (space.tilted)
        for (std::size_t other = 0; other < axis; ++other) away[other] -= space.tilt_of(axis, other) * multiple;
    }
    const T distance = away[axis] < 0 ? -away[axis] : away[axis], between = distance - half[axis];
    const T gap = between > 0 ? between : between - between;
    sum += known > 0 ? gap * gap : known;
    if (space.tilted && length > 0) known = (length - distance) - half[axis] > reach ? known : known - known;
  }
  return sum;
}

}  // namespace

double SearchSpace::exact_reach(double of_i, double of_j) const {
  using Kind = SearchLayout::Reach;
  return kind == Kind::Uniform ? uniform
         : kind == Kind::OfI   ? of_i
         : kind == Kind::OfJ   ? of_j
         : kind == Kind::Max   ? std::max(of_i, of_j)
         : kind == Kind::Min   ? std::min(of_i, of_j)
                               : of_i + of_j;
}

double SearchSpace::reach(double of_i, double of_j, double sizes) const {
  const double exact = exact_reach(of_i, of_j);
  return exact + std::fabs(exact) * relative + of_size * sizes + absolute;
}

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
    if (!cell && length[axis] > 0) at[axis] -= length[axis] * std::nearbyint(at[axis] / length[axis]);
    // Non-finite if the quotient overflowed. Any value is correct then: the bound of rounding errors increases the
    // particle's reach by more than the length.
    if (!std::isfinite(at[axis])) at[axis] = 0;
  }
  return at;
}

double distance2(const SearchSpace& space, const BoundingBox& a, const BoundingBox& b, double reach) {
  Vector3 away = sum(b.centre, -1, a.centre);
  return distance2_of(space, away.data(), sum(a.half, 1, b.half), reach);
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
      record.size = 0;
      for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
        record.at[axis] = rows[axis][k];
        record.size = std::max(record.size, std::fabs(rows[axis][k]));
      }
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

// Particles are ordered by the coordinate along the longest side; for equal coordinates, by particle index.
std::array<ParticleTree::Region, 2> ParticleTree::halve(const Region& region) {
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < std::size_t(space_.axes); ++axis)
    if (region.high[axis] - region.low[axis] > region.high[longest] - region.low[longest]) longest = axis;
  const std::span<Record> records = records_of(region.node);
  const auto middle = records.begin() + region.node.left().leaves * kLeaf;
  std::nth_element(records.begin(), middle, records.end(), [longest](const Record& a, const Record& b) {
    return a.at[longest] != b.at[longest] ? a.at[longest] < b.at[longest] : a.number < b.number;
  });
  std::array<Region, 2> halves{region, region};
  halves[0].node = region.node.left();
  halves[1].node = region.node.right();
  halves[0].high[longest] = halves[1].low[longest] = middle->at[longest];
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
  std::size_t longest = 0;
  double side = -1;
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
    const auto at = [axis](const Record& record) { return record.at[axis]; };
    const auto [low, high] = std::ranges::minmax(records | std::views::transform(at));
    if (high - low > side) longest = axis, side = high - low;
  }
  const std::size_t half = (records.size() + 2) / 4 * 2;  // an even number, so that pairs remain
  const auto key = [longest](const Record& record) { return std::pair(record.at[longest], record.number); };
  std::ranges::nth_element(records, records.begin() + std::ptrdiff_t(half), {}, key);
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
  for (const Record& record : records) box.size = std::max(box.size, record.size);
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
  const BoundingBox &a = boxes_[std::size_t(node.left().index)], &b = boxes_[std::size_t(node.right().index)];
  BoundingBox& box = boxes_[std::size_t(node.index)];
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
    const double low = std::min(a.centre[axis] - a.half[axis], b.centre[axis] - b.half[axis]),
                 high = std::max(a.centre[axis] + a.half[axis], b.centre[axis] + b.half[axis]);
    box.centre[axis] = low + (high - low) / 2;
    box.half[axis] = (high - low) / 2;
  }
  box.reach = std::max(a.reach, b.reach);
  box.size = std::max(a.size, b.size);
}

BoundingBox ParticleTree::box_of(std::int64_t begin, std::int64_t end) const {
  const BoundingBox& leaf = this->leaf(begin / kLeaf);
  BoundingBox box;
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
    const auto [low, high] = std::minmax_element(coordinates_[axis].begin() + begin, coordinates_[axis].begin() + end);
    box.centre[axis] = *low + (*high - *low) / 2;
    box.half[axis] = (*high - *low) / 2;
  }
  box.reach = reach_.empty() ? leaf.reach : *std::max_element(reach_.begin() + begin, reach_.begin() + end);
  box.size = leaf.size;
  return box;
}

// Calls visit(leaf) for each leaf from `first` on that may have a j that acts on an i in the box.
template <typename Visit>
void ParticleTree::visit_leaves(const BoundingBox& of_i, std::int64_t first, const Visit& visit) const {
  if (leaves_ == 0) return;
  Node stack[64];
  int depth = 0;
  stack[depth++] = {0, 0, leaves_};
  while (depth > 0) {
    const Node node = stack[--depth];
    if (node.first_leaf + node.leaves <= first) continue;
    const BoundingBox& box = boxes_[std::size_t(node.index)];
    const double reach = reach_of(of_i, box);
    if (!(reach >= 0 && distance2(space_, of_i, box, reach) <= reach * reach)) continue;
    if (node.leaves == 1) {
      visit(node.first_leaf);
    } else {
      stack[depth++] = node.right();
      stack[depth++] = node.left();
    }
  }
}

void ParticleTree::find(const BoundingBox& of_i, std::vector<int>& positions) const {
  visit_leaves(of_i, 0, [&](std::int64_t leaf) { find_in_leaf(leaf, of_i, positions); });
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
  Doubles distances[kLeaf / kDoubles];
  for (int v = 0; v < kLeaf / kDoubles; ++v) {
    Doubles away[kMaxAxes];
    for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
      std::memcpy(&away[axis], coordinates_[axis].data() + first + v * kDoubles, sizeof(Doubles));
      away[axis] -= of_i.centre[axis];
    }
    distances[v] = distance2_of(space_, away, of_i.half, reach);
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
