// The grids of a tree: each cell has q points along the longest side of its box, and at most q along the others.
// Weights of particles go up to the grids of all cells that contain them, sums at grids go down to the particles.
// Tested by tests/unit/runtime/far/far_tree_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/far/chebyshev.h"
#include "runtime/far/far_tree.h"

namespace nbcc {

// Numbers of grid points along the axes of a box, with q along its longest side.
//
//   Cube:    q along each axis
//   Shorter: fewer along shorter sides, so that interpolation is as exact along each axis: with a half side h at a
//            distance d its error is (d/h + sqrt((d/h)^2 - 1))^-points, by Bernstein's ellipse of a function with a
//            pole at that distance. d is 4 times the longest half side. Sides 1, 1, 1/2 with q = 8 have 8 * 8 * 6.
//            Below order 6 as Cube, but one point along a side without extent.
enum class FarShape : std::uint8_t { Cube, Shorter };
std::array<int, 3> points_along(FarShape shape, int order, const FarCell& cell, int axes);

// Arrays of a tree's points: its particles, in the order of the tree, then the grids, cell by cell.
class FarGrids {
 public:
  // `tree` must outlive this object.
  FarGrids(const FarTree& tree, int order, FarShape shape = FarShape::Shorter);

  int points_of(std::int64_t cell) const { return int(first_[std::size_t(cell) + 1] - first_[std::size_t(cell)]); }
  std::vector<std::int32_t> points_of_cells() const;  // [cell]
  std::int64_t points() const { return first_.back(); }
  std::int64_t first_point(std::int64_t cell) const { return first_[std::size_t(cell)]; }

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
  using Along = std::array<int, 3>;  // points along each axis; 1 along an axis that does not exist
  // Values of the polynomials of each axis at a point; an axis that does not exist has one polynomial, 1.
  struct Basis {
    std::array<Chebyshev::Values, 3> axis;
  };
  // For each axis the values of a parent's polynomials at its child's points: [point of the child][polynomial].
  struct Transfer {
    std::array<std::array<Chebyshev::Values, Chebyshev::kMaxOrder>, 3> axis;
  };
  void evaluate(int order, double x, double* values) const;
  void basis_at(const FarCell& cell, const Along& along, std::int64_t particle, Basis& basis) const;
  void transfer(std::int32_t parent, std::int32_t child, Transfer& transfer) const;
  template <bool up>
  void apply(const Transfer& transfer, const Along& of_from, const double* from, const Along& of_to, double* to) const;
  template <int order_of_x>
  void up_from_particles(std::int32_t k, std::span<const std::span<double>> values) const;
  template <int order_of_x>
  void down_to_particles(std::int32_t k, std::span<const std::span<double>> sums) const;
  template <typename Body>
  void on_cells(std::int32_t first, std::int32_t last, const ForEach& for_each, const Body& body) const;

  const FarTree& tree_;
  std::vector<Chebyshev> chebyshev_;  // [order - 1]
  std::vector<Along> along_;          // [cell]
  std::vector<std::int64_t> first_;   // [cell]: its first point; then the number of all points
};

}  // namespace nbcc
