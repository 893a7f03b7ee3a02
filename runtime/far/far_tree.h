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
  // Particles of another process that act through grids alone: they are not among the particles of this tree.
  std::int32_t elsewhere = 0;
  bool is_leaf() const { return child < 0; }
  bool has_grid_alone() const { return is_leaf() && elsewhere > 0; }
  std::int32_t count() const { return end - begin + elsewhere; }
  int size() const { return std::ilogb(radius); }  // floor(log2(radius)), if the radius is not 0
};

// Morton keys of positions in a box: interleaved bits of coordinates.
struct FarKeys {
  // The bounds of the positions.
  FarKeys(int axes, const std::array<double, 3>& low, const std::array<double, 3>& high);
  std::uint64_t operator()(const double* position) const;  // finite, [axis]

  int axes = 0, bits = 0;  // bits of a key
  std::array<double, 3> low{};
  double scale = 0, largest = 0;  // of a coordinate as an integer
};

class FarTree {
 public:
  // positions[particle * axes + axis], all finite; `chosen`: the particles, empty: all. Cells with at most `leaf`
  // particles are not split, nor those whose particles have one position (to 2^-21 of the root's side in space).
  void build(std::span<const double> positions, int axes, std::span<const std::int64_t> chosen, int leaf,
             const ForEach& for_each);

  // Splits the same particles into cells with at most `leaf` particles.
  void split_again(int leaf, const ForEach& for_each);

  // A forest of trees of other processes behind a tree of this one; split_again() is not for it. A tree is given by its
  // cells, with parents before children and levels contiguous. Particles of the forest: those of `own`, by their
  // numbers, then those of the first of the others, in the order of its tree, ...
  //
  //   cells by level:   roots: own, other, other | level 1: own, own, other, other, ... | level 2: ...
  void merge(const FarTree& own, std::span<const std::vector<FarCell>> others);
  // Of merge(). numbers(tree)[cell of the tree]: cell of the forest; tree 0 is the own one.
  std::span<const std::int32_t> numbers(std::size_t tree) const { return numbers_[tree]; }
  std::vector<std::int32_t> roots() const;
  // Sets coordinates from the position `first` in the tree on: positions[particle][axis].
  void place(std::int64_t first, std::span<const double> positions);

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

  int axes_ = 0;
  std::vector<std::uint64_t> keys_, spare_keys_;
  std::vector<std::int64_t> order_, spare_order_;
  std::array<std::vector<double>, 3> sorted_;
  std::vector<FarCell> cells_;
  std::vector<std::int32_t> level_first_;
  std::vector<std::vector<std::int32_t>> numbers_;  // of merge()
};

}  // namespace nbcc
