// The panels of a cube, their Gauss points, and the two ways to sum their potential.
#include "examples/capacitance/potential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

namespace examples {
namespace {

double integral(const GaussPoints& points, const std::function<double(const double*)>& function) {
  double sum = 0;
  for (std::size_t p = 0; p < points.weight.size(); ++p) sum += points.weight[p] * function(&points.position[3 * p]);
  return sum;
}

// Three points along each side are exact up to the fifth power of each coordinate.
TEST(CapacitancePanels, GaussPointsIntegratePolynomialsOverTheCube) {
  const Panels panels = cube(3);
  const GaussPoints points = gauss_points(panels);
  ASSERT_EQ(points.weight.size(), kPointsPerPanel * panels.size());
  const double bound = 486 * 6 * 1.2e-16;  // 486 points, each with a rounding of a sum of at most 6
  EXPECT_NEAR(integral(points, [](const double*) { return 1.0; }), 6, bound);
  // x^5 y^4: 1/5 on the face x = 1, 1/6 on y = 1, 0 on x = 0 and y = 0, 1/30 on z = 0 and z = 1.
  EXPECT_NEAR(integral(points, [](const double* x) { return std::pow(x[0], 5) * std::pow(x[1], 4); }),
              1.0 / 5 + 1.0 / 6 + 2.0 / 30, bound);
}

TEST(CapacitancePanels, OwnPotentialIsThatOfThePipeline) {
  const Panels panels = cube(5);
  const Numbers own = own_potential(panels);
  PanelPotential potential(nbcc::Device("cpu"), panels, 0);
  for (const std::size_t j : {0, 1, 12, 149}) {
    Numbers sigma(panels.size()), sum(panels.size());
    sigma[j] = 1;
    potential.sum(sigma, sum);
    EXPECT_NEAR(sum[j], own[j], 1e-14) << "panel " << j;
  }
}

// The root mean square, over at most 256 centres, of the error relative to the sum.
double error_of_sum(PanelPotential& potential) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> density(0.5, 1.5);
  Numbers sigma(potential.panels().size()), sum(sigma.size());
  for (double& value : sigma) value = density(random);
  potential.sum(sigma, sum);
  std::vector<std::int64_t> centres(sigma.size());
  std::iota(centres.begin(), centres.end(), 0);
  std::shuffle(centres.begin(), centres.end(), random);
  centres.resize(std::min<std::size_t>(256, centres.size()));
  const Numbers exact = potential.sum_exactly(sigma, centres);
  double squares = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) squares += std::pow(sum[std::size_t(centres[k])] / exact[k] - 1, 2);
  return std::sqrt(squares / double(exact.size()));
}

// Few panels: points and near panels run over all pairs, which leaves the error of the quadrature and of rounding. It
// is below half of the tolerance, and with 12 panels along an edge below 3e-7 for any.
TEST(CapacitanceToATolerance, FewPanelsHaveTheErrorOfTheQuadrature) {
  for (const int n : {2, 4, 12}) {
    for (const double tolerance : {1e-4, 2e-6, 2e-7, 1e-8}) {
      PanelPotential potential(nbcc::Device("cpu"), cube(n), tolerance);
      EXPECT_LE(error_of_sum(potential), std::min(0.5 * tolerance, n == 12 ? 3e-7 : 1)) << n << ", " << tolerance;
    }
  }
}

void expect_far_field(const nbcc::Device& device) {
  for (const double tolerance : {1e-4, 1e-6}) {
    PanelPotential potential(device, cube(64), tolerance);
    // The far field has the tolerance, and the quadrature half of it.
    EXPECT_LE(error_of_sum(potential), 1.5 * tolerance) << device.name();
    EXPECT_GT(potential.far_statistics().order, 0) << potential.far_statistics().reason;
    EXPECT_STREQ(potential.near_statistics().method, "search");
  }
}

TEST(CapacitanceToATolerance, ManyPanelsHaveAFarFieldAndASearch) { expect_far_field(nbcc::Device("cpu")); }

TEST(CapacitanceToATolerance, ListsOfNearPanelsAreKept) {
  PanelPotential potential(nbcc::Device("cpu"), cube(30), 1e-5);
  error_of_sum(potential);
  error_of_sum(potential);
  const nbcc_statistics near = potential.near_statistics();
  EXPECT_EQ(near.runs, 2);
  EXPECT_EQ(near.searches, 1);
}

TEST(CapacitanceOnGpu, ManyPanelsHaveAFarFieldAndASearch) {
  try {
    expect_far_field(nbcc::Device("cuda"));
  } catch (const nbcc::Error& error) {
    if (error.status() != NBCC_ERROR_DEVICE) throw;
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace examples
