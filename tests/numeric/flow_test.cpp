// Point forces in a viscous fluid and vortex elements against symmetric arrangements with closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

constexpr double kPi = std::numbers::pi;

// Vertices of an icosahedron of circumradius `a` around the origin.
std::vector<double> icosahedron(double a) {
  const double golden = std::numbers::phi, scale = a / std::sqrt(1 + golden * golden);
  std::vector<double> x;
  for (const double one : {-scale, scale}) {
    for (const double phi : {-golden * scale, golden * scale}) {
      x.insert(x.end(), {0, one, phi, one, phi, 0, phi, 0, one});
    }
  }
  return x;
}

// The twelve vertices average a direction's dyad to a third of the unit: u = F / (6 pi mu a), Stokes' law.
TEST(Stokeslet, TwelveForcesOnAnIcosahedron) {
  const double a = 1.75, mu = 0.8;
  Particles p{.ni = 1, .nj = 12};
  p.fields = {{"xi", {0, 0, 0}}, {"xj", icosahedron(a)}};
  const std::vector<double> force{1, -2, 0.5};
  for (int k = 0; k < 12; ++k)
    p.fields["fj"].insert(p.fields["fj"].end(), {force[0] / 12, force[1] / 12, force[2] / 12});
  p.params = {{"mu", {mu}}};
  std::vector<double> expected;
  for (const double f : force) expected.push_back(f / (6 * kPi * mu * a));
  const Oracle oracle("stokeslet");
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    expect_within(sum("stokeslet", p, {.precision = precision}).at("u"), expected, oracle.bounds(p, precision).at("u"),
                  "u");
  }
}

TEST(Stokeslet, ABlobMovesItself) {
  const double eps = 0.25, mu = 2;
  Particles p{.ni = 1, .nj = 1};
  p.fields = {{"xi", {1, 2, 3}}, {"xj", {1, 2, 3}}, {"fj", {1, 2, -4}}};
  p.params = {{"mu", {mu}}, {"eps2", {eps * eps}}};
  const double mobility = 1 / (4 * kPi * mu * eps);
  expect_within(sum("stokeslet", p).at("u"), {mobility, 2 * mobility, -4 * mobility}, 1e-14, "u");
  p.params.erase("eps2");
  expect_within(sum("stokeslet", p).at("u"), {0, 0, 0}, 0, "u of a bare force on itself");
}

// u . x vanishes on average over a sphere around the forces: no fluid is made. Simplest exact case: one force, where
// the radial part is 2 f . x / (8 pi mu r^2) and the part across half of that.
TEST(Stokeslet, OneForceAlongAndAcross) {
  Particles p{.ni = 2, .nj = 1};
  p.fields = {{"xi", {2, 0, 0, 0, 2, 0}}, {"xj", {0, 0, 0}}, {"fj", {1, 0, 0}}};
  expect_within(sum("stokeslet", p).at("u"), {1 / (8 * kPi), 0, 0, 1 / (16 * kPi), 0, 0}, 1e-16, "u");
}

// A ring of N elements has on its axis the velocity of the whole ring, for any N.
TEST(BiotSavart, ARingOnItsAxis) {
  const double radius = 1.5, circulation = 2;
  for (const int n : {2, 3, 10, 127}) {
    Particles p{.ni = 3, .nj = n};
    p.fields["xi"] = {0, 0, 0, 0, 0, 1, 0, 0, -2.5};
    for (int k = 0; k < n; ++k) {
      const double angle = 2 * kPi * k / n, length = circulation * 2 * kPi * radius / n;
      p.fields["xj"].insert(p.fields["xj"].end(), {radius * std::cos(angle), radius * std::sin(angle), 0});
      p.fields["gj"].insert(p.fields["gj"].end(), {-length * std::sin(angle), length * std::cos(angle), 0});
    }
    // No element's term is larger than the sum in the middle, circulation / (2 radius).
    std::vector<double> expected;
    for (const double z : {0.0, 1.0, -2.5}) {
      const double u = circulation * radius * radius / (2 * std::pow(radius * radius + z * z, 1.5));
      expected.insert(expected.end(), {0, 0, u});
    }
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
      expect_within(sum("biot_savart", p, {.precision = precision}).at("u"), expected,
                    kRoundings * epsilon(precision) * circulation / radius, "u");
    }
  }
}

TEST(BiotSavart, SmoothingReplacesTheDistance) {
  Particles p{.ni = 1, .nj = 1};
  p.fields = {{"xi", {0, 2, 0}}, {"xj", {0, 0, 0}}, {"gj", {3, 0, 0}}};
  p.params = {{"eps2", {5}}};
  expect_within(sum("biot_savart", p).at("u"), {0, 0, 6 / (4 * kPi * 27)}, 1e-16, "u");
  p.params.clear();
  p.fields["xi"] = {0, 0, 0};
  expect_within(sum("biot_savart", p).at("u"), {0, 0, 0}, 0, "u of a bare element on itself");
}

}  // namespace
}  // namespace nbcc::test
