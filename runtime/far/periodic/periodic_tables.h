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
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/far/periodic/cell_grid.h"
#include "runtime/far/periodic/chebyshev_series.h"
#include "runtime/far/periodic/periodic_cell.h"

namespace nbcc {

// sums[component * ni + i] = sum over all nj of K_component(position of j - position of i);
// positions[axis * count + particle], for as many axes as the cell has. Calls have up to 30,000 i and some 3000 j, or
// up to 100,000 i and one j at 0.
using KernelSums = std::function<void(std::int64_t ni, const double* position_i, std::int64_t nj,
                                      const double* position_j, double* sums)>;

struct PeriodicKernel {
  // By component, which is a pair (sum, weight): the number of its group. Errors are relative to the magnitudes of all
  // components of a group together, such as those of a vector and of all weights.
  std::vector<int> groups;
  KernelSums sums;
  int components() const { return int(groups.size()); }
};

// What the sum over all images means, as far as the decay of K at large distances leaves it open.
enum class PeriodicConvention {
  Converges,       // the sum converges absolutely
  MeanZero,        // near + far images have the mean 0 over the cell: no mode k = 0 (tinfoil, uniform background)
  GrowingSpheres,  // images are added in growing spheres, with vacuum outside
  NeutralOnly,     // no constant is defined: the sum of the weights must be 0
  UpToConstant,    // open directions: without a constant, which matters unless the sum of the weights is 0
  OppositePairs,   // open directions, odd K: images are added in opposite pairs
};
std::string_view describe(PeriodicConvention convention);

struct PeriodicComponent {
  double decay = 0;                      // p: K falls like r^-p at large distances; infinite: faster than any power
  int degree = -1;                       // of the polynomial that the periodic condition fixes; -1: none, 0: a constant
  double constant = 0;                   // added to F; apart from T, because it may be large
  bool is_even = false, is_odd = false;  // K(-d) = K(d), K(-d) = -K(d)
  PeriodicConvention convention = PeriodicConvention::Converges;
};

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

// Chooses all orders for the tolerance. Throws UsageError if K has no periodic sum or if no order keeps the tolerance.
PeriodicTables make_periodic_tables(const PeriodicCell& cell, const PeriodicKernel& kernel, double tolerance);

// The tables of another cell, with the orders of `before`; chosen again where the mismatch or the shape of the cell
// requires it.
PeriodicTables remake_periodic_tables(const PeriodicTables& before, const PeriodicCell& cell,
                                      const PeriodicKernel& kernel);

// T[component][point a][point b] = F(b - a) without the constant, for tables.grid or another grid.
std::vector<double> far_operator(const PeriodicTables& tables, const CellGrid& grid);

// "" or why the weights are no weights of a periodic sum: the component needs a sum of 0, and it is not
// (|sum| > 1e-12 * magnitude, the sum of |weight|).
std::string require_neutral(const PeriodicComponent& component, std::string_view weight, double sum, double magnitude);

}  // namespace nbcc
