// The grids of a tree: each cell has q points along each axis of its box. Weights of particles go up to the grids of
// all cells that contain them, sums at grids go down to the particles. Tested by
// tests/unit/runtime/far/far_tree_test.cpp.
#pragma once
#include <span>
#include <vector>

#include "runtime/far/chebyshev.h"
#include "runtime/far/far_tree.h"

namespace nbcc {

// Arrays of a tree's points: its particles, in the order of the tree, then the grids, cell by cell.
class FarGrids {
 public:
  // `tree` must outlive this object.
  FarGrids(const FarTree& tree, int order);

  int points_per_cell() const { return points_; }
  std::int64_t points() const { return tree_.count() + std::int64_t(tree_.cells().size()) * points_; }
  std::int64_t first_point(std::int64_t cell) const { return tree_.count() + cell * points_; }

  // coordinates[axis][point] of all points.
  void locate(std::span<const std::span<double>> coordinates, const ForEach& for_each) const;
  // values[k][point]: from the values at particles, the weights that particles and children have at each grid.
  // `wanted`: by cell, 0 if its grid is left as it is; empty: all are wanted. Cells with a grid alone have their
  // weights.
  void go_up(std::span<const std::span<double>> values, const ForEach& for_each,
             std::span<const char> wanted = {}) const;
  // sums[k][point]: adds to the sums at particles those at grids, interpolated. The sums at grids change. `wanted`: by
  // cell, 0 if its particles need no sums; empty: all do.
  void go_down(std::span<const std::span<double>> sums, std::span<const char> wanted, const ForEach& for_each) const;

 private:
  // Values of the q polynomials of each axis at a point; an axis that does not exist has one polynomial, 1.
  struct Basis {
    std::array<Chebyshev::Values, 3> axis;
  };
  // For each axis the values of a parent's polynomials at its child's points: [point of the child][polynomial].
  struct Transfer {
    std::array<std::array<Chebyshev::Values, Chebyshev::kMaxOrder>, 3> axis;
  };
  template <int order>
  void basis_at(const FarCell& cell, std::int64_t particle, Basis& basis) const;
  template <int order>
  void transfer(const FarCell& parent, const FarCell& child, Transfer& transfer) const;
  template <bool up>
  void apply(const Transfer& transfer, const double* from, double* to) const;
  template <int order>
  void up_from_particles(const FarCell& cell, std::span<const std::span<double>> values, std::int64_t first) const;
  template <int order>
  void down_to_particles(const FarCell& cell, std::span<const std::span<double>> sums, std::int64_t first) const;
  template <typename Body>
  void on_cells(std::int32_t first, std::int32_t last, const ForEach& for_each, const Body& body) const;

  const FarTree& tree_;
  Chebyshev chebyshev_;
  std::array<int, 3> along_{1, 1, 1};  // points along each axis
  int points_ = 1;
};

}  // namespace nbcc
