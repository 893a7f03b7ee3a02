// The search's room: where particles are -> which of them are near a group. A tree of boxes: particles are halved along
// the longest side of their box until few are left, so that dense places have small leaves and far particles disturb
// nobody; a box knows the largest reach in it, so that a particle that reaches far costs only those whom it meets.
//
// All distances are bounded from below and reaches from above: what is found is never too little. Asks no device and
// reads no field. Tested by tests/unit/site_tree_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/kernel_source.h"
#include "runtime/search/search_cell.h"

namespace nbcc {

// Runs body for 0 .. count-1, in any order and at once.
using ForEach = std::function<void(std::int64_t count, const std::function<void(std::int64_t)>& body)>;

// The metric of a search, and how far pairs act. Without a cell, frame coordinates are the caller's.
struct SearchSpace {
  int axes = 1;
  void set_length(std::size_t axis, double value) {
    length[axis] = value;
    inverse[axis] = value > 0 ? 1 / value : 0;
  }
  void set_cell(const SearchCell& of);
  double tilt_of(std::size_t vector, std::size_t axis) const { return tilt[vector - 1 + axis]; }  // axis < vector
  // A copy of a difference of two positions, in the caller's coordinates, that is short: the shortest in a box.
  Place short_copy(Place difference) const;
  // The frame coordinates of a position's copy near the origin.
  Place framed(const Place& position) const;

  std::array<double, kMostAxes> length{};   // of the periodic vector along each frame axis; 0: the axis is open
  std::array<double, kMostAxes> inverse{};  // of the length; 0 where that is 0
  std::array<double, kMostAxes> tilt{};     // of the vectors of a cell, see tilt_of()
  bool tilted = false;                      // a tilt is not 0
  std::optional<SearchCell> cell;
  SearchLayout::Reach kind = SearchLayout::Reach::Uniform;
  double uniform = 0;
  // What rounding may add to a distance: of a reach, of the coordinates of both particles (their `size`), and at all.
  double relative = 0, of_size = 0, absolute = 0;

  // At most so far apart are an i and a j that act on each other. `sizes`: the largest absolute coordinate of i and
  // that of j, added up. A far particle thus widens its own reach alone, not that of all others.
  double reach(double of_i, double of_j, double sizes = 0) const;
  double exact_reach(double of_i, double of_j) const;  // but for rounding
};

// A bounding box of particles in frame coordinates.
struct SiteBox {
  Place centre{}, half{};  // half of its sides
  double reach = 0;        // the largest of its particles
  double size = 0;         // the largest absolute coordinate of its particles, as the caller gave them
};

// A difference of coordinates -> that of their nearest copies. In an open space length and inverse are 0. The nearest
// whole number by an addition that leaves no room for the rest: exact below 2^51.
template <typename T>
T nearest_image(T difference, double length, double inverse) {
  const T whole = (difference * inverse + 0x1.8p52) - 0x1.8p52;
  return difference - length * whole;
}

// A lower bound of the squared distance of any copies of particles in two boxes, of which only distances up to `reach`
// matter.
double distance2(const SearchSpace& space, const SiteBox& a, const SiteBox& b, double reach);

class SiteTree {
 public:
  static constexpr int kLeaf = 16;  // particles of a leaf, but for the last one

  // `rows`: the caller's coordinates of `count` particles, axis by axis, all finite, and the reaches where `reaches`.
  SiteTree(const SearchSpace& space, std::span<const double* const> rows, bool reaches, std::int64_t count,
           const ForEach& for_each);

  std::int64_t leaves() const { return leaves_; }
  std::int64_t size() const { return std::int64_t(numbers_.size()); }
  // The number of the particle at each position; leaf k has positions [k * kLeaf, (k + 1) * kLeaf).
  const std::vector<int>& numbers() const { return numbers_; }
  const SiteBox& leaf(std::int64_t k) const { return boxes_[std::size_t(node_of_leaf_[std::size_t(k)])]; }

  // Appends the positions of all j of this tree, in ascending order, that may act on an i in the box.
  void find(const SiteBox& of_i, std::vector<int>& positions) const;

 private:
  struct Site {
    Place at;     // frame coordinates
    double size;  // as in SiteBox
    int number;
  };
  // Nodes in the order of their first visit: a node's left child is the next, its right child comes behind all of the
  // left one's. A tree of n leaves has 2 n - 1 nodes.
  struct Node {
    std::int64_t index, first_leaf, leaves;
    Node left() const { return {index + 1, first_leaf, leaves / 2}; }
    Node right() const { return {index + 2 * (leaves / 2), first_leaf + leaves / 2, leaves - leaves / 2}; }
  };
  // A node and where its particles may be.
  struct Region {
    Node node;
    Place low, high;
  };
  void build_all(const Region& all, const ForEach& for_each);
  std::array<Region, 2> halve(const Region& region);
  void build(const Region& region);
  void finish_leaf(const Node& leaf);
  void join(const Node& node);
  std::span<Site> sites_of(const Node& node);
  void find_in_leaf(const Node& leaf, const SiteBox& of_i, double reach, std::vector<int>& positions) const;

  SearchSpace space_;
  std::int64_t leaves_;
  const double* reaches_;    // by number, while the tree is built; null: nobody has any
  std::vector<Site> sites_;  // while it is built
  std::vector<int> numbers_;
  // Frame coordinates by axis and position; NaN behind the last particle.
  std::array<std::vector<double>, kMostAxes> places_;
  std::vector<double> reach_;   // by position; empty: nobody has any
  std::vector<SiteBox> boxes_;  // by node
  std::vector<std::int64_t> node_of_leaf_;
};

}  // namespace nbcc
