// Generalised Born in two passes: descreening against the integral that it is in closed form of, radii against their
// equations, energies against another program's and against ions that have closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/quadrature.h"
#include "tests/support/random_particles.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

// The integral of |x|^-4 / (4 pi) over a sphere of radius s, r away, without what is nearer than a: shells of radius t,
// of which the sphere holds a share.
double descreening(double a, double s, double r) {
  double sum = 0;
  const auto add = [&](double from, double to) {
    if (from >= to) return;
    for (const Node& t : gauss_legendre(64, from, to)) {
      const double cosine = (t.at * t.at + r * r - s * s) / (2 * t.at * r);
      sum += t.weight * (1 - std::clamp(cosine, -1., 1.)) / 2 / (t.at * t.at);
    }
  };
  add(a, std::max(a, s - r));                              // shells inside the sphere
  add(std::max(a, std::fabs(r - s)), std::max(a, r + s));  // shells that it cuts
  return sum;
}

struct Pair {
  double a, s, r;
  const char* what;
};

Particles atoms_of(const Pair& pair) {
  Particles p{.ni = 1, .nj = 1, .j_offset = 1};
  p.fields = {{"xi", {0, 0, 0}}, {"xj", {0, pair.r, 0}}, {"radiusi", {pair.a}}, {"radiusj", {pair.s}}, {"scalej", {1}}};
  p.params = {{"offset", {0}}, {"obc", {0}}};
  return p;
}

TEST(BornRadii, DescreeningIsTheIntegralOverTheSphere) {
  for (const Pair& pair :
       {Pair{1.5, 1.25, 5, "apart"}, Pair{1.5, 1.25, 2.75, "touching"}, Pair{1.5, 1.25, 1.5, "cut"},
        Pair{1.5, 1.25, 0.5, "cut, and with its centre inside"}, Pair{1, 2, 1.5, "around the centre"},
        Pair{1, 3, 1, "swallowed"}, Pair{2, 0.5, 1, "hidden inside"}}) {
    const double expected = descreening(pair.a, pair.s, pair.r);
    const Particles p = atoms_of(pair);
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
      const double born = sum("born_radii", p, {.precision = precision}).at("born")[0];
      // The terms are no greater than 2/a, which both sums and the last quotient are made of.
      const double bound = kRoundings * epsilon(precision) * 2 / pair.a;
      EXPECT_NEAR(1 / pair.a - 1 / born, expected, bound) << pair.what;
    }
  }
}

// Cut and swallowed spheres do not jump as they move.
TEST(BornRadii, AreContinuous) {
  for (const double r : {0.5, 1.0, 2.75, 0.25}) {
    for (const double s : {0.5, 1.25, 1.75}) {
      const double before = sum("born_radii", atoms_of({1.5, s, r - 1e-9, ""})).at("born")[0];
      const double after = sum("born_radii", atoms_of({1.5, s, r + 1e-9, ""})).at("born")[0];
      EXPECT_NEAR(before, after, 1e-7) << r << " " << s;
    }
  }
}

TEST(BornRadii, OfManyAtomsFollowTheirEquations) {
  const Oracle oracle("born_radii");
  Particles p = random_set(oracle.pipeline(), 60, /*seed=*/9);
  for (double& x : p.fields["xi"]) x *= 2;
  p.fields["xj"] = p.fields["xi"];
  const double offset = p.params.at("offset")[0];
  for (const bool obc : {false, true}) {
    p.params["obc"] = {obc ? 1. : 0.};
    std::vector<double> expected;
    for (std::size_t i = 0; i < 60; ++i) {
      const double radius = p.fields["radiusi"][i], a = radius - offset;
      double integral = 0;
      for (std::size_t j = 0; j < 60; ++j) {
        if (i == j) continue;
        const double *x = &p.fields["xi"][3 * i], *y = &p.fields["xj"][3 * j];
        integral += descreening(a, p.fields["scalej"][j] * (p.fields["radiusj"][j] - offset),
                                std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]));
      }
      const double psi = a * integral;
      const double tanh_of = std::tanh(psi - 0.8 * psi * psi + 4.85 * psi * psi * psi);
      expected.push_back(obc ? 1 / (1 / a - tanh_of / radius) : 1 / (1 / a - integral));
    }
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
      const Values out = sum("born_radii", p, {.precision = precision});
      expect_within(out.at("born"), expected, oracle.bounds(p, precision).at("born"), obc ? "OBC" : "HCT");
    }
  }
}

double total(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// Radii, and then the energy of charges with them.
Values both_passes(Particles p, const std::vector<double>& charge, double ke, const Choice& choice = {}) {
  p.fields["qi"] = p.fields["qj"] = charge;
  p.fields["borni"] = p.fields["bornj"] = sum("born_radii", p, choice).at("born");
  p.params["ke"] = {ke};
  return sum("generalised_born", p, choice);
}

// Five atoms in nm, with the energies of GBSAOBCForce in OpenMM 8.6.1 (Reference platform, solvent 78.5, solute 1, no
// surface area; its Coulomb constant) of one unit charge at a time, and of five charges.
TEST(GeneralisedBorn, EnergiesAreThoseOfOpenMM) {
  Particles p{.ni = 5, .nj = 5};
  p.fields["xi"] = p.fields["xj"] = {0, 0, 0, 0.15, 0, 0, 0.2, 0.14, 0, -0.04, -0.09, 0.05, 0.1, 0.1, 0.3};
  p.fields["radiusi"] = p.fields["radiusj"] = {0.17, 0.17, 0.15, 0.12, 0.155};
  p.fields["scalej"] = {0.72, 0.72, 0.85, 0.85, 0.79};
  p.params["offset"] = {0.009};
  const double ke = 138.93545764438198;
  const std::vector<double> alone = {-394.87673869644254, -388.15723583044246, -448.5105518723556, -543.1841875613475,
                                     -457.2448052101063};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    // The numbers of atoms are single precision's own rounding away; distances are of a few of them.
    const double relative = kRoundings * epsilon(precision);
    for (std::size_t k = 0; k < 5; ++k) {
      std::vector<double> charge(5, 0);
      charge[k] = 1;
      const double energy = total(both_passes(p, charge, ke, {.precision = precision}).at("energy"));
      EXPECT_NEAR(energy, alone[k], relative * std::fabs(alone[k])) << k;
    }
    const std::vector<double> charge = {0.1, 0.5, -0.6, 0.3, -0.4};
    const double energy = total(both_passes(p, charge, ke, {.precision = precision}).at("energy"));
    // No |term| is greater than a self energy of 543 times a product of charges, and those sum up to 1.9^2.
    EXPECT_NEAR(energy, -179.94058522947205, relative * 543 * 1.9 * 1.9);
  }
}

// M. Born, 1920: -ke q^2/(2a) (1 - 1/eps).
TEST(GeneralisedBorn, ALoneIonIsBorns) {
  Particles p{.ni = 1, .nj = 1};
  p.fields = {{"xi", {1, 2, 3}}, {"xj", {1, 2, 3}}, {"radiusi", {1.84}}, {"radiusj", {1.84}}, {"scalej", {0.8}}};
  for (const int obc : {0, 1}) {
    p.params = {{"obc", {double(obc)}}, {"eps_in", {2}}, {"eps_out", {80}}};
    EXPECT_NEAR(both_passes(p, {-2}, 332.0637).at("energy")[0], -332.0637 * 4 / (2 * 1.75) * (1. / 2 - 1. / 80), 1e-11);
  }
}

// Far from each other two ions attract like charges in a vacuum, less what the solvent screens.
TEST(GeneralisedBorn, FarIonsAreScreened) {
  const double r = 1e4, a = 1.75;
  Particles p{.ni = 2, .nj = 2};
  p.fields["xi"] = p.fields["xj"] = {0, 0, 0, r, 0, 0};
  p.fields["qi"] = p.fields["qj"] = {1, -1};
  p.fields["borni"] = p.fields["bornj"] = {a, a};
  const double solvation = total(sum("generalised_born", p).at("energy")), tau = 1 - 1 / 78.5;
  EXPECT_NEAR(solvation - -tau / a, tau / r, kRoundings * epsilon(NBCC_DOUBLE) / a);
}

TEST(GeneralisedBorn, AgreesWithALoop) {
  const Oracle oracle("generalised_born");
  const Particles p = random_set(oracle.pipeline(), 150, /*seed=*/13);
  const auto &x = p.fields.at("xi"), &q = p.fields.at("qi"), &b = p.fields.at("borni");
  std::vector<double> expected;
  for (std::size_t i = 0; i < 150; ++i) {
    double energy = 0;
    for (std::size_t j = 0; j < 150; ++j) {
      const double r = std::hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1], x[3 * i + 2] - x[3 * j + 2]);
      const double mean = std::sqrt(b[i] * b[j]), d = r / (2 * mean);
      energy -= (1 - 1 / 78.5) * q[i] * q[j] / std::hypot(r, mean * std::exp(-d * d / 2)) / 2;
    }
    expected.push_back(energy);
  }
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("generalised_born", p, {.precision = precision});
    expect_within(out.at("energy"), expected, oracle.bounds(p, precision).at("energy"), "energy");
  }
}

}  // namespace
}  // namespace nbcc::test
