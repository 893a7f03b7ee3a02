// Tables of a cell that changes: orders are kept while they serve.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/far/periodic/periodic_tables.h"
#include "tests/support/periodic_sums.h"

namespace nbcc {
namespace {

PeriodicCell slightly_changed(double strain, double slant = 0) {
  return make_periodic_cell(3, std::vector<CellVector>{{1 + strain, 0, 0}, {slant, 1, 0}, {0, 0, 1 - strain}});
}

TEST(PeriodicRemake, ASmallChangeKeepsTheOrders) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  const PeriodicTables before = make_periodic_tables(slightly_changed(0), kernel, 1e-5);
  PeriodicTables now = before;
  for (int step = 1; step <= 10; ++step) now = remake_periodic_tables(now, slightly_changed(0.003 * step), kernel);
  EXPECT_EQ(now.far.orders, before.far.orders);
  EXPECT_EQ(now.grid.orders(), before.grid.orders());
  EXPECT_EQ(now.shape.rows, before.cell.rows);
  EXPECT_LE(now.mismatch, 0.3e-5);
  EXPECT_LT(now.evaluations, before.evaluations);
  // The sums are those of tables made for the cell.
  const PeriodicTables anew = make_periodic_tables(slightly_changed(0.03), kernel, 1e-5);
  const std::vector<CellVector> positions{{0.1, 0.2, 0.3}, {-0.4, 0.3, -0.2}};
  const auto sums = [&](const PeriodicTables& tables) {
    return test::periodic_sums(tables, kernel, positions, positions, {1, 2}, true, test::FarBy::Grid);
  };
  for (std::size_t k = 0; k < 8; ++k) EXPECT_NEAR(sums(now)[k], sums(anew)[k], 200e-5 * 0.1);
}

TEST(PeriodicRemake, AnotherShapeChoosesAgain) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  const PeriodicTables before = make_periodic_tables(slightly_changed(0), kernel, 1e-5);
  const PeriodicTables slanted = remake_periodic_tables(before, slightly_changed(0, 0.4), kernel);
  EXPECT_EQ(slanted.shape.rows, slanted.cell.rows);
  const PeriodicTables anew = make_periodic_tables(slightly_changed(0, 0.4), kernel, 1e-5);
  EXPECT_EQ(slanted.far.values, anew.far.values);
  EXPECT_EQ(slanted.grid.orders(), anew.grid.orders());
}

TEST(PeriodicRemake, NearImagesStayWhereTheirNumberWouldChange) {
  const auto longer = [](double side) {
    return make_periodic_cell(3, std::vector<CellVector>{{1, 0, 0}, {0, 1, 0}, {0, 0, side}});
  };
  const PeriodicCell first = longer(2.49), next = longer(2.51);
  ASSERT_NE(first.near_reach, next.near_reach);
  const PeriodicKernel kernel = test::power_kernel(3, 1);
  const PeriodicTables before = make_periodic_tables(first, kernel, 1e-5);
  const PeriodicTables now = remake_periodic_tables(before, next, kernel);
  EXPECT_EQ(now.cell.near_reach, first.near_reach);
  EXPECT_EQ(now.cell.rows, next.rows);
  EXPECT_EQ(now.grid.orders(), before.grid.orders());
}

// A param of the kernel may have changed with the cell.
TEST(PeriodicRemake, DecayAndMismatchAreMeasuredAgain) {
  const auto power = [](double p) { return test::power_kernel(3, p); };
  const PeriodicTables before = make_periodic_tables(slightly_changed(0), power(1), 1e-7);
  const PeriodicTables now = remake_periodic_tables(before, slightly_changed(0), power(4));
  EXPECT_NEAR(now.components[0].decay, 4, 1e-9);
  EXPECT_EQ(now.components[0].convention, PeriodicConvention::Converges);
  EXPECT_LE(now.mismatch, 0.3e-7);
  EXPECT_NEAR(test::periodic_sums(now, power(4), {{0, 0, 0}}, {{0, 0, 0}}, {1}, true)[0], 16.532315959762, 1e-5);
}

}  // namespace
}  // namespace nbcc
