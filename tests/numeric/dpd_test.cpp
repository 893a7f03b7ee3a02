// Repulsion and friction of dissipative particle dynamics against a loop that spells them out, what they conserve and
// what they do to the energy.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

Particles fluid(std::int64_t n) { return random_set(Oracle("dpd").pipeline(), n, /*seed=*/17); }

// The nearest copy of x_i - x_j.
double apart(const Particles& p, std::size_t i, std::size_t j, std::size_t c) {
  const double length = p.params.at("box")[c], d = p.fields.at("xi")[3 * i + c] - p.fields.at("xi")[3 * j + c];
  return d > length / 2 ? d - length : d < -length / 2 ? d + length : d;
}

TEST(Dpd, AgreesWithALoop) {
  Particles p = fluid(200);
  const double a = 18.5, gamma = 3.25, rc = 0.375;
  p.params["a"] = {a};
  p.params["gamma"] = {gamma};
  const std::vector<double>& v = p.fields.at("vi");
  std::vector<double> force, energy, virial;
  for (std::size_t i = 0; i < 200; ++i) {
    double f[3] = {}, u = 0, w = 0;
    for (std::size_t j = 0; j < 200; ++j) {
      const double d[3] = {apart(p, i, j, 0), apart(p, i, j, 1), apart(p, i, j, 2)};
      const double r = std::hypot(d[0], d[1], d[2]);
      if (i == j || r >= rc) continue;
      double speed = 0;  // at which they part
      for (std::size_t c = 0; c < 3; ++c) speed += (v[3 * i + c] - v[3 * j + c]) * d[c] / r;
      for (std::size_t c = 0; c < 3; ++c) {
        f[c] += a * (1 - r / rc) * d[c] / r;
        f[c] -= gamma * (1 - r / rc) * (1 - r / rc) * speed * d[c] / r;
      }
      u += a * (rc - r) * (rc - r) / (2 * rc) / 2;
      w += r * a * (rc - r) / rc / 2;
    }
    force.insert(force.end(), f, f + 3);
    energy.push_back(u);
    virial.push_back(w);
  }
  const Oracle oracle("dpd");
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("dpd", p, {.precision = precision}), bounds = oracle.bounds(p, precision);
    expect_within(out.at("force"), force, bounds.at("force"), "force");
    expect_within(out.at("energy"), energy, bounds.at("energy"), "energy");
    expect_within(out.at("virial"), virial, bounds.at("virial"), "virial");
  }
}

// The work of the friction is what the kinetic energy loses: never a gain, and nothing from motion of the whole.
TEST(Dpd, FrictionTakesEnergyAndNoMomentum) {
  Particles p = fluid(300);
  p.params["a"] = {0};
  const Values out = sum("dpd", p), magnitudes = Oracle("dpd")(p).magnitudes;
  double power = 0, momentum[3] = {}, size = 0;
  for (std::size_t k = 0; k < 900; ++k) {
    power += out.at("force")[k] * p.fields.at("vi")[k];
    momentum[k % 3] += out.at("force")[k];
    size += magnitudes.at("force")[k];
  }
  EXPECT_LT(power, -1);
  for (const double component : momentum) EXPECT_NEAR(component, 0, kRoundings * epsilon(NBCC_DOUBLE) * size);
  for (const char* side : {"vi", "vj"}) {
    for (std::size_t k = 0; k < 900; ++k) p.fields.at(side)[k] += 4;  // exact
  }
  EXPECT_EQ(sum("dpd", p).at("force"), out.at("force"));
}

TEST(Dpd, ParticlesInOnePlacePushEachOtherNowhere) {
  Particles p{.ni = 2, .nj = 2};
  p.fields["xi"] = p.fields["xj"] = {1, 2, 3, 1, 2, 3};
  p.fields["vi"] = p.fields["vj"] = {1, 0, 0, -1, 0, 0};
  const Values out = sum("dpd", p);
  EXPECT_EQ(out.at("force"), std::vector<double>(6));
  EXPECT_EQ(out.at("energy"), std::vector<double>(2, 25. / 4));
  EXPECT_EQ(out.at("virial"), std::vector<double>(2));
}

// Without correlations the excess pressure is pi a rho^2 / 30, Groot and Warren's estimate for a dense fluid: a lattice
// so fine that its sum is the integral stands for a fluid of any density.
TEST(Dpd, TheMeanFieldPressureIsGrootAndWarrens) {
  Particles p{.ni = 1, .nj = 0};
  const double spacing = 0.03125;
  for (int x = -32; x <= 32; ++x) {
    for (int y = -32; y <= 32; ++y) {
      for (int z = -32; z <= 32; ++z) {
        p.fields["xj"].insert(p.fields["xj"].end(), {spacing * x, spacing * y, spacing * z});
        ++p.nj;
      }
    }
  }
  p.fields["xi"] = {0, 0, 0};
  p.fields["vi"] = {0, 0, 0};
  p.fields["vj"].assign(std::size_t(3 * p.nj), 0);
  p.i_offset = p.nj;  // the point in the middle is another particle, of no virial
  p.params["a"] = {1};
  // W/(3V) with a virial of each particle for rho = 1: the cells have the volume that a particle stands for.
  const double pressure = sum("dpd", p).at("virial")[0] * spacing * spacing * spacing / 3;
  // The virial is continuous and has a kink where it ends: the lattice's sum is good to the square of the spacing.
  EXPECT_NEAR(pressure, std::numbers::pi / 30, spacing * spacing);
}

// The noise alone, of two particles at rest over many steps: along the line between them, opposite for both, of mean 0
// and of the variance 2 gamma kt / dt w^2, and of other numbers in every step. Bounds are five standard deviations.
TEST(Dpd, NoiseGoesWithFrictionAndKeepsMomentum) {
  Particles p{.ni = 2, .nj = 2};
  p.fields["xi"] = p.fields["xj"] = {0, 0, 0, 0, 0.5, 0};
  p.fields["vi"] = p.fields["vj"] = std::vector<double>(6);
  p.params["a"] = {0};
  p.params["kt"] = {1.5};
  p.params["dt"] = {0.02};
  constexpr int kSteps = 300;
  double mean = 0, square = 0, next = 0, last = 0;
  for (int step = 0; step < kSteps; ++step) {
    p.params["step"] = {double(step)};
    const std::vector<double> force = sum("dpd", p).at("force");
    for (const std::size_t c : {0, 2, 3, 5}) ASSERT_EQ(force[c], 0);
    ASSERT_EQ(force[1], -force[4]);
    const double theta = force[1] / (0.5 * std::sqrt(2 * 4.5 * 1.5 / 0.02));
    ASSERT_LT(std::fabs(theta), std::sqrt(3.0) * 1.000001);
    mean += theta / kSteps;
    square += theta * theta / kSteps;
    next += theta * last / kSteps;
    last = theta;
  }
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(kSteps));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(0.8 / kSteps));  // theta^4 has the mean 9/5
  EXPECT_NEAR(next, 0, 5 / std::sqrt(kSteps));
}

// Of many particles with all forces the sum vanishes as rounding lets it.
TEST(Dpd, NoiseKeepsTheMomentumOfAFluid) {
  Particles p = fluid(300);
  p.params["kt"] = {1};
  const Values out = sum("dpd", p), quiet = sum("dpd", fluid(300)), magnitudes = Oracle("dpd")(p).magnitudes;
  EXPECT_NE(out.at("force"), quiet.at("force"));
  double momentum[3] = {}, size = 0;
  for (std::size_t k = 0; k < 900; ++k) {
    momentum[k % 3] += out.at("force")[k];
    size += magnitudes.at("force")[k];
  }
  for (const double component : momentum) EXPECT_NEAR(component, 0, kRoundings * epsilon(NBCC_DOUBLE) * size);
}

}  // namespace
}  // namespace nbcc::test
