// Positions of particles -> the particles near a group. A tree of bounding boxes (AABBs): the particles of a box are
// halved along its longest side until few are left, so dense regions have small leaves, and distant particles do not
// affect the other boxes. A box stores the largest reach of its particles, so a particle with a large reach costs time
// only where a search meets its box.
//
// Distances are bounded from below and reaches from above, so a search finds all j within reach and a few more. Uses no
// device and reads no field. Tested by tests/unit/runtime/search/particle_tree_test.cpp.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/kernel_source.h"
#include "runtime/for_each.h"
#include "runtime/search/search_cell.h"

namespace nbcc {

// The periodicity of a search, and the reach of pairs. Without a cell, frame coordinates are the caller's.
struct SearchSpace {
  int axes = 1;
  void set_length(std::size_t axis, double value) {
    length[axis] = value;
    inverse[axis] = value > 0 ? 1 / value : 0;
  }
  void set_cell(const SearchCell& of);
  double tilt_of(std::size_t vector, std::size_t axis) const { return tilt[vector - 1 + axis]; }  // axis < vector
  // The minimum image of a difference of two positions, in the caller's coordinates.
  Vector3 minimum_image(Vector3 difference) const;
  // The frame coordinates of the image of a position near the origin.
  Vector3 to_frame(const Vector3& position) const;

  std::array<double, kMaxAxes> length{};   // period along each frame axis; 0: the axis is open
  std::array<double, kMaxAxes> inverse{};  // 1 / length; 0 if the length is 0
  std::array<double, kMaxAxes> tilt{};     // of the vectors of a cell, see tilt_of()
  bool tilted = false;                     // any tilt is not 0
  std::optional<SearchCell> cell;
  SearchLayout::Reach kind = SearchLayout::Reach::Uniform;
  double uniform = 0;
  // Bounds of the rounding error of a distance: relative to the reach, relative to the sizes of both particles (size:
  // the largest absolute coordinate), and absolute.
  double relative = 0, of_size = 0, absolute = 0;

  // An upper bound of the distance of an i and a j that interact. `sizes`: the sum of the sizes of i and of j, so that
  // a distant particle increases only its own reach.
  double reach(double of_i, double of_j, double sizes = 0) const {
    const double exact = exact_reach(of_i, of_j);
    return exact + std::fabs(exact) * relative + of_size * sizes + absolute;
  }
  // Without the bounds of rounding errors.
  double exact_reach(double of_i, double of_j) const {
    using Kind = SearchLayout::Reach;
    return kind == Kind::Uniform ? uniform
           : kind == Kind::OfI   ? of_i
           : kind == Kind::OfJ   ? of_j
           : kind == Kind::Max   ? std::max(of_i, of_j)
           : kind == Kind::Min   ? std::min(of_i, of_j)
                                 : of_i + of_j;
  }
};

// A vector type, because compilers do not vectorise loops with conditions.
typedef double Doubles __attribute__((vector_size(16)));
constexpr int kDoubles = sizeof(Doubles) / sizeof(double);

// A lower bound of the squared distance of two boxes; a box may be a single particle. `away`: the difference of their
// centres in frame coordinates, which becomes its nearest image; `half`: the sum of their half sides. T is double or a
// vector of doubles.
//
// The last axis alone decides which multiple of the last lattice vector brings the boxes nearest, and their distance
// along that axis. A tilted vector also shifts the boxes along the earlier axes. If the next multiple of a tilted
// vector may be within reach too, the shift along the earlier axes is ambiguous, and these axes add nothing to the
// bound.
template <typename T>
T distance2_of(const SearchSpace& space, T* away, const T* half, T reach) {
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

// A bounding box of particles in frame coordinates.
struct BoundingBox {
  Vector3 centre{}, half{};  // half: half of the side lengths
  double reach = 0;          // the largest reach of its particles
  double size = 0;           // the largest absolute coordinate of its particles, as given by the caller
};

// Minimum image of a difference of coordinates along one axis. For an open axis length and inverse are 0. Rounds to the
// nearest integer by adding and subtracting 1.5 * 2^52: exact below 2^51.
template <typename T>
T nearest_image(T difference, double length, double inverse) {
  const T multiple = (difference * inverse + 0x1.8p52) - 0x1.8p52;
  return difference - length * multiple;
}

// The box of the particles of both boxes.
BoundingBox joined(const BoundingBox& a, const BoundingBox& b, int axes);

// A lower bound of the squared distance of any periodic images of particles in two boxes. Images farther apart than
// `reach` may be ignored.
double distance2(const SearchSpace& space, const BoundingBox& a, const BoundingBox& b, double reach);

class ParticleTree {
 public:
  static constexpr int kLeaf = 16;  // particles per leaf; the last leaf may have fewer
  // Leaves from a multiple of this number on are the leaves of one node, and so near each other.
  static constexpr int kLeavesOfPiece = 8;

  // `rows`: [axis][particle], the caller's finite coordinates of `count` particles; then, if `reaches`, a row of
  // reaches.
  ParticleTree(const SearchSpace& space, std::span<const double* const> rows, bool reaches, std::int64_t count,
               const ForEach& for_each);

  std::int64_t leaves() const { return leaves_; }
  std::int64_t size() const { return std::int64_t(numbers_.size()); }
  // The particle index at each position in the sorted order; leaf k has positions [k * kLeaf, (k + 1) * kLeaf). Within
  // a leaf, near particles have near positions.
  const std::vector<int>& numbers() const { return numbers_; }
  const BoundingBox& leaf(std::int64_t k) const { return boxes_[std::size_t(node_of_leaf_[std::size_t(k)])]; }

  const SearchSpace& space() const { return space_; }
  // The box of positions [begin, end), which belong to one leaf.
  BoundingBox box_of(std::int64_t begin, std::int64_t end) const;

  // The leaves [first, end).
  struct Leaves {
    std::int64_t first, end;
  };
  // Appends, in ascending order, the positions of all j of this tree that may act on an i in the box, except those in
  // the leaves `without`.
  void find(const BoundingBox& of_i, std::vector<int>& positions, Leaves without = {0, 0}) const;
  // A leaf near the box, found by descending to the nearer child of each node.
  std::int64_t near_leaf(const BoundingBox& box) const;
  // Appends the leaves from `first` on that may have such j, in ascending order.
  void find_leaves(const BoundingBox& of_i, std::int64_t first, std::vector<int>& leaves) const;

 private:
  struct Record {
    Vector3 at;  // frame coordinates
    float size;  // the largest absolute coordinate, as given by the caller, rounded up
    int number;  // particle index
  };
  // Nodes are stored in depth-first order: the left child follows its parent, the right child follows the left subtree.
  // A tree of n leaves has 2 n - 1 nodes.
  struct Node {
    std::int64_t index, first_leaf, leaves;
    // About half of the leaves, but a multiple of kLeavesOfPiece in nodes with more leaves than that.
    std::int64_t left_leaves() const {
      constexpr std::int64_t kPiece = kLeavesOfPiece;
      return leaves > kPiece ? (leaves + kPiece) / (2 * kPiece) * kPiece : leaves / 2;
    }
    Node left() const { return {index + 1, first_leaf, left_leaves()}; }
    Node right() const { return {index + 2 * left_leaves(), first_leaf + left_leaves(), leaves - left_leaves()}; }
  };
  // A node and the bounds of its particles.
  struct Region {
    Node node;
    Vector3 low, high;
  };
  void build_all(const Region& all, const ForEach& for_each);
  std::array<Region, 2> halve(const Region& region);
  void build(const Region& region);
  void finish_leaf(const Node& leaf);
  void join(const Node& node);
  std::span<Record> records_of(const Node& node);
  double reach_of(const BoundingBox& of_i, const BoundingBox& box) const {
    return space_.reach(of_i.reach, box.reach, of_i.size + box.size);
  }
  template <typename Visit>
  void visit_leaves(const BoundingBox& of_i, std::int64_t first, const Visit& visit) const;
  void find_in_leaf(std::int64_t leaf, const BoundingBox& of_i, std::vector<int>& positions) const;
  void order_leaf(std::span<Record> records) const;
  static void split(std::span<Record> records, std::size_t first, std::size_t axis);

  SearchSpace space_;
  std::int64_t leaves_;
  const double* reaches_;        // [particle], while the tree is built; null: particles have no reaches
  std::vector<Record> records_;  // while the tree is built
  std::vector<int> numbers_;
  // Frame coordinates, [axis][position]; padded with NaN after the last particle.
  std::array<std::vector<double>, kMaxAxes> coordinates_;
  std::vector<double> reach_;       // [position]; empty: particles have no reaches
  std::vector<BoundingBox> boxes_;  // [node]
  std::vector<std::int64_t> node_of_leaf_;
};

}  // namespace nbcc
