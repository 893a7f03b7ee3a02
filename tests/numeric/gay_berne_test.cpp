// The Gay-Berne potential: its energy as first published, forces and torques as derivatives of that, its known wells,
// and what it conserves.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numeric>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

using Complex = std::complex<double>;
using Vector = std::array<Complex, 3>;

Complex dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct Shape {
  double sigma0, epsilon0, kappa, kappa_prime, mu, nu;
};

// u of two particles as Gay and Berne (1981) print it, of complex numbers: an imaginary part of
// 1e-100 in one coordinate comes out as 1e-100 times the derivative by it, without a difference of near numbers.
Complex energy_of(const Shape& shape, const Vector& apart, const Vector& ui, const Vector& uj) {
  const Complex r = std::sqrt(dot(apart, apart)), li = std::sqrt(dot(ui, ui)), lj = std::sqrt(dot(uj, uj));
  const Complex a = dot(apart, ui) / (r * li), b = dot(apart, uj) / (r * lj), c = dot(ui, uj) / (li * lj);
  const double chi = (shape.kappa * shape.kappa - 1) / (shape.kappa * shape.kappa + 1);
  const double root = std::pow(shape.kappa_prime, 1 / shape.mu), chi_prime = (root - 1) / (root + 1);
  const auto both = [&](double x) {
    return 1. - x / 2 * ((a + b) * (a + b) / (1. + x * c) + (a - b) * (a - b) / (1. - x * c));
  };
  const Complex sigma = shape.sigma0 / std::sqrt(both(chi));
  const Complex eps =
      shape.epsilon0 * std::pow(1. / std::sqrt(1. - chi * chi * c * c), shape.nu) * std::pow(both(chi_prime), shape.mu);
  const Complex reduced = shape.sigma0 / (r - sigma + shape.sigma0);
  return 4. * eps * (std::pow(reduced, 12) - std::pow(reduced, 6));
}

struct Sums {
  std::vector<double> force, torque, energy, virial;
};

Sums sums_of(const Shape& shape, const Particles& p, double rc, double length) {
  constexpr double kStep = 1e-100;
  const std::vector<double>&x = p.fields.at("xi"), &u = p.fields.at("ui");
  Sums all;
  for (std::size_t i = 0; i < std::size_t(p.ni); ++i) {
    double force[3] = {}, slope[3] = {}, energy = 0, virial = 0;
    for (std::size_t j = 0; j < std::size_t(p.nj); ++j) {
      if (i == j) continue;
      Vector apart, ui, uj;
      for (std::size_t c = 0; c < 3; ++c) {
        const double d = x[3 * i + c] - x[3 * j + c];
        apart[c] = d - length * std::round(d / length);
        ui[c] = u[3 * i + c];
        uj[c] = u[3 * j + c];
      }
      if (dot(apart, apart).real() >= rc * rc) continue;
      energy += energy_of(shape, apart, ui, uj).real() / 2;
      for (std::size_t c = 0; c < 3; ++c) {
        Vector moved = apart, turned = ui;
        moved[c] += Complex(0, kStep);
        turned[c] += Complex(0, kStep);
        const double by_x = energy_of(shape, moved, ui, uj).imag() / kStep;
        force[c] -= by_x;
        virial -= apart[c].real() * by_x / 2;
        slope[c] += energy_of(shape, apart, turned, uj).imag() / kStep;
      }
    }
    all.force.insert(all.force.end(), force, force + 3);
    const double* axis = &u[3 * i];
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
      all.torque.push_back(axis[e] * slope[d] - axis[d] * slope[e]);
    }
    all.energy.push_back(energy);
    all.virial.push_back(virial);
  }
  return all;
}

void expect_sums(Particles p, const Shape& shape, double rc, double length) {
  p.params = {{"sigma0", {shape.sigma0}},
              {"epsilon0", {shape.epsilon0}},
              {"kappa", {shape.kappa}},
              {"kappa_prime", {shape.kappa_prime}},
              {"mu", {shape.mu}},
              {"nu", {shape.nu}},
              {"rc", {rc}},
              {"box", {length, length, length}}};
  const Sums expected = sums_of(shape, p, rc, length);
  const Oracle oracle("gay_berne");
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("gay_berne", p, {.precision = precision}), bounds = oracle.bounds(p, precision);
    expect_within(out.at("force"), expected.force, bounds.at("force"), "force");
    expect_within(out.at("torque"), expected.torque, bounds.at("torque"), "torque");
    expect_within(out.at("energy"), expected.energy, bounds.at("energy"), "energy");
    expect_within(out.at("virial"), expected.virial, bounds.at("virial"), "virial");
  }
}

// Rods of length 0.9 on a cubic lattice of spacing 1, each moved by less than 0.1: close, but not inside each other.
Particles rods() {
  Generator generator(/*seed=*/5);
  Particles p{.ni = 125, .nj = 125};
  for (int k = 0; k < 125; ++k) {
    for (const int cell : {k % 5, k / 5 % 5, k / 25}) {
      p.fields["xi"].push_back(cell + generator.on_grid(0, 0.0625, 1.0 / 1024));
      p.fields["ui"].push_back(generator.on_grid(-1, 1, 1.0 / 4096));
    }
  }
  p.fields["xj"] = p.fields["xi"];
  p.fields["uj"] = p.fields["ui"];
  return p;
}

TEST(GayBerne, RodsAgreeWithTheDerivativesOfTheEnergy) {
  expect_sums(rods(), {.sigma0 = 0.3125, .epsilon0 = 1.5, .kappa = 3, .kappa_prime = 5, .mu = 2, .nu = 1}, 1.9375, 5);
}

TEST(GayBerne, OtherExponentsToo) {
  expect_sums(rods(), {.sigma0 = 0.25, .epsilon0 = 1, .kappa = 4.4, .kappa_prime = 20, .mu = 1, .nu = 1}, 1.9375, 5);
  expect_sums(rods(), {.sigma0 = 0.25, .epsilon0 = 1, .kappa = 3, .kappa_prime = 5, .mu = 1, .nu = 3}, 1.9375, 5);
  expect_sums(rods(), {.sigma0 = 0.25, .epsilon0 = 1, .kappa = 2, .kappa_prime = 3, .mu = 1.5, .nu = -0.5}, 1.9375, 5);
}

TEST(GayBerne, DiscsAgreeWithTheDerivativesOfTheEnergy) {
  expect_sums(rods(), {.sigma0 = 0.75, .epsilon0 = 1, .kappa = 0.345, .kappa_prime = 0.2, .mu = 1, .nu = 2}, 1.9375, 5);
}

// Two particles at distance r along x.
Particles two(double r, std::vector<double> ui, const std::vector<double>& uj) {
  Particles p{.ni = 2, .nj = 2};
  p.fields["xi"] = p.fields["xj"] = {0, 0, 0, r, 0, 0};
  ui.insert(ui.end(), uj.begin(), uj.end());
  p.fields["ui"] = p.fields["uj"] = ui;
  return p;
}

// The wells of kappa = 3, kappa' = 5, mu = 2, nu = 1 lie at sigma + (2^(1/6) - 1) sigma0. End to end kappa' times less
// deep than side by side, (1 - chi^2)^(-1/2) = 5/3; of a T (1 - chi')^2, at (1 - chi)^(-1/2) = 5^(1/2).
TEST(GayBerne, TheWellsAreWhereTheyWerePublished) {
  struct Well {
    std::vector<double> ui, uj;
    double sigma, depth;
  };
  const double golden = (std::sqrt(5) - 1) / 2;  // 1 - chi'
  for (const Well& well :
       {Well{{0, 0, 1}, {0, 0, 1}, 1, 5. / 3}, Well{{0, 1, 0}, {0, 0, 1}, 1, 1}, Well{{1, 0, 0}, {1, 0, 0}, 3, 1. / 3},
        Well{{1, 0, 0}, {0, 1, 0}, std::sqrt(5), golden * golden}}) {
    const Values out = sum("gay_berne", two(well.sigma + std::pow(2, 1. / 6) - 1, well.ui, well.uj));
    EXPECT_NEAR(out.at("energy")[0] + out.at("energy")[1], -well.depth, 1e-14 * well.depth) << well.sigma;
    // R is known to a few roundings of 3, and the force's slope there is 24 * 12 * 2^(-7/6) times the depth.
    expect_within(out.at("force"), std::vector<double>(6), 1e-12, "force");
    expect_within(out.at("torque"), std::vector<double>(6), 1e-12, "torque");
    EXPECT_NEAR(sum("gay_berne", two(well.sigma, well.ui, well.uj)).at("energy")[0], 0, 1e-13);
  }
}

TEST(GayBerne, SpheresAreLennardJones) {
  Particles p = random_set(Oracle("lennard_jones").pipeline(), 200, /*seed=*/3);
  p.params.erase("shift");
  const Values expected = sum("lennard_jones", p), bounds = Oracle("lennard_jones").bounds(p, NBCC_DOUBLE);
  Generator generator(/*seed=*/7);
  for (int k = 0; k < 600; ++k) p.fields["ui"].push_back(generator.on_grid(-1, 1, 1.0 / 4096));
  p.fields["uj"] = p.fields["ui"];
  p.params["sigma0"] = p.params["sigma"];
  p.params["kappa"] = p.params["kappa_prime"] = {1};
  const Values out = sum("gay_berne", p), own_bounds = Oracle("gay_berne").bounds(p, NBCC_DOUBLE);
  for (const char* field : {"force", "energy", "virial"}) {
    std::vector<double> both = bounds.at(field);
    for (std::size_t k = 0; k < both.size(); ++k) both[k] += own_bounds.at(field)[k];
    expect_within(out.at(field), expected.at(field), both, field);
  }
  expect_within(out.at("torque"), std::vector<double>(600), own_bounds.at("torque"), "torque");
}

// In an open system neither momentum nor angular momentum comes from inside.
TEST(GayBerne, MomentaAreConserved) {
  const Particles p = rods();
  Particles scaled = p;
  scaled.params = {{"sigma0", {0.3125}}, {"rc", {1.9375}}};
  const Values out = sum("gay_berne", scaled), magnitudes = Oracle("gay_berne")(scaled).magnitudes;
  double momentum[3] = {}, angular[3] = {}, size = 0;
  for (std::size_t i = 0; i < 125; ++i) {
    const double *x = &p.fields.at("xi")[3 * i], *f = &out.at("force")[3 * i], *t = &out.at("torque")[3 * i];
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
      momentum[c] += f[c];
      angular[c] += x[d] * f[e] - x[e] * f[d] + t[c];
      size += 10 * magnitudes.at("force")[3 * i + c] + magnitudes.at("torque")[3 * i + c];
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(momentum[c], 0, kRoundings * epsilon(NBCC_DOUBLE) * size);
    EXPECT_NEAR(angular[c], 0, kRoundings * epsilon(NBCC_DOUBLE) * size);
  }
}

// End to end the pole is at r = 2. Inside of it the potential as printed falls again.
TEST(GayBerne, RodsInsideEachOtherArePushedApart) {
  const double deepest = 4. / 3 * (1e12 - 1e6);
  for (const double r : {2.05, 2.0, 1.5, 1.0}) {
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_DOUBLE}) {
      const Values out = sum("gay_berne", two(r, {1, 0, 0}, {1, 0, 0}), {.precision = precision});
      EXPECT_NEAR(out.at("energy")[0], deepest / 2, kRoundings * epsilon(precision) * deepest) << r;
      EXPECT_LT(out.at("force")[0], -1e13);
      EXPECT_GT(out.at("force")[3], 1e13);
    }
  }
}

}  // namespace
}  // namespace nbcc::test
