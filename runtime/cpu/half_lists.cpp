// A tree of particles -> half lists. Interface: HalfLists. Reads no field and sums nothing.
#include "runtime/cpu/half_lists.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/round_up.h"

namespace nbcc {
namespace {

// Bounds of boxes are moved outwards by kMargin of their size, four times the rounding error 2^-24 of a float, so that
// boxes in single precision contain those in double precision. A squared distance of such boxes has at most five more
// roundings that raise it (the difference, its square counts that twice and is rounded, two additions), together less
// than 5 * 2^-24 = 0.32 * 2^-20. Squared reaches are raised by kRoundUp, and lowered by one rounding, 2^-24 = 0.07 *
// 2^-20, when they become floats: so no pair within reach is lost.
constexpr double kMargin = 0x1p-22, kRoundUp = 1 + 0x1p-20;
// The leaves of a piece are those of one node.
static_assert(ParticleTree::kLeavesOfPiece * ParticleTree::kLeaf == HalfList::kPiece);

}  // namespace

std::vector<BoundingBox> HalfLists::boxes_of_vectors(const ParticleTree& tree, int lanes, const ForEach& for_each) {
  constexpr std::int64_t kChunk = 4096;
  std::vector<BoundingBox> boxes(std::size_t(ceil_div(tree.size(), std::int64_t(lanes))));
  const auto count = std::int64_t(boxes.size());
  for_each(ceil_div(count, kChunk), [&](std::int64_t chunk) {
    for (std::int64_t v = chunk * kChunk; v < std::min((chunk + 1) * kChunk, count); ++v)
      boxes[std::size_t(v)] =
          lanes == ParticleTree::kLeaf ? tree.leaf(v) : tree.box_of(v * lanes, std::min((v + 1) * lanes, tree.size()));
  });
  return boxes;
}

void HalfLists::Boxes::clear(std::size_t capacity, std::size_t axes) {
  count = 0;
  const std::size_t padded = capacity + 2 * kFloats;
  values.resize(padded);
  reach2.resize(padded);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    low[axis].resize(padded);
    high[axis].resize(padded);
  }
}

// Adds a box whose centre is at `away`. A box that is not placed is near all others.
void HalfLists::Boxes::add(int value, std::size_t axes, const Vector3& away, const Vector3& half, bool is_placed,
                           double squared_reach) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  values[count] = value;
  // Floats below the least normal number have less than 24 bits, so the bounds above do not hold for squares of that
  // size: a sum of three of them errs by less than kSmallest, which is added to each squared reach.
  constexpr double kSmallest = 16 * double(std::numeric_limits<float>::min());
  reach2[count] = float(squared_reach * kRoundUp + kSmallest);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double least = away[axis] - half[axis], most = away[axis] + half[axis];
    low[axis][count] = is_placed ? float(least - std::fabs(least) * kMargin) : -kInfinity;
    high[axis][count] = is_placed ? float(most + std::fabs(most) * kMargin) : kInfinity;
  }
  ++count;
}

// Pads the boxes with some that are near nothing.
void HalfLists::Boxes::end() { std::fill_n(reach2.begin() + std::ptrdiff_t(count), 2 * kFloats, -1.0F); }

// Appends to `found` the values of the boxes from `first` on that may have a particle within reach of the box with
// centre `from`.
void HalfLists::Boxes::append_near(std::size_t first, std::size_t axes, const Vector3& from, const Vector3& half,
                                   std::vector<int>& found) const {
  std::array<Floats, kMaxAxes> own_low{}, own_high{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double least = from[axis] - half[axis], most = from[axis] + half[axis];
    own_low[axis] = Floats{} + float(least - std::fabs(least) * kMargin);
    own_high[axis] = Floats{} + float(most + std::fabs(most) * kMargin);
  }
  const std::size_t before = found.size();
  found.resize(before + count - std::min(first, count) + kFloats);
  int* next = found.data() + before;
  const auto load = [](const std::vector<float>& from_row, std::size_t k) {
    Floats values_of_row;
    std::memcpy(&values_of_row, from_row.data() + k, sizeof values_of_row);
    return values_of_row;
  };
  for (std::size_t k = first; k < count; k += kFloats) {
    Floats distance2{};
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const Floats below = load(low[axis], k) - own_high[axis], above = own_low[axis] - load(high[axis], k);
      Floats gap = below > above ? below : above;
      gap = gap > 0 ? gap : Floats{};  // a NaN, after an overflow, becomes 0
      distance2 += gap * gap;
    }
    const auto is_near = distance2 <= load(reach2, k);
    for (std::size_t n = 0; n < kFloats; ++n) {
      *next = values[k + n];
      next -= is_near[n];
    }
  }
  found.resize(std::size_t(next - found.data()));
}

// The vectors that may have a particle near an i of the piece, from the piece's first leaf on, relative to its centre.
void HalfLists::find_near_piece(const ParticleTree& tree, std::span<const BoundingBox> boxes, std::int64_t piece,
                                int lanes) {
  constexpr std::int64_t kLeaves = HalfList::kPiece / ParticleTree::kLeaf;
  const std::int64_t first = piece * kLeaves, end = std::min(first + kLeaves, tree.leaves());
  const SearchSpace& space = tree.space();
  const auto axes = std::size_t(space.axes);
  piece_ = tree.leaf(first);
  for (std::int64_t leaf = first + 1; leaf < end; ++leaf) piece_ = joined(piece_, tree.leaf(leaf), space.axes);
  leaves_.clear();
  tree.find_leaves(piece_, first, leaves_);
  const std::int64_t of_leaf = std::max<std::int64_t>(1, ParticleTree::kLeaf / lanes);
  near_piece_.clear(leaves_.size() * std::size_t(of_leaf), axes);
  for (const int leaf : leaves_)
    for (std::int64_t v = leaf * of_leaf; v < std::min((leaf + 1) * of_leaf, std::int64_t(boxes.size())); ++v) {
      const BoundingBox& box = boxes[std::size_t(v)];
      const double reach = space.reach(piece_.reach, box.reach, piece_.size + box.size);
      const Placed placed = place(space, piece_, box, reach);
      if (reach >= 0) near_piece_.add(int(v), axes, placed.away, box.half, placed.is_sure, reach * reach);
    }
  near_piece_.end();
}

// The nearest image of a box, relative to the centre of another box.
HalfLists::Placed HalfLists::place(const SearchSpace& space, const BoundingBox& from, const BoundingBox& box,
                                   double reach) {
  Placed placed{sum(box.centre, -1, from.centre), true};
  for (auto axis = std::size_t(space.axes); axis-- > 0;) {
    const double length = space.length[axis];
    if (!(length > 0)) continue;
    const double nearest = nearest_image(placed.away[axis], length, space.inverse[axis]);
    const double multiple = (placed.away[axis] - nearest) * space.inverse[axis];
    for (std::size_t other = 0; space.tilted && other < axis; ++other)
      placed.away[other] -= space.tilt_of(axis, other) * multiple;
    placed.away[axis] = nearest;
    placed.is_sure &= length - std::fabs(nearest) - 2 * (from.half[axis] + box.half[axis]) > reach;
  }
  return placed;
}

// The vectors from the leaf's first one on that may have a particle near an i of the leaf, relative to its centre.
void HalfLists::find_near_leaf(const ParticleTree& tree, std::span<const BoundingBox> boxes, std::int64_t leaf,
                               int lanes) {
  const SearchSpace& space = tree.space();
  const auto axes = std::size_t(space.axes);
  const BoundingBox& own = tree.leaf(leaf);
  const auto begin = near_piece_.values.begin();
  const auto first =
      std::lower_bound(begin, begin + std::ptrdiff_t(near_piece_.count), int(leaf * ParticleTree::kLeaf / lanes));
  of_leaf_.clear();
  near_piece_.append_near(std::size_t(first - begin), axes, sum(own.centre, -1, piece_.centre), own.half, of_leaf_);
  near_leaf_.clear(of_leaf_.size(), axes);
  for (const int v : of_leaf_) {
    const BoundingBox& box = boxes[std::size_t(v)];
    const double reach = space.reach(own.reach, box.reach, own.size + box.size);
    const Placed placed = place(space, own, box, reach);
    if (!placed.is_sure && !(distance2(space, own, box, reach) <= reach * reach)) continue;
    if (reach >= 0) near_leaf_.add(v, axes, placed.away, box.half, placed.is_sure, reach * reach);
  }
  near_leaf_.end();
}

// The vectors of i are found even if no particle is near; they come first, since the others come later in the order.
void HalfLists::find(const ParticleTree& tree, std::span<const BoundingBox> boxes, std::int64_t piece, int lanes) {
  constexpr std::int64_t kLeaf = ParticleTree::kLeaf;
  const std::int64_t begin = piece * HalfList::kPiece, end = std::min(begin + HalfList::kPiece, tree.size());
  found_.clear();
  ends_.clear();
  vectors_.clear();
  places_.resize(boxes.size(), -1);
  const auto add = [&](std::int64_t vector) {
    int& place = places_[std::size_t(vector)];
    if (place < 0) vectors_.push_back(int(vector));
    place = 0;
  };
  for (std::int64_t vector = begin / lanes; vector * lanes < end; ++vector) add(vector);
  find_near_piece(tree, boxes, piece, lanes);
  const auto axes = std::size_t(tree.space().axes);
  std::size_t after_own = 0;  // index in near_leaf_ of the first vector after `own`
  for (std::int64_t i = begin; i < end; i += kHalfListBlock) {
    const std::int64_t leaf = i / kLeaf, own = i / lanes;
    if (i % kLeaf == 0) {
      find_near_leaf(tree, boxes, leaf, lanes);
      after_own = 0;
    }
    while (after_own < near_leaf_.count && near_leaf_.values[after_own] <= own) ++after_own;
    found_.push_back(int(own));
    const std::size_t before = found_.size();
    const BoundingBox box = tree.box_of(i, std::min(i + kHalfListBlock, end));
    near_leaf_.append_near(after_own, axes, sum(box.centre, -1, tree.leaf(leaf).centre), box.half, found_);
    for (std::size_t k = before; k < found_.size(); ++k) add(found_[k]);
    ends_.push_back(int(found_.size()));
  }
}

std::vector<HalfList> HalfLists::of_piece(const ParticleTree& tree, std::span<const BoundingBox> boxes,
                                          std::int64_t piece, int lanes) {
  find(tree, boxes, piece, lanes);
  std::ranges::sort(vectors_);
  const auto count = int(vectors_.size());
  for (int place = 0; place < count; ++place) places_[std::size_t(vectors_[std::size_t(place)])] = place;
  std::vector<HalfList> lists(std::size_t(ceil_div(count, kHalfListVectors)));
  for (std::size_t k = 0; k < lists.size(); ++k) {
    const auto from = vectors_.begin() + std::ptrdiff_t(k) * kHalfListVectors;
    lists[k].vectors.assign(from, std::min(from + kHalfListVectors, vectors_.end()));
    lists[k].first.reserve(ends_.size() + 1);
    lists[k].first.push_back(0);
    lists[k].has_own = k == 0;
  }
  std::size_t next = 0;
  for (const int end : ends_) {
    for (; next < std::size_t(end); ++next) {
      const int place = places_[std::size_t(found_[next])];
      lists[std::size_t(place / kHalfListVectors)].near.push_back(std::uint8_t(place % kHalfListVectors));
    }
    for (HalfList& list : lists) list.first.push_back(std::uint16_t(list.near.size()));
  }
  for (const int vector : vectors_) places_[std::size_t(vector)] = -1;
  return lists;
}

}  // namespace nbcc
