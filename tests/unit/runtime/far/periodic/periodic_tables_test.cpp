// Periodic sums against published constants of lattices: by the sum over far images itself, and through the grid.
#include "runtime/far/periodic/periodic_tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "tests/support/periodic_sums.h"

namespace nbcc {
namespace {

using test::FarBy;

PeriodicCell cube(double side, int near_reach = 0) {
  const std::vector<CellVector> vectors{{side, 0, 0}, {0, side, 0}, {0, 0, side}};
  return make_periodic_cell(3, vectors, {}, near_reach);
}
// The primitive cells of face-centred and body-centred cubes.
std::vector<CellVector> face_centred(double side) {
  return {{0, side / 2, side / 2}, {side / 2, 0, side / 2}, {side / 2, side / 2, 0}};
}
std::vector<CellVector> body_centred(double side) {
  return {{-side / 2, side / 2, side / 2}, {side / 2, -side / 2, side / 2}, {side / 2, side / 2, -side / 2}};
}

struct Crystal {
  const char* name;
  std::vector<CellVector> vectors, positions;
  std::vector<double> charges;
  double energy;  // of a cell; the nearest distance is 1
};

std::vector<Crystal> crystals() {
  const double caesium = 2 / std::sqrt(3.0), zinc = 4 / std::sqrt(3.0), quarter = zinc / 4;
  return {{"NaCl", face_centred(2), {{0, 0, 0}, {1, 0, 0}}, {1, -1}, -1.747564594633182},  // OEIS A085469
          {"CsCl",                                                                         // OEIS A181152
           {{caesium, 0, 0}, {0, caesium, 0}, {0, 0, caesium}},
           {{0, 0, 0}, {caesium / 2, caesium / 2, caesium / 2}},
           {1, -1},
           -1.762674773070988},
          {"zinc blende", face_centred(zinc), {{0, 0, 0}, {quarter, quarter, quarter}}, {1, -1}, -1.6380550533888},
          {"CaF2",
           face_centred(zinc),
           {{0, 0, 0}, {quarter, quarter, quarter}, {-quarter, -quarter, -quarter}},
           {2, -1, -1},
           -5.0387848798486}};
}

TEST(PeriodicTables, CrystalsHaveTheirMadelungConstants) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  for (const Crystal& crystal : crystals())
    for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
      const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, crystal.vectors), kernel, tolerance);
      for (const FarBy by : {FarBy::Function, FarBy::Grid}) {
        const std::vector<double> sums =
            test::periodic_sums(tables, kernel, crystal.positions, crystal.positions, crystal.charges, true, by);
        const std::size_t n = crystal.positions.size();
        double energy = 0;
        for (std::size_t i = 0; i < n; ++i) {
          energy += 0.5 * crystal.charges[i] * sums[i];
          for (std::size_t axis = 0; axis < 3; ++axis)
            EXPECT_NEAR(sums[(axis + 1) * n + i], 0, tolerance) << crystal.name;
        }
        // The promise is an error of tolerance * sum of |terms| of the near images, some 100; those of a crystal
        // cancel.
        EXPECT_NEAR(energy, crystal.energy, 3 * tolerance) << crystal.name << " " << tolerance;
      }
      EXPECT_LE(tables.mismatch, 0.3 * tolerance);
      EXPECT_LE(tables.pair_error, 0.3 * tolerance);
    }
}

double sum_of_images(const PeriodicTables& tables, const PeriodicKernel& kernel) {
  return test::periodic_sums(tables, kernel, {{0.1, 0.2, 0.3}}, {{0.1, 0.2, 0.3}}, {1}, true)[0];
}

TEST(PeriodicTables, RockSaltHasTenDigits) {
  const Crystal salt = crystals()[0];
  const PeriodicKernel kernel = test::power_kernel(3, 1);
  const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, salt.vectors), kernel, 1e-12);
  EXPECT_NEAR(test::periodic_sums(tables, kernel, salt.positions, salt.positions, salt.charges, true)[0], salt.energy,
              5e-11);
}

TEST(PeriodicTables, ChargesInABackgroundHaveTheirWignerConstants) {
  struct Lattice {
    std::vector<CellVector> vectors;
    double potential;  // by Ewald's sums
  };
  const PeriodicKernel kernel = test::coulomb_kernel();
  for (const Lattice& lattice :
       {Lattice{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, -2.8372974794806}, Lattice{body_centred(1), -3.6392334495086},
        Lattice{face_centred(1), -4.5848620741138}}) {
    const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, lattice.vectors), kernel, 1e-10);
    EXPECT_NEAR(sum_of_images(tables, kernel), lattice.potential, 1e-9);
    EXPECT_EQ(tables.components[0].convention, PeriodicConvention::MeanZero);
    EXPECT_NEAR(tables.components[0].decay, 1, 1e-12);
    EXPECT_TRUE(tables.components[0].is_even);
    EXPECT_TRUE(tables.components[1].is_odd);
    EXPECT_EQ(tables.components[1].constant, 0);
  }
}

// The sum of r^-p over a cubic lattice, where it does not converge the analytic continuation: Epstein's zeta function.
TEST(PeriodicTables, PowersHaveTheirLatticeSums) {
  struct Power {
    double p, sum;
  };
  for (const Power& power : {Power{-1, -0.266596278718}, Power{0.5, -1.702284196034}, Power{1.5, -4.822719934240},
                             Power{2, -8.913632917585}, Power{2.5, -21.391534098334}, Power{3.1, 129.500979022984},
                             Power{3.5, 29.029140991761}, Power{4, 16.532315959762}, Power{6, 8.401923974828}}) {
    const PeriodicKernel kernel = test::power_kernel(3, power.p);
    const PeriodicTables tables = make_periodic_tables(cube(1), kernel, 1e-9);
    // Near scales are from 10 to 300.
    EXPECT_NEAR(sum_of_images(tables, kernel), power.sum, 1e-8) << power.p;
    EXPECT_EQ(tables.components[0].convention,
              power.p > 3 ? PeriodicConvention::Converges : PeriodicConvention::MeanZero);
    EXPECT_NEAR(tables.components[0].decay, power.p, 1e-10);
    // Levels beyond the second are multiples of those before.
    EXPECT_LE(tables.evaluated_levels, 2);
  }
}

// In a plane -log r is the potential of a charge: -log(2 pi eta(i)^2) of its own images and background.
TEST(PeriodicTables, TheLogarithmHasItsSumInAPlane) {
  const PeriodicKernel kernel = test::periodic_kernel(
      2, 1, [](const CellVector& d, double* value) { value[0] = -0.5 * std::log(d[0] * d[0] + d[1] * d[1]); });
  const std::vector<CellVector> square{{1, 0, 0}, {0, 1, 0}};
  const PeriodicTables tables = make_periodic_tables(make_periodic_cell(2, square), kernel, 1e-12);
  EXPECT_NEAR(sum_of_images(tables, kernel), -1.3105329259115, 1e-11);
}

// On a line -|x| / 2 is the potential of a charge: (6 x^2 - 6 |x| + 1) / 12 with its images and background, half of the
// second Bernoulli polynomial.
TEST(PeriodicTables, TheDistanceHasItsSumOnALine) {
  const PeriodicKernel kernel =
      test::periodic_kernel(1, 1, [](const CellVector& d, double* value) { value[0] = -0.5 * std::fabs(d[0]); });
  const PeriodicTables tables =
      make_periodic_tables(make_periodic_cell(1, std::vector<CellVector>{{1, 0, 0}}), kernel, 1e-10);
  for (const double x : {0.0, 0.3, -0.45, 1.2}) {
    const double d = std::fabs(x - std::rint(x));
    const std::vector<double> sums =
        test::periodic_sums(tables, kernel, {{0, 0, 0}}, {{x, 0, 0}}, {1}, false, FarBy::Grid);
    EXPECT_NEAR(sums[0], 0.5 * d * d - 0.5 * d + 1.0 / 12, 1e-9) << x;
  }
}

// -log r along a row of images in a plane: -log(2 cosh(2 pi y) - 2 cos(2 pi x)) / 2, but for a constant.
TEST(PeriodicTables, TheLogarithmHasItsSumAlongARow) {
  const PeriodicKernel kernel = test::periodic_kernel(
      2, 1, [](const CellVector& d, double* value) { value[0] = -0.5 * std::log(d[0] * d[0] + d[1] * d[1]); });
  const std::vector<OpenExtent> extent{{-0.6, 0.6}};
  const PeriodicTables tables =
      make_periodic_tables(make_periodic_cell(2, std::vector<CellVector>{{1, 0, 0}}, extent), kernel, 1e-9);
  EXPECT_EQ(tables.components[0].convention, PeriodicConvention::UpToConstant);
  const std::vector<CellVector> of_j{{0.2, 0.5, 0}, {-0.3, -0.6, 0}};
  const std::vector<double> sums =
      test::periodic_sums(tables, kernel, {{0.1, 0.3, 0}}, of_j, {1, -1}, false, FarBy::Grid);
  double exact = 0;
  for (std::size_t j = 0; j < 2; ++j)
    exact -= (j == 0 ? 0.5 : -0.5) * std::log(2 * std::cosh(2 * std::numbers::pi * (of_j[j][1] - 0.3)) -
                                              2 * std::cos(2 * std::numbers::pi * (of_j[j][0] - 0.1)));
  EXPECT_NEAR(sums[0], exact, 1e-8);
}

TEST(PeriodicTables, SumsDoNotDependOnTheNumberOfNearImages) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  const std::vector<CellVector> positions{{0.1, 0.2, 0.3}, {0.45, -0.4, 0.2}, {-0.3, 0.1, -0.45}};
  const std::vector<double> weights{1, 2, -0.5};
  std::vector<std::vector<double>> sums;
  for (const int reach : {1, 2, 3}) {
    const PeriodicTables tables = make_periodic_tables(cube(1, reach), kernel, 1e-8);
    EXPECT_EQ(tables.cell.near_images().size(), std::size_t(std::pow(2 * reach + 1, 3)));
    sums.push_back(test::periodic_sums(tables, kernel, positions, positions, weights, true, FarBy::Grid));
  }
  for (std::size_t k = 0; k < sums[0].size(); ++k) {
    EXPECT_NEAR(sums[0][k], sums[1][k], 1e-6);
    EXPECT_NEAR(sums[2][k], sums[1][k], 1e-6);
  }
}

TEST(PeriodicTables, TheGridInterpolatesWithinThePairError) {
  for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
    const PeriodicTables tables = make_periodic_tables(cube(1), test::coulomb_kernel(), tolerance);
    const CellVector i{-0.47, 0.31, 0.49}, j{0.48, -0.2, -0.49};
    const std::vector<double> matrix = far_operator(tables, tables.grid);
    const auto n = std::size_t(tables.grid.points());
    std::vector<double> of_i(n), of_j(n);
    tables.grid.weights(i, of_i);
    tables.grid.weights(j, of_j);
    const CellVector d{j[0] - i[0], j[1] - i[1], j[2] - i[2]};
    const std::vector<double> exact = tables.far.evaluate(1, 3, d.data());
    for (std::size_t c = 0; c < 4; ++c) {
      double sum = 0;
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) sum += of_i[a] * of_j[b] * matrix[(c * n + a) * n + b];
      // The near images have potentials of 90 and fields of 90.
      EXPECT_NEAR(sum, exact[c], 2 * 90 * tables.pair_error) << tolerance << " " << c;
      EXPECT_NE(sum, exact[c]);
    }
  }
}

}  // namespace
}  // namespace nbcc
