// Periodic sums against published constants of lattices: F agrees with them, and so do sums through the grid.
#include "runtime/far/periodic/periodic_tables.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/periodic_sums.h"

namespace nbcc {
namespace {

using test::FarBy;

struct Crystal {
  std::vector<CellVector> positions;  // nearest distance `nearest`
  std::vector<double> charges;
  double side = 1;
};

Crystal rock_salt() {
  Crystal crystal;
  crystal.side = 2;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 2; ++c) {
        crystal.positions.push_back({double(a), double(b), double(c)});
        crystal.charges.push_back((a + b + c) % 2 == 0 ? 1 : -1);
      }
  return crystal;
}

PeriodicCell cube(double side, int near_reach = 0) {
  const std::vector<CellVector> vectors{{side, 0, 0}, {0, side, 0}, {0, 0, side}};
  return make_periodic_cell(3, vectors, {}, near_reach);
}

TEST(PeriodicTables, RockSaltHasItsMadelungConstant) {
  const Crystal crystal = rock_salt();
  for (const double tolerance : {1e-3, 1e-5, 1e-7, 1e-9, 1e-11}) {
    const PeriodicKernel kernel = test::coulomb_kernel();
    const PeriodicTables tables = make_periodic_tables(cube(crystal.side), kernel, tolerance);
    for (const FarBy by : {FarBy::Function, FarBy::Grid}) {
      const std::vector<double> sums =
          test::periodic_sums(tables, kernel, crystal.positions, crystal.positions, crystal.charges, true, by);
      for (std::size_t i = 0; i < crystal.positions.size(); ++i) {
        // The promise is an error of 600 tolerances, the sum of |terms| over the near block; those of a crystal cancel.
        EXPECT_NEAR(-sums[i] * crystal.charges[i], 1.747564594633182, tolerance) << tolerance;
        for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(sums[(axis + 1) * 8 + i], 0, tolerance);
      }
    }
  }
}

}  // namespace
}  // namespace nbcc
