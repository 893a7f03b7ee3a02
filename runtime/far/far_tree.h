// Particles -> a binary tree of cells, each the half of its parent's space, with the box of its particles.
// Tested by tests/unit/runtime/far/far_tree_test.cpp.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/for_each.h"

namespace nbcc {

struct FarCell {
  std::int32_t begin = 0, end = 0;  // its particles, in the order of the tree
  std::int32_t child = -1;          // the first of two children, which are adjacent; -1: a leaf
  std::int32_t level = 0;
  std::array<double, 3> centre{}, half{};  // of the box of its particles; a side without extent has a tiny half
  double radius = 0;                       // half of the box's diagonal
  bool is_leaf() const { return child < 0; }
  std::int32_t count() const { return end - begin; }
  int size() const { return std::ilogb(radius); }  // floor(log2(radius)), if the radius is not 0
};

class FarTree {
 public:
  // positions[particle * axes + axis], all finite; `chosen`: the particles, empty: all. Cells with at most `leaf`
  // particles are not split, nor those whose particles have one position (to 2^-21 of the root's side in space).
  void build(std::span<const double> positions, int axes, std::span<const std::int64_t> chosen, int leaf,
             const ForEach& for_each);

  // Splits the same particles into cells with at most `leaf` particles.
  void split_again(int leaf, const ForEach& for_each);

  int axes() const { return axes_; }
  std::int64_t count() const { return std::int64_t(order_.size()); }
  std::span<const FarCell> cells() const { return cells_; }       // parents before children; levels are contiguous
  std::span<const std::int64_t> order() const { return order_; }  // [position in the tree]: particle
  std::span<const double> coordinates(int axis) const { return sorted_[std::size_t(axis)]; }  // [position in the tree]
  std::span<const std::int32_t> level_first() const { return level_first_; }  // [level]: its first cell; then all

 private:
  void sort(std::span<const double> positions, std::span<const std::int64_t> chosen, const ForEach& for_each);
  void split(int leaf);
  void bound(const ForEach& for_each);

  int axes_ = 0, bits_ = 0;
  std::vector<std::uint64_t> keys_, spare_keys_;
  std::vector<std::int64_t> order_, spare_order_;
  std::array<std::vector<double>, 3> sorted_;
  std::vector<FarCell> cells_;
  std::vector<std::int32_t> level_first_;
};

}  // namespace nbcc
