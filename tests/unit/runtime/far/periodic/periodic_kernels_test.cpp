// Periodic sums of kernels of many kinds: vectors, tensors, screened and softened ones; which convention they have.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "runtime/far/periodic/periodic_tables.h"
#include "tests/support/ewald_sums.h"
#include "tests/support/periodic_sums.h"
#include "tests/support/random_source.h"

namespace nbcc {
namespace {

using test::FarBy;

const std::vector<CellVector> kCube{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
const std::vector<CellVector> kTriclinic{{1, 0, 0}, {-0.3, 1.1, 0}, {-0.4, -0.35, 0.9}};

test::EwaldCell ewald_of(const std::vector<CellVector>& v) { return test::ewald_cell({v[0], v[1], v[2]}); }

std::vector<CellVector> random_positions(const std::vector<CellVector>& vectors, int count) {
  test::RandomSource random(9);
  std::vector<CellVector> positions(std::size_t(count), CellVector{});
  for (CellVector& position : positions)
    for (const CellVector& vector : vectors) {
      const double x = double(random.below(1000000)) / 1e6 - 0.5;
      for (std::size_t axis = 0; axis < 3; ++axis) position[axis] += x * vector[axis];
    }
  return positions;
}

// d_a d_b * of_square(r) + (a == b) * of_unit(r): 9 components [a][b], one group.
template <typename Square, typename Unit>
PeriodicKernel tensor_kernel(Square of_square, Unit of_unit) {
  return test::periodic_kernel(3, 9, [=](const CellVector& d, double* value) {
    const double r = std::sqrt(test::squared_length(d)), square = of_square(r), unit = of_unit(r);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) value[3 * a + b] = d[a] * d[b] * square + (a == b ? unit : 0);
  });
}
PeriodicKernel stokeslet() {
  return tensor_kernel([](double r) { return 1 / (r * r * r); }, [](double r) { return 1 / r; });
}
PeriodicKernel dipole() {
  return tensor_kernel([](double r) { return 3 / (r * r * r * r * r); }, [](double r) { return -1 / (r * r * r); });
}

// [axis][i]: the sums of a tensor kernel over vectors [axis][j].
std::vector<double> tensor_sums(const PeriodicTables& tables, const PeriodicKernel& kernel,
                                const std::vector<CellVector>& positions, const std::vector<double>& vectors,
                                FarBy by) {
  const std::size_t n = positions.size();
  std::vector<double> weights(9 * n), result(3 * n);
  for (std::size_t c = 0; c < 9; ++c)
    for (std::size_t j = 0; j < n; ++j) weights[c * n + j] = vectors[c % 3 * n + j];
  const std::vector<double> sums = test::periodic_sums(tables, kernel, positions, positions, weights, true, by);
  for (std::size_t c = 0; c < 9; ++c)
    for (std::size_t i = 0; i < n; ++i) result[c / 3 * n + i] += sums[c * n + i];
  return result;
}

std::vector<double> random_vectors(int count) {
  test::RandomSource random(3);
  std::vector<double> vectors(std::size_t(3 * count));
  for (double& x : vectors) x = double(random.below(1000)) / 500 - 1;
  return vectors;
}

TEST(PeriodicKernels, StokesletsMeetEwaldsSums) {
  const PeriodicKernel kernel = stokeslet();
  const std::vector<double> forces = random_vectors(10);
  for (const auto& vectors : {kCube, kTriclinic}) {
    const std::vector<CellVector> positions = random_positions(vectors, 10);
    const std::vector<double> exact = test::ewald_stokeslets(ewald_of(vectors), positions, forces);
    for (const double tolerance : {1e-5, 1e-8}) {
      const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, vectors), kernel, tolerance);
      for (const FarBy by : {FarBy::Function, FarBy::Grid}) {
        const std::vector<double> sums = tensor_sums(tables, kernel, positions, forces, by);
        // Sums of |terms| of the near images are some 1000.
        for (std::size_t k = 0; k < sums.size(); ++k) EXPECT_NEAR(sums[k], exact[k], 1000 * tolerance * 0.1);
      }
    }
  }
}

// The drag of dilute spheres in a lattice is 1 / (1 - K c^(1/3)) of that of one; K from the flow of the images of a
// point force at the force itself (Hasimoto 1959, of whose K 5 digits were known).
TEST(PeriodicKernels, DilutePeriodicSpheresHaveHasimotosDrag) {
  struct Lattice {
    std::vector<CellVector> vectors;
    double drag;
  };
  for (const Lattice& lattice :
       {Lattice{kCube, 1.76011888}, Lattice{{{-0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0.5, 0.5, -0.5}}, 1.79185851},
        Lattice{{{0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}, 1.79174723}}) {
    const PeriodicKernel kernel = stokeslet();
    const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, lattice.vectors), kernel, 1e-9);
    const std::vector<double> flow = tensor_sums(tables, kernel, {{0.2, 0.1, 0.3}}, {1, 0, 0}, FarBy::Function);
    const double size = std::cbrt(3 * tables.cell.volume / (4 * std::numbers::pi));
    EXPECT_NEAR(-0.75 * flow[0] * size, lattice.drag, 1e-8);
    EXPECT_NEAR(flow[1], 0, 1e-8);
  }
}

TEST(PeriodicKernels, DipolesAreSummedInGrowingSpheres) {
  const PeriodicKernel kernel = dipole();
  const std::vector<double> moments = random_vectors(8);
  for (const auto& vectors : {kCube, kTriclinic}) {
    const std::vector<CellVector> positions = random_positions(vectors, 8);
    const test::EwaldCell cell = ewald_of(vectors);
    const std::vector<double> tinfoil = test::ewald_dipoles(cell, positions, moments);
    const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, vectors), kernel, 1e-7);
    EXPECT_EQ(tables.components[0].convention, PeriodicConvention::GrowingSpheres);
    EXPECT_EQ(tables.components[1].convention, PeriodicConvention::GrowingSpheres);
    const std::vector<double> sums = tensor_sums(tables, kernel, positions, moments, FarBy::Grid);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double total = 0;
      for (std::size_t j = 0; j < 8; ++j) total += moments[axis * 8 + j];
      for (std::size_t i = 0; i < 8; ++i)
        EXPECT_NEAR(sums[axis * 8 + i], tinfoil[axis * 8 + i] - 4 * std::numbers::pi / (3 * cell.volume) * total, 1e-5);
    }
  }
}

TEST(PeriodicKernels, ScreenedPotentialsMeetEwaldsSums) {
  for (const double kappa : {0.03, 1.0, 6.0}) {
    const PeriodicKernel kernel = test::periodic_kernel(3, 1, [kappa](const CellVector& d, double* value) {
      const double r = std::sqrt(test::squared_length(d));
      value[0] = std::exp(-kappa * r) / r;
    });
    const std::vector<CellVector> positions = random_positions(kTriclinic, 10);
    const std::vector<double> weights{1, -1, 1, -1, 1, -1, 1, -1, 1, 1};
    const std::vector<double> exact = test::ewald_yukawa(ewald_of(kTriclinic), positions, weights, kappa);
    const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, kTriclinic), kernel, 1e-8);
    EXPECT_EQ(tables.components[0].convention, PeriodicConvention::Converges);
    const std::vector<double> sums =
        test::periodic_sums(tables, kernel, positions, positions, weights, true, FarBy::Grid);
    // The mode k = 0, 4 pi / (volume kappa^2), is known to 1e-10 of itself.
    for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(sums[i], exact[i], 1e-5) << kappa;
  }
}

// What is left of 1/r far away decides, at any tolerance: with a screening length of 10,000 cells the sum converges, to
// a constant that neutral weights do not see.
TEST(PeriodicKernels, WeakScreeningHasAConstantOfItsOwn) {
  const double kappa = 1e-4;
  const PeriodicKernel kernel = test::periodic_kernel(3, 1, [kappa](const CellVector& d, double* value) {
    const double r = std::sqrt(test::squared_length(d));
    value[0] = std::exp(-kappa * r) / r;
  });
  for (const double tolerance : {1e-3, 1e-8}) {
    const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, kCube), kernel, tolerance);
    EXPECT_EQ(tables.components[0].convention, PeriodicConvention::Converges);
    EXPECT_NEAR(tables.components[0].constant * kappa * kappa / (4 * std::numbers::pi), 1, 1e-5);
    const std::vector<CellVector> positions{{0, 0, 0},   {0.5, 0, 0},   {0.5, 0.5, 0},   {0, 0.5, 0},
                                            {0, 0, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0.5}, {0, 0.5, 0.5}};
    const std::vector<double> sums =
        test::periodic_sums(tables, kernel, positions, positions, {1, -1, 1, -1, -1, 1, -1, 1}, true, FarBy::Grid);
    // NaCl; the charge itself does not act, which would add -kappa.
    EXPECT_NEAR(sums[0], -2 * 1.747564594633182 + kappa, 30 * tolerance);
  }
}

// sum of 1 / sqrt(r^2 + e^2) without its mean, by its Fourier series 4 pi e K1(k e) / k.
TEST(PeriodicKernels, SoftenedPotentialsMeetTheirFourierSeries) {
  const double softening = 0.5;
  const PeriodicKernel kernel = test::periodic_kernel(3, 1, [=](const CellVector& d, double* value) {
    value[0] = 1 / std::sqrt(test::squared_length(d) + softening * softening);
  });
  const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, kCube), kernel, 1e-9);
  const CellVector at{0.3, -0.1, 0.4};
  double exact = 0;
  for (int a = -11; a <= 11; ++a)
    for (int b = -11; b <= 11; ++b)
      for (int c = -11; c <= 11; ++c) {
        const double k = 2 * std::numbers::pi * std::sqrt(double(a * a + b * b + c * c));
        if (k > 0)
          exact += 4 * std::numbers::pi * softening / k * std::cyl_bessel_k(1, k * softening) *
                   std::cos(2 * std::numbers::pi * (a * at[0] + b * at[1] + c * at[2]));
      }
  const std::vector<double> sums = test::periodic_sums(tables, kernel, {{0, 0, 0}}, {at}, {1}, false);
  EXPECT_NEAR(sums[0], exact, 1e-8);
}

PeriodicTables tables_of_radial(double (*of_r)(double), double tolerance = 1e-5) {
  return make_periodic_tables(
      make_periodic_cell(3, kCube),
      test::periodic_kernel(
          3, 1, [=](const CellVector& d, double* value) { value[0] = of_r(std::sqrt(test::squared_length(d))); }),
      tolerance);
}

TEST(PeriodicKernels, UnusualDecaysAreFollowed) {
  const auto convention = [](const PeriodicTables& tables) { return tables.components[0].convention; };
  EXPECT_EQ(convention(tables_of_radial([](double r) { return r; })), PeriodicConvention::MeanZero);
  EXPECT_EQ(convention(tables_of_radial([](double r) { return std::pow(r, 0.9); })), PeriodicConvention::MeanZero);
  EXPECT_EQ(convention(tables_of_radial([](double r) { return 1 / (r * std::log(2 + r)); })),
            PeriodicConvention::MeanZero);
  // Softened over 1000 cells: the first levels add less than later ones.
  const PeriodicTables softened = tables_of_radial([](double r) { return 1 / std::sqrt(r * r + 1e6); }, 1e-5);
  EXPECT_EQ(convention(softened), PeriodicConvention::MeanZero);
  EXPECT_LE(softened.mismatch, 1e-8);
  EXPECT_EQ(convention(tables_of_radial([](double r) { return std::pow(r * r + 0.01, -1.5); })),
            PeriodicConvention::MeanZero);
  EXPECT_EQ(convention(tables_of_radial([](double r) { return std::exp(-r * r); })), PeriodicConvention::Converges);
  EXPECT_EQ(convention(tables_of_radial([](double r) { return std::pow(r, -12); })), PeriodicConvention::Converges);
  const PeriodicTables nothing = tables_of_radial([](double) { return 0.0; });
  EXPECT_EQ(convention(nothing), PeriodicConvention::Converges);
  EXPECT_EQ(nothing.components[0].constant, 0);
}

// A weak tail adds nothing at the first levels and 8 pi * 1e-15 * 10000^3 in the end.
TEST(PeriodicKernels, WeakTailsAreSummed) {
  const PeriodicTables alone = tables_of_radial([](double r) { return std::exp(-r); });
  const PeriodicTables both = tables_of_radial([](double r) { return std::exp(-r) + 1e-15 * std::exp(-r / 10000); });
  EXPECT_NEAR(both.components[0].constant - alone.components[0].constant, 8e-3 * std::numbers::pi, 1e-5);
}

TEST(PeriodicKernels, KernelsWithoutAMeanNeedNeutralWeights) {
  for (const auto of_r :
       {+[](double r) { return std::pow(r, -3); }, +[](double r) { return 1 / r + std::pow(r, -6); }}) {
    const PeriodicTables tables = tables_of_radial(of_r);
    EXPECT_EQ(tables.components[0].convention, PeriodicConvention::NeutralOnly);
    EXPECT_EQ(require_neutral(tables.components[0], "mj", 1e-14, 1), "");
  }
  const PeriodicTables tables = tables_of_radial([](double r) { return std::pow(r, -3); });
  EXPECT_EQ(require_neutral(tables.components[0], "mj", 3.1, 5),
            "the sum of mj is 3.1, of magnitudes 5: terms that fall like r^-3 have a periodic sum only if it is 0");
  EXPECT_EQ(require_neutral(tables_of_radial([](double r) { return 1 / r; }).components[0], "mj", 3.1, 5), "");
}

// Neutral sums of r^-3 converge, slowly: beside sums over growing cubes of a cell of eight charges without dipole and
// quadrupole moments.
TEST(PeriodicKernels, NeutralSumsOfInverseCubesMeetSumsOverCubes) {
  const PeriodicKernel kernel = test::power_kernel(3, 3);
  const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, kCube), kernel, 1e-8);
  std::vector<CellVector> positions;
  std::vector<double> weights;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 2; ++c) {
        positions.push_back({a * 0.5, b * 0.5, c * 0.5});
        weights.push_back((a + b + c) % 2 == 0 ? 1 : -1);
      }
  const std::vector<double> sums =
      test::periodic_sums(tables, kernel, positions, positions, weights, true, FarBy::Grid);
  double exact = 0;  // alternating signs, halved at the faces (Evjen)
  constexpr int kHalf = 40;
  for (int a = -kHalf; a <= kHalf; ++a)
    for (int b = -kHalf; b <= kHalf; ++b)
      for (int c = -kHalf; c <= kHalf; ++c) {
        const double share = std::ldexp(1.0, -(std::abs(a) == kHalf) - (std::abs(b) == kHalf) - (std::abs(c) == kHalf));
        if (a != 0 || b != 0 || c != 0)
          exact += share * ((a + b + c) % 2 == 0 ? 1 : -1) * 8 * std::pow(a * a + b * b + c * c, -1.5);
      }
  EXPECT_NEAR(sums[0], exact, 1e-5);
}

TEST(PeriodicKernels, ComponentsHaveConventionsOfTheirOwn) {
  // Two outputs, and a kernel that is neither even nor odd.
  const PeriodicKernel kernel = test::periodic_kernel(3, 3,
                                                      [](const CellVector& d, double* value) {
                                                        const double r = std::sqrt(test::squared_length(d));
                                                        value[0] = 1 / r;
                                                        value[1] = std::pow(r, -6);
                                                        value[2] = (1 + d[0] / r) / r;
                                                      },
                                                      {0, 1, 2});
  const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, kCube), kernel, 1e-8);
  EXPECT_EQ(tables.components[0].convention, PeriodicConvention::MeanZero);
  EXPECT_EQ(tables.components[1].convention, PeriodicConvention::Converges);
  EXPECT_FALSE(tables.components[2].is_even || tables.components[2].is_odd);
  const std::vector<double> sums = test::periodic_sums(tables, kernel, {{0, 0, 0}}, {{0, 0, 0}}, {1}, true);
  EXPECT_NEAR(sums[0], -2.8372974794806, 1e-6);
  EXPECT_NEAR(sums[1], 8.401923974828, 1e-7);
  EXPECT_NEAR(sums[2], -2.8372974794806, 1e-6);  // the odd part vanishes at a lattice point
}

}  // namespace
}  // namespace nbcc
