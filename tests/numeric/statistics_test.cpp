// Sums that count and compare: two-sample statistics, nearest neighbours, Gaussians on the integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/reference_data.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

double two_sample_statistic(const std::vector<double>& first, const std::vector<double>& second, const Choice& choice) {
  Particles p;
  std::vector<double>&x = p.fields["xj"], &w = p.fields["wj"];
  x = first;
  x.insert(x.end(), second.begin(), second.end());
  w.assign(first.size(), 1 / double(first.size()));
  w.resize(x.size(), -1 / double(second.size()));
  p.fields["xi"] = x;
  p.ni = p.nj = std::int64_t(x.size());
  double largest = 0;
  const Values found = sum("ks_statistic", p, choice);
  for (const double d : found.at("d")) largest = std::max(largest, std::fabs(d));
  return largest;
}

TEST(KolmogorovSmirnov, TwoSmallSamplesWithTies) {
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    EXPECT_NEAR(two_sample_statistic({1, 2}, {1, 2, 3}, {.precision = precision}), 1. / 3, epsilon(precision));
  }
}

TEST(KolmogorovSmirnov, TheDifferenceHasASign) {
  Particles p{.ni = 5, .nj = 5};
  p.fields = {{"xi", {0.5, 1, 1.5, 2, 3}}, {"xj", {1, 2, 1, 2, 3}}};
  p.fields["wj"] = {0.5, 0.5, -1. / 3, -1. / 3, -1. / 3};
  expect_within(sum("ks_statistic", p).at("d"), {0, 1. / 6, 1. / 6, 1. / 3, 0}, 1e-15, "d");
}

TEST(KolmogorovSmirnov, ThePublishedSamples) {
  NBCC_NEEDS_REFERENCE("ks/scipy_doc_rvs1.txt");
  const auto column = [](const std::string& name) {
    std::vector<double> values;
    for (const std::vector<double>& row : read_rows(reference_path("ks/" + name))) values.push_back(row.at(0));
    return values;
  };
  const std::vector<double> first = column("scipy_doc_rvs1.txt"), second = column("scipy_doc_rvs2.txt");
  ASSERT_EQ(first.size(), 200U);
  ASSERT_EQ(second.size(), 300U);
  // sum |w| is 2. The samples have no two values that meet in single precision.
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    EXPECT_NEAR(two_sample_statistic(first, second, {.precision = precision}), 0.20833333333333337,
                2 * kRoundings * epsilon(precision));
  }
}

// Poisson's summation formula turns a wide sum of Gaussians into a few cosines.
TEST(GaussianRbf, OnTheIntegersIsAThetaFunction) {
  const double sigma = 0.75;
  Particles p{.ni = 5, .nj = 41};
  for (const double x : {0.0, 0.125, 0.25, 0.5, 0.875}) p.fields["xi"].insert(p.fields["xi"].end(), {x, 0, 0});
  for (int n = -20; n <= 20; ++n) {
    p.fields["xj"].insert(p.fields["xj"].end(), {double(n), 0, 0});
    p.fields["wj"].push_back(1);
  }
  p.params = {{"sigma", {sigma}}};
  std::vector<double> expected;
  for (std::size_t i = 0; i < 5; ++i) {
    double waves = 1;
    for (int k = 1; k <= 4; ++k) {
      const double damping = 2 * std::numbers::pi * std::numbers::pi * sigma * sigma * k * k;
      waves += 2 * std::exp(-damping) * std::cos(2 * std::numbers::pi * k * p.fields["xi"][3 * i]);
    }
    expected.push_back(sigma * std::sqrt(2 * std::numbers::pi) * waves);
  }
  const Oracle oracle("gaussian_rbf");
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    expect_within(sum("gaussian_rbf", p, {.precision = precision}).at("s"), expected,
                  oracle.bounds(p, precision).at("s"), "s");
  }
}

TEST(GaussianRbf, OneStandardDeviationAway) {
  const Particles p{
      .ni = 1, .nj = 1, .fields = {{"xi", {1, 2, 3}}, {"xj", {1, 4, 3}}, {"wj", {-3}}}, .params = {{"sigma", {2}}}};
  EXPECT_NEAR(sum("gaussian_rbf", p).at("s")[0], -3 * std::exp(-0.5), 1e-15);
}

// Far Gaussians underflow to nothing, in every precision.
TEST(GaussianRbf, FarAwayItVanishes) {
  const Particles p{.ni = 1, .nj = 1, .fields = {{"xi", {0, 0, 0}}, {"xj", {1000, 0, 0}}, {"wj", {1}}}};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    EXPECT_EQ(sum("gaussian_rbf", p, {.precision = precision}).at("s")[0], 0);
  }
}

// Positions on a grid have many equal distances, of which the lowest index must win; their squares are exact.
void expect_nearest(Particles p, bool one_set) {
  p.params["self"] = {one_set ? 1.0 : 0.0};
  std::vector<double> near, dist;
  for (std::size_t i = 0; i < std::size_t(p.ni); ++i) {
    double best = std::numeric_limits<double>::infinity(), index = -1;
    for (std::size_t j = 0; j < std::size_t(p.nj); ++j) {
      double r2 = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double d = p.fields["xi"][3 * i + c] - p.fields["xj"][3 * j + c];
        r2 += d * d;
      }
      if (r2 < best && !(one_set && i == j)) {
        best = r2;
        index = double(j);
      }
    }
    near.push_back(index);
    dist.push_back(std::sqrt(best));
  }
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("nearest_neighbour", p, {.precision = precision});
    EXPECT_EQ(out.at("near"), near);
    for (std::size_t i = 0; i < dist.size(); ++i) EXPECT_NEAR(out.at("dist")[i], dist[i], dist[i] * epsilon(precision));
  }
}

// A coarse lattice of n points.
std::vector<double> lattice(std::int64_t n, std::uint64_t seed) {
  Generator generator(seed);
  std::vector<double> x;
  for (std::int64_t k = 0; k < 3 * n; ++k) x.push_back(generator.on_grid(0, 16, 1));
  return x;
}

TEST(NearestNeighbour, InOneSet) {
  const std::vector<double> x = lattice(700, 1);
  expect_nearest({.ni = 700, .nj = 700, .fields = {{"xi", x}, {"xj", x}}}, true);
}

TEST(NearestNeighbour, InAnotherSet) {
  expect_nearest({.ni = 300, .nj = 1000, .fields = {{"xi", lattice(300, 2)}, {"xj", lattice(1000, 3)}}}, false);
}

TEST(NearestNeighbour, ALoneParticleHasNone) {
  const Particles p{.ni = 1, .nj = 1, .fields = {{"xi", {1, 2, 3}}, {"xj", {1, 2, 3}}}};
  const Values out = sum("nearest_neighbour", p);
  EXPECT_EQ(out.at("near")[0], -1);
  EXPECT_EQ(out.at("dist")[0], std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace nbcc::test
