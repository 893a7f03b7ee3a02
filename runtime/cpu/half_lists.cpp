// A tree of particles -> half lists. Interface: HalfLists. Reads no field and sums nothing.
#include "runtime/cpu/half_lists.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/round_up.h"

namespace nbcc {

std::vector<BoundingBox> HalfLists::boxes_of_vectors(const ParticleTree& tree, int lanes, const ForEach& for_each) {
  constexpr std::int64_t kChunk = 4096;
  std::vector<BoundingBox> boxes(std::size_t(ceil_div(tree.size(), std::int64_t(lanes))));
  const auto count = std::int64_t(boxes.size());
  for_each(ceil_div(count, kChunk), [&](std::int64_t chunk) {
    for (std::int64_t v = chunk * kChunk; v < std::min((chunk + 1) * kChunk, count); ++v)
      boxes[std::size_t(v)] = tree.box_of(v * lanes, std::min((v + 1) * lanes, tree.size()));
  });
  return boxes;
}

void HalfLists::find_candidates(const ParticleTree& tree, std::span<const BoundingBox> boxes, std::int64_t leaf,
                                int lanes) {
  const SearchSpace& space = tree.space();
  const auto axes = std::size_t(space.axes);
  const BoundingBox& own = tree.leaf(leaf);
  Candidates& c = candidates_;
  c.leaves.clear();
  c.vectors.clear();
  tree.find_leaves(own, leaf, c.leaves);
  const std::int64_t of_leaf = std::max<std::int64_t>(1, ParticleTree::kLeaf / lanes);
  for (const int one : c.leaves)
    for (std::int64_t v = one * of_leaf; v < std::min((one + 1) * of_leaf, std::int64_t(boxes.size())); ++v)
      c.vectors.push_back(int(v));
  c.reach2.resize(c.vectors.size());
  c.near.resize(c.vectors.size());
  for (std::size_t axis = 0; axis < axes; ++axis) {
    c.away[axis].resize(c.vectors.size());
    c.half[axis].resize(c.vectors.size());
  }
  for (std::size_t k = 0; k < c.vectors.size(); ++k) {
    const BoundingBox& box = boxes[std::size_t(c.vectors[k])];
    const double reach = space.reach(own.reach, box.reach, own.size + box.size);
    c.reach2[k] = reach >= 0 ? reach * reach : -1;
    Vector3 away = sum(box.centre, -1, own.centre);
    bool is_ambiguous = false;
    for (std::size_t axis = axes; axis-- > 0;) {
      const double length = space.length[axis];
      if (!(length > 0)) continue;
      const double nearest = nearest_image(away[axis], length, space.inverse[axis]);
      const double multiple = (away[axis] - nearest) * space.inverse[axis];
      for (std::size_t other = 0; space.tilted && other < axis; ++other)
        away[other] -= space.tilt_of(axis, other) * multiple;
      away[axis] = nearest;
      is_ambiguous |= !(length - std::fabs(nearest) - 2 * (own.half[axis] + box.half[axis]) > reach);
    }
    for (std::size_t axis = 0; axis < axes; ++axis) {
      c.away[axis][k] = away[axis];
      c.half[axis][k] = is_ambiguous ? std::numeric_limits<double>::infinity() : box.half[axis];
    }
  }
}

// Marks the candidates that may have a particle near the i at positions [begin, end) of the leaf.
void HalfLists::find_near(const ParticleTree& tree, std::int64_t leaf, std::int64_t begin, std::int64_t end) {
  const BoundingBox box = tree.box_of(begin, end);
  const Vector3 from = sum(box.centre, -1, tree.leaf(leaf).centre);
  Candidates& c = candidates_;
  const auto axes = std::size_t(tree.space().axes);
  constexpr std::size_t kAtOnce = 64;
  for (std::size_t first = 0; first < c.vectors.size(); first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, c.vectors.size() - first);
    std::array<double, kAtOnce> distance2{};
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const double *const away = c.away[axis].data() + first, *const half = c.half[axis].data() + first;
      for (std::size_t k = 0; k < count; ++k) {
        const double gap = std::max(std::fabs(away[k] - from[axis]) - (half[k] + box.half[axis]), 0.0);
        distance2[k] += gap * gap;
      }
    }
    for (std::size_t k = 0; k < count; ++k) c.near[first + k] = distance2[k] <= c.reach2[first + k];
  }
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
  for (std::int64_t i = begin; i < end; i += kHalfListBlock) {
    const std::int64_t leaf = i / kLeaf, own = i / lanes;
    if (i % kLeaf == 0) find_candidates(tree, boxes, leaf, lanes);
    find_near(tree, leaf, i, std::min(i + kHalfListBlock, end));
    found_.push_back(int(own));
    for (std::size_t k = 0; k < candidates_.vectors.size(); ++k) {
      const int vector = candidates_.vectors[k];
      if (!candidates_.near[k] || vector <= own) continue;
      found_.push_back(vector);
      add(vector);
    }
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
