// SPH densities on lattices and against their kernels' normalisation; SPH forces against conservation and a loop that
// spells the equations out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/quadrature.h"
#include "tests/support/random_particles.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

constexpr double kPi = std::numbers::pi;

// One point in a unit cubic lattice of unit masses that reaches beyond its support.
Particles in_a_lattice(double h) {
  Particles p;
  p.ni = 1;
  p.fields = {{"xi", {0, 0, 0}}, {"hi", {h}}};
  for (int x = -4; x <= 4; ++x) {
    for (int y = -4; y <= 4; ++y) {
      for (int z = -4; z <= 4; ++z) {
        p.fields["xj"].insert(p.fields["xj"].end(), {double(x), double(y), double(z)});
        p.fields["mj"].push_back(1);
        ++p.nj;
      }
    }
  }
  return p;
}

void expect_lattice_density(const std::string& pipeline, double h, double published, double bound, double neighbours) {
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum(pipeline, in_a_lattice(h), {.precision = precision});
    EXPECT_NEAR(out.at("rho")[0], published, std::max(bound, kRoundings * epsilon(precision)));
    EXPECT_EQ(out.at("nnb")[0], neighbours);
  }
}

TEST(SphDensity, CubicSplineOnALattice) {
  expect_lattice_density("sph_density", 1.2, 1.000809548358436, 1e-14, 57);
  expect_lattice_density("sph_density", 1.5, 1.001794705350405, 1e-14, 93);
}

// At h = 1.5 six neighbours lie exactly on the edge of the support, where they no longer count.
TEST(SphDensity, TheEdgeOfTheSupportIsOutside) {
  for (const char* pipeline : {"sph_density", "sph_density_wendland"}) {
    EXPECT_EQ(sum(pipeline, in_a_lattice(1.5)).at("nnb")[0], 93) << pipeline;
  }
}

TEST(SphDensity, WendlandOnALattice) {
  expect_lattice_density("sph_density_wendland", 1.2, 1.0174569256335, 5e-14, 57);
}

// Shells of mass 4 pi r^2 dr integrate W to 1; Gauss-Legendre is exact, as both kernels are piecewise polynomials.
TEST(SphDensity, KernelsAreNormalised) {
  const double h = 0.75;
  Particles p;
  p.ni = 1;
  p.fields = {{"xi", {0.5, -1, 2}}, {"hi", {h}}};
  for (const double from : {0.0, h}) {
    for (const Node& r : gauss_legendre(8, from, from + h)) {
      p.fields["xj"].insert(p.fields["xj"].end(), {0.5 + r.at, -1, 2});
      p.fields["mj"].push_back(4 * kPi * r.at * r.at * r.weight);
      ++p.nj;
    }
  }
  for (const char* pipeline : {"sph_density", "sph_density_wendland"}) {
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
      const Values out = sum(pipeline, p, {.precision = precision});
      EXPECT_NEAR(out.at("rho")[0], 1, kRoundings * epsilon(precision)) << pipeline;
      // A uniform medium's density does not depend on h.
      EXPECT_NEAR(out.at("omega")[0], 1, kRoundings * epsilon(precision)) << pipeline;
      EXPECT_EQ(out.at("nnb")[0], 16) << pipeline;
    }
  }
}

// omega = 1 + h/(3 rho) drho/dh, the derivative by differences of the density itself. The unit of mass drops out.
TEST(SphDensity, OmegaIsTheDerivativeByH) {
  const double h = 1.3, step = 1e-4;
  const auto at = [](double h_now, double mass) {
    Particles p = in_a_lattice(h_now);
    p.fields["mj"].assign(p.fields["mj"].size(), mass);
    return p;
  };
  for (const char* pipeline : {"sph_density", "sph_density_wendland"}) {
    Summation density(pipeline);
    for (const double mass : {1.0, 1e-3}) {
      const Values now = density(at(h, mass));
      const double less = density(at(h - step, mass)).at("rho")[0], more = density(at(h + step, mass)).at("rho")[0];
      // The error of the difference is step^2/6 rho'''.
      EXPECT_NEAR(now.at("omega")[0], 1 + h / (3 * now.at("rho")[0]) * (more - less) / (2 * step), 1e-7) << pipeline;
    }
  }
}

TEST(SphDensity, FarFromEverythingThereIsNone) {
  Particles p = in_a_lattice(1.2);
  p.fields["xi"] = {100, 0, 0};
  for (const char* pipeline : {"sph_density", "sph_density_wendland"}) {
    const Values out = sum(pipeline, p);
    EXPECT_EQ(out.at("rho")[0], 0);
    EXPECT_EQ(out.at("omega")[0], 1);
    EXPECT_EQ(out.at("nnb")[0], 0);
  }
}

// n particles of a gas in the unit box; both sides are one set.
Particles gas(std::int64_t n) { return random_set(Oracle("sph_force").pipeline(), n, /*seed=*/11); }

// dW/dr of the cubic spline by its two pieces, as textbooks print it.
double slope(double r, double h) {
  const double q = r / h, norm = 1 / (kPi * h * h * h * h);
  if (q < 1) return norm * (-3 * q + 9. / 4 * q * q);
  return q < 2 ? -norm * 3. / 4 * (2 - q) * (2 - q) : 0;
}

struct Rates {
  double acc[3] = {}, dudt = 0, vsig = -std::numeric_limits<double>::infinity();
};

Rates rates_by_hand(const Particles& p, std::size_t i, double alpha, double beta) {
  const auto at = [&](const char* field, std::size_t k) { return p.fields.at(field)[k]; };
  Rates rates;
  for (std::size_t j = 0; j < std::size_t(p.nj); ++j) {
    double dx[3], vx = 0, r2 = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      dx[c] = at("xi", 3 * i + c) - at("xj", 3 * j + c);
      vx += dx[c] * (at("vi", 3 * i + c) - at("vj", 3 * j + c));
      r2 += dx[c] * dx[c];
    }
    const double r = std::sqrt(r2), hi = at("hi", i), hj = at("hj", j), h = (hi + hj) / 2;
    if (r >= 2 * std::max(hi, hj)) continue;
    const double inward = r > 0 ? std::min(vx / r, 0.0) : 0.0;
    rates.vsig = std::max(rates.vsig, at("ci", i) + at("cj", j) - 3 * inward);
    if (r == 0) continue;
    double viscosity = 0;
    if (vx < 0) {
      const double mu = h * vx / (r2 + 0.01 * h * h), c = (at("ci", i) + at("cj", j)) / 2;
      viscosity = (-alpha * c * mu + beta * mu * mu) / ((at("rhoi", i) + at("rhoj", j)) / 2);
    }
    const double wi = slope(r, hi), wj = slope(r, hj), mean = (wi + wj) / 2;
    const double ai = at("presi", i) / (at("omegai", i) * at("rhoi", i) * at("rhoi", i));
    const double aj = at("presj", j) / (at("omegaj", j) * at("rhoj", j) * at("rhoj", j));
    for (std::size_t c = 0; c < 3; ++c) {
      rates.acc[c] -= at("mj", j) * (ai * wi + aj * wj + viscosity * mean) * dx[c] / r;
    }
    rates.dudt += at("mj", j) * (ai * wi + viscosity * mean / 2) * vx / r;
  }
  return rates;
}

TEST(SphForce, AgreesWithTheEquationsSpelledOut) {
  Particles p = gas(300);
  p.params = {{"alpha", {0.75}}, {"beta", {1.5}}};
  std::vector<double> acc, dudt, vsig;
  for (std::size_t i = 0; i < 300; ++i) {
    const Rates rates = rates_by_hand(p, i, 0.75, 1.5);
    acc.insert(acc.end(), rates.acc, rates.acc + 3);
    dudt.push_back(rates.dudt);
    vsig.push_back(rates.vsig);
  }
  const Oracle oracle("sph_force");
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("sph_force", p, {.precision = precision});
    const Values bounds = oracle.bounds(p, precision);
    expect_within(out.at("acc"), acc, bounds.at("acc"), "acc");
    expect_within(out.at("dudt"), dudt, bounds.at("dudt"), "dudt");
    expect_within(out.at("vsig"), vsig, bounds.at("vsig"), "vsig");
  }
}

TEST(SphForce, MomentumAndEnergyAreConserved) {
  const std::size_t n = 500;
  const Particles p = gas(std::int64_t(n));
  const std::vector<double>&m = p.fields.at("mj"), &v = p.fields.at("vj");
  const Values magnitudes = Oracle("sph_force")(p).magnitudes;
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("sph_force", p, {.precision = precision});
    double momentum[3] = {}, energy = 0, push = 0, power = 0;
    for (std::size_t k = 0; k < 3 * n; ++k) {
      momentum[k % 3] += m[k / 3] * out.at("acc")[k];
      energy += m[k / 3] * v[k] * out.at("acc")[k];
      push += m[k / 3] * magnitudes.at("acc")[k];
      power += m[k / 3] * std::fabs(v[k]) * magnitudes.at("acc")[k];
    }
    for (std::size_t i = 0; i < n; ++i) energy += m[i] * out.at("dudt")[i];
    for (const double component : momentum) EXPECT_NEAR(component, 0, kRoundings * epsilon(precision) * push);
    EXPECT_NEAR(energy, 0, kRoundings * epsilon(precision) * power);
  }
}

// A loud particle exactly at the edge of the larger support is not heard.
TEST(SphForce, TheEdgeOfTheSupportIsOutside) {
  Particles p = gas(2);
  for (const char* side : {"i", "j"}) {
    p.fields[std::string("x") + side] = {0, 0, 0, 0, 1, 0};
    p.fields[std::string("h") + side] = {0.25, 0.5};
    p.fields[std::string("c") + side] = {1, 100};
  }
  EXPECT_EQ(sum("sph_force", p).at("vsig"), (std::vector<double>{2, 200}));
}

TEST(SphForce, ALoneParticleSignalsAtTwiceItsSoundSpeed) {
  Particles p = gas(1);
  p.fields["ci"] = p.fields["cj"] = {0.75};
  const Values out = sum("sph_force", p);
  EXPECT_EQ(out.at("vsig")[0], 1.5);
  EXPECT_EQ(out.at("dudt")[0], 0);
  EXPECT_EQ(out.at("acc"), std::vector<double>(3));
}

}  // namespace
}  // namespace nbcc::test
