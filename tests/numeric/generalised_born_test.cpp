// Generalised Born in three passes: descreening against the integral that it is in closed form of, radii against their
// equations, energies against another program's and against ions that have closed forms, forces against that program's
// and against differences of energies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
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

// What the third pass reads: radii, the energy of charges with them, and the derivatives of both. Parameters are those
// of all passes, each of which takes its own.
Particles after_two_passes(Particles p, const std::vector<double>& charge, double ke, const Choice& choice) {
  p.fields["qi"] = p.fields["qj"] = charge;
  p.fields["scalei"] = p.fields["scalej"];
  p.params["ke"] = {ke};
  const Values radii = sum("born_radii", p, choice);
  p.fields["borni"] = p.fields["bornj"] = radii.at("born");
  p.fields["born_slopei"] = p.fields["born_slopej"] = radii.at("born_slope");
  const Values energies = sum("generalised_born", p, choice);
  p.fields["energy_slopei"] = p.fields["energy_slopej"] = energies.at("energy_slope");
  p.fields["energy"] = energies.at("energy");
  return p;
}

double energy_of(const Particles& p, const std::vector<double>& charge, double ke, const Choice& choice = {}) {
  return total(after_two_passes(p, charge, ke, choice).fields.at("energy"));
}

// Five atoms in nm, with energies and forces of GBSAOBCForce in OpenMM 8.6.1 (Reference platform, solvent 78.5, solute
// 1, no surface area; its Coulomb constant).
const double kOpenMM = 138.93545764438198;
const std::vector<double> kCharges = {0.1, 0.5, -0.6, 0.3, -0.4};

Particles five_atoms() {
  Particles p{.ni = 5, .nj = 5};
  p.fields["xi"] = p.fields["xj"] = {0, 0, 0, 0.15, 0, 0, 0.2, 0.14, 0, -0.04, -0.09, 0.05, 0.1, 0.1, 0.3};
  p.fields["radiusi"] = p.fields["radiusj"] = {0.17, 0.17, 0.15, 0.12, 0.155};
  p.fields["scalej"] = {0.72, 0.72, 0.85, 0.85, 0.79};
  p.params["offset"] = {0.009};
  return p;
}

TEST(GeneralisedBorn, EnergiesAreThoseOfOpenMM) {
  const Particles p = five_atoms();
  // Of one unit charge at a time, and of five charges.
  const std::vector<double> alone = {-394.87673869644254, -388.15723583044246, -448.5105518723556, -543.1841875613475,
                                     -457.2448052101063};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    // The numbers of atoms are single precision's own rounding away; distances are of a few of them.
    const double relative = kRoundings * epsilon(precision);
    for (std::size_t k = 0; k < 5; ++k) {
      std::vector<double> charge(5, 0);
      charge[k] = 1;
      const double energy = energy_of(p, charge, kOpenMM, {.precision = precision});
      EXPECT_NEAR(energy, alone[k], relative * std::fabs(alone[k])) << k;
    }
    // No |term| is greater than a self energy of 543 times a product of charges, and those sum up to 1.9^2.
    EXPECT_NEAR(energy_of(p, kCharges, kOpenMM, {.precision = precision}), -179.94058522947205,
                relative * 543 * 1.9 * 1.9);
  }
}

TEST(GeneralisedBorn, ForcesAreThoseOfOpenMM) {
  const std::vector<double> expected = {
      -51.34704570007433, -131.5167532150813,  -18.307030556123774, -407.23985250487596, -647.1229987156485,
      -163.0041045710365, 345.1918382738819,   670.5079245166879,   201.94265603029356,  2.6785003905521583,
      -80.79378885607784, -139.10092465423278, 110.71655954051633,  188.92561627011963,  118.46940375109949};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Particles p = after_two_passes(five_atoms(), kCharges, kOpenMM, {.precision = precision});
    const Values out = sum("generalised_born_forces", p, {.precision = precision});
    // The energy's bound over 0.1 nm, a length on which terms change by their size.
    expect_within(out.at("force"), expected, kRoundings * epsilon(precision) * 543 * 1.9 * 1.9 / 0.1, "force");
  }
}

// Where spheres come to touch or to swallow each other the second derivative of the energy jumps: differences of
// energies are to stay on one side.
bool is_smooth(const Particles& p, double step) {
  const auto &x = p.fields.at("xi"), &radius = p.fields.at("radiusi"), &scale = p.fields.at("scalej");
  const double offset = p.params.at("offset")[0];
  for (std::size_t i = 0; i < radius.size(); ++i)
    for (std::size_t j = 0; j < radius.size(); ++j) {
      if (i == j) continue;
      const double r = std::hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1], x[3 * i + 2] - x[3 * j + 2]);
      const double a = radius[i] - offset, s = scale[j] * (radius[j] - offset);
      for (const double jump : {s + a, s - a, a - s})
        if (std::fabs(r - jump) <= step) return false;
    }
  return true;
}

// Central differences of the energy, freed of what is of second and of fourth order in the step; and how far off the
// result may be: by its last correction, and by the roundings of energies over the smallest step.
void expect_differences(const Particles& p, const std::vector<double>& charge, double step, const std::string& what) {
  ASSERT_TRUE(is_smooth(p, step)) << what;
  const Particles at_rest = after_two_passes(p, charge, 1, {});
  const std::vector<double> force = sum("generalised_born_forces", at_rest).at("force");
  double size = 0;
  const auto expected_energies = Oracle("generalised_born")(at_rest);
  for (const double energy : expected_energies.magnitudes.at("energy")) size += energy;
  for (std::size_t k = 0; k < force.size(); ++k) {
    const auto difference = [&](double h) {
      double energies[2];
      for (const int side : {0, 1}) {
        Particles moved = p;
        moved.fields["xi"][k] += side == 0 ? -h : h;
        moved.fields["xj"] = moved.fields["xi"];
        energies[side] = energy_of(moved, charge, 1);
      }
      return -(energies[1] - energies[0]) / (2 * h);
    };
    const double coarse = difference(step), finer = difference(step / 2), finest = difference(step / 4);
    const double a = (4 * finer - coarse) / 3, b = (4 * finest - finer) / 3, expected = (16 * b - a) / 15;
    const double bound = std::fabs(expected - b) + kRoundings * epsilon(NBCC_DOUBLE) * size / (step / 4);
    EXPECT_LT(bound, 1e-6 * size) << "too coarse to tell";
    EXPECT_NEAR(force[k], expected, bound) << what << ", component " << k;
  }
}

// Atoms apart, with either formula; and inside each other, where only the corrected one has finite radii for all.
TEST(GeneralisedBorn, ForcesAreDerivativesOfTheEnergy) {
  const Oracle oracle("generalised_born_forces");
  const Pipeline& pipeline = oracle.pipeline();
  for (const double size : {1.0, 0.25}) {
    for (const int obc : {0, 1}) {
      if (obc == 0 && size < 1) continue;
      const double step = size * 0x1p-10;
      Particles p;
      for (std::uint64_t seed = 31; p.ni == 0 || !is_smooth(p, step); ++seed) {
        p = random_set(pipeline, 6, seed);
        for (double& x : p.fields["xi"]) x *= size;
        p.fields["xj"] = p.fields["xi"];
      }
      p.params = {{"obc", {double(obc)}}, {"offset", {1. / 128}}, {"eps_in", {2}}, {"eps_out", {40}}};
      expect_differences(p, p.fields["qi"], step, (obc ? "OBC in " : "HCT in ") + std::to_string(size));
    }
  }
}

// Two atoms one of which swallows the other.
TEST(GeneralisedBorn, ForcesOnASwallowedAtomToo) {
  Particles p{.ni = 3, .nj = 3};
  p.fields["xi"] = p.fields["xj"] = {0, 0, 0, 0.5, 0.25, 0.125, 2, 3, 1};
  p.fields["radiusi"] = p.fields["radiusj"] = {3, 1, 1.5};
  p.fields["scalej"] = {0.75, 0.875, 0.75};
  p.params = {{"offset", {0.09}}};
  expect_differences(p, {1, -0.5, 0.75}, 0x1p-10, "swallowed");
}

// M. Born, 1920: -ke q^2/(2a) (1 - 1/eps).
TEST(GeneralisedBorn, ALoneIonIsBorns) {
  Particles p{.ni = 1, .nj = 1};
  p.fields = {{"xi", {1, 2, 3}}, {"xj", {1, 2, 3}}, {"radiusi", {1.84}}, {"radiusj", {1.84}}, {"scalej", {0.8}}};
  for (const int obc : {0, 1}) {
    p.params = {{"obc", {double(obc)}}, {"eps_in", {2}}, {"eps_out", {80}}};
    EXPECT_NEAR(energy_of(p, {-2}, 332.0637), -332.0637 * 4 / (2 * 1.75) * (1. / 2 - 1. / 80), 1e-11);
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
