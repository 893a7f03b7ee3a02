// The cell of a periodic sum: its vectors in a reduced basis, and which images are near. Tested by
// tests/unit/runtime/far/periodic/periodic_cell_test.cpp.
//
// Coordinates of a position are multiples of the rows, from the origin. The cell has coordinates from -1/2 to 1/2.
// Near images of a j are those with at most near_reach[row] periods added along each periodic row, here 2:
//
//     +---+---+---+---+---+
//     |   |   |   |   |   |     all other images are far: they act through a table of the displacement
//     +---+---+---+---+---+     (periodic_tables.h)
//     |   |   | i |   |   |
//     +---+---+---+---+---+
//     |   |   |   |   |   |
//     +---+---+---+---+---+
#pragma once
#include <array>
#include <span>
#include <vector>

namespace nbcc {

using CellVector = std::array<double, 3>;  // components beyond the number of axes are 0
using CellImage = std::array<int, 3>;      // periods added along each row

struct PeriodicCell {
  int axes = 0;      // components of a position, 1 to 3
  int periodic = 0;  // rows that are periodic, 1 to `axes`; they come first
  // [row][axis]. The periodic vectors of a reduced basis, each with the number of the given vector from which it is
  // made; then for each open direction a vector
  // orthogonal to them, as long as the extent of all particles along it.
  std::array<CellVector, 3> rows{};
  std::array<CellVector, 3> inverse{};  // [axis][row]
  CellVector origin{};                  // the position with coordinates 0: the middle of the open extents
  std::array<int, 3> near_reach{};      // 0 of open rows
  double volume = 0;                    // with open extents

  // The coordinates of a position; position[axis].
  CellVector coordinates(const double* position) const;
  // The vector with these coordinates, from the origin.
  CellVector vector(const CellVector& coordinates) const;
  // Whole periods to be subtracted from these coordinates, so that the position is in the cell. 0 of open rows.
  CellVector periods(const CellVector& coordinates) const;
  // Subtracts the periods from position[axis]. A non-finite position stays as it is. Throws UsageError if the position
  // is more than 2^29 periods away, where it has no digits left within the cell's.
  void move_in(double* position) const;
  // The images with all |n| <= near_reach; {0, 0, 0} is the middle one.
  std::vector<CellImage> near_images() const;
};

struct OpenExtent {
  double low = 0, high = 0;
};

// Unit vectors orthogonal to the periodic ones and to each other; coordinate axes where possible.
std::vector<CellVector> open_directions(int axes, std::span<const CellVector> periodic_vectors);

// extents[k]: lowest and highest component of all positions, of i and of j, along open_directions()[k].
// near_reach: 0, or that of all periodic rows; 0: at least 2, and at least 0.8 times the longest periodic vector.
// Throws UsageError if the vectors span no length, area or volume.
PeriodicCell make_periodic_cell(int axes, std::span<const CellVector> periodic_vectors,
                                std::span<const OpenExtent> extents = {}, int near_reach = 0);

}  // namespace nbcc
