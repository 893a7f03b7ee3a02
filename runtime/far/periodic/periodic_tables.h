// The sum over the far images of a j (periodic_cell.h) as a function of the displacement from i to j, F(d), and the
// matrix of F between the Chebyshev points of the cell. Both are made with the kernel itself, once for each kernel,
// params and cell. Tested by tests/unit/runtime/far/periodic/.
//
// Use: sums of i = sum over near images, pair by pair or by a tree
//                  + sum over points a of L_a(i) * sum over points b of T[a][b] * sum over j of L_b(j) * weight of j
//                  + constant * sum of the weights of j.
// T has the far images of a particle for itself, too.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/far/periodic/cell_grid.h"
#include "runtime/far/periodic/chebyshev_series.h"
#include "runtime/far/periodic/periodic_cell.h"
#include "runtime/far/periodic/periodic_kernel.h"

namespace nbcc {

struct PeriodicTables {
  PeriodicCell cell;
  double tolerance = 0;
  std::vector<PeriodicComponent> components;
  ChebyshevSeries far;                   // F without its constant, for coordinates of displacements from -1 to 1
  std::array<int, 3> level_order{};      // of the tables of coarser lattices
  int levels = 0, evaluated_levels = 0;  // lattices of 3, 9, ... periods; those in which the kernel was evaluated
  std::int64_t evaluations = 0;          // of the kernel
  double mismatch = 0;  // what F lacks to be periodic: rms / sum of |K| over the near block; the largest of a group
  // Error of F interpolated between the points of the grid, by the same measure: the largest of sampled pairs; with
  // open directions their rms.
  double pair_error = 0;
  CellGrid grid;
  PeriodicCell shape;  // for which the grid was chosen

  // F with its constant: values[component][displacement], from coordinates[row][displacement].
  std::vector<double> far_images(std::int64_t count, const double* coordinates) const;
};

// What is measured of K alone, without tables: decays, degrees and conventions. The constants are 0. Throws UsageError
// if K has no periodic sum.
std::vector<PeriodicComponent> periodic_components(const PeriodicCell& cell, const PeriodicKernel& kernel);

// Chooses all orders for the tolerance. Throws UsageError if K has no periodic sum or if no order keeps the tolerance.
PeriodicTables make_periodic_tables(const PeriodicCell& cell, const PeriodicKernel& kernel, double tolerance);

// The tables of another cell or of a kernel with other params, with the orders and near_reach of `before`; chosen again
// where the mismatch or the shape of the cell requires it. Use the cell of the result.
PeriodicTables remake_periodic_tables(const PeriodicTables& before, const PeriodicCell& new_cell,
                                      const PeriodicKernel& kernel);

// T[component][point a][point b] = F(b - a) without the constant, for tables.grid or another grid.
std::vector<double> far_operator(const PeriodicTables& tables, const CellGrid& grid);

}  // namespace nbcc
