// Matern kernels against their definition by a Bessel function, and what they are at 0 and for other smoothness.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

// k(r) = 2^(1-nu)/Gamma(nu) q^nu K_nu(q), q = (2 nu)^(1/2) r / ell, for any nu > 0.
double by_definition(double nu, double r, double ell) {
  const double q = std::sqrt(2 * nu) * r / ell;
  return q == 0 ? 1 : std::pow(2, 1 - nu) / std::tgamma(nu) * std::pow(q, nu) * std::cyl_bessel_k(nu, q);
}

TEST(Matern, AgreesWithTheBesselFunction) {
  const Oracle oracle("matern");
  Particles p = random_particles(oracle.pipeline(), 40, 300, /*seed=*/5);
  const double ell = 0.75;
  p.params["ell"] = {ell};
  for (const int twice_nu : {1, 3, 5}) {
    p.params["twice_nu"] = {double(twice_nu)};
    std::vector<double> expected, slack;
    for (std::size_t i = 0; i < 40; ++i) {
      double s = 0, size = 0;
      for (std::size_t j = 0; j < 300; ++j) {
        const double *x = &p.fields["xi"][3 * i], *y = &p.fields["xj"][3 * j];
        const double term = by_definition(twice_nu / 2., std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]), ell);
        s += p.fields["wj"][j] * term;
        size += std::fabs(p.fields["wj"][j] * term);
      }
      expected.push_back(s);
      slack.push_back(kRoundings * epsilon(NBCC_DOUBLE) * size);  // of the Bessel function
    }
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
      std::vector<double> bounds = oracle.bounds(p, precision).at("s");
      for (std::size_t i = 0; i < 40; ++i) bounds[i] += slack[i];
      expect_within(sum("matern", p, {.precision = precision}).at("s"), expected, bounds, "s");
    }
  }
}

TEST(Matern, IsOneWhereTheDistanceIsNone) {
  Particles p{.ni = 1, .nj = 2, .fields = {{"xi", {1, 2, 3}}, {"xj", {1, 2, 3, 1, 2, 3}}, {"wj", {0.25, 0.5}}}};
  for (const int twice_nu : {1, 3, 5}) {
    p.params["twice_nu"] = {double(twice_nu)};
    EXPECT_EQ(sum("matern", p).at("s")[0], 0.75);
  }
}

TEST(Matern, AnotherSmoothnessIsNoNumber) {
  Particles p{.ni = 1, .nj = 1, .fields = {{"xi", {1, 2, 3}}, {"xj", {1, 2, 4}}, {"wj", {1}}}};
  for (const int twice_nu : {-1, 0, 2, 4, 7}) {
    p.params["twice_nu"] = {double(twice_nu)};
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_DOUBLE})
      EXPECT_TRUE(std::isnan(sum("matern", p, {.precision = precision}).at("s")[0])) << twice_nu;
  }
}

}  // namespace
}  // namespace nbcc::test
