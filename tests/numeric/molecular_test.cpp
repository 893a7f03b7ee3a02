// Cut-off pair potentials in a periodic box against NIST's published sums, and against loops that spell them out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/reference_data.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

double total(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

Particles read_nist(const std::string& name) {
  std::vector<std::vector<double>> rows = read_rows(reference_path("nist_lj/lj_sample_config_" + name + ".txt"));
  Particles p;
  p.params["box"] = rows.at(0);
  for (std::size_t k = 2; k < rows.size(); ++k) {
    p.fields["xi"].insert(p.fields["xi"].end(), rows[k].begin() + 1, rows[k].begin() + 4);
  }
  p.fields["xj"] = p.fields["xi"];
  p.ni = p.nj = std::int64_t(rows.size()) - 2;
  return p;
}

struct Published {
  const char* file;
  const char* pipeline;
  double rc, energy, virial;              // as printed
  double energy_float64, virial_float64;  // recomputed from the same file
};

class NistFluid : public testing::TestWithParam<Published> {};

TEST_P(NistFluid, HasThePublishedSums) {
  const Published& published = GetParam();
  NBCC_NEEDS_REFERENCE("nist_lj/lj_sample_config_" + std::string(published.file) + ".txt");
  Particles p = read_nist(published.file);
  p.params["rc"] = {published.rc};
  const Values magnitudes = Oracle(published.pipeline)(p).magnitudes;
  const Values out = sum(published.pipeline, p);
  const double energy = total(out.at("energy")), virial = total(out.at("virial"));
  // Five digits are printed.
  const auto half_a_digit = [](double x) { return 0.5 * std::pow(10, std::floor(std::log10(std::fabs(x))) - 4); };
  EXPECT_NEAR(energy, published.energy, half_a_digit(published.energy));
  EXPECT_NEAR(virial, published.virial, half_a_digit(published.virial));
  EXPECT_NEAR(energy, published.energy_float64, 1e-11 * std::fabs(energy));
  EXPECT_NEAR(virial, published.virial_float64, 1e-11 * std::fabs(virial));
  // Positions have more digits than a float: mixed precision keeps them, single is held to its own in
  // every_pipeline_test.
  const Values mixed = sum(published.pipeline, p, {.precision = NBCC_MIXED});
  const double relative = kRoundings * epsilon(NBCC_MIXED);
  EXPECT_NEAR(total(mixed.at("energy")), energy, relative * total(magnitudes.at("energy")));
  EXPECT_NEAR(total(mixed.at("virial")), virial, relative * total(magnitudes.at("virial")));
  for (std::size_t c = 0; c < 3; ++c) {
    double force = 0, size = 0;
    for (std::size_t i = 0; i < std::size_t(p.ni); ++i) {
      force += out.at("force")[3 * i + c];
      size += magnitudes.at("force")[3 * i + c];
    }
    EXPECT_NEAR(force, 0, kRoundings * epsilon(NBCC_DOUBLE) * size);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, NistFluid,
    testing::Values(Published{"periodic2", "lennard_jones", 3, -690.00, -568.46, -690.0040451729, -568.4573407379},
                    Published{"periodic2", "lennard_jones", 4, -704.60, -655.99, -704.6033197270, -655.9875607066},
                    Published{"periodic2", "lennard_jones_force_shifted", 3, -620.12, -445.33, -620.1198609983,
                              -445.3310496198},
                    Published{"periodic4", "lennard_jones", 3, -16.790, -46.249, -16.790321304625856, -46.24919674631},
                    Published{"periodic4", "lennard_jones", 4, -17.060, -47.869, -17.06045322027, -47.86882819107}));

// Two particles at distance r along x, across the periodic boundary.
Particles pair_at(double r) {
  Particles p{.ni = 2, .nj = 2};
  p.fields["xi"] = p.fields["xj"] = {0.25, 1, 1, 0.25 - r + 10, 1, 1};
  p.params = {{"box", {10, 10, 10}}};
  return p;
}

TEST(LennardJones, TheMinimumIsAtTheSixthRootOfTwo) {
  const Values out = sum("lennard_jones", pair_at(std::pow(2, 1. / 6)));
  EXPECT_NEAR(total(out.at("energy")), -1, 1e-13);
  EXPECT_NEAR(total(out.at("virial")), 0, 1e-12);
  EXPECT_NEAR(out.at("force")[0], 0, 1e-12);
}

TEST(LennardJones, TheShiftedEnergyEndsAtZero) {
  Particles p = pair_at(std::nextafter(2.5, 2.0) - 1e-12);
  p.params["rc"] = {2.5};
  const double truncated = total(sum("lennard_jones", p).at("energy"));
  p.params["shift"] = {1};
  EXPECT_NEAR(truncated, 4 * (std::pow(2.5, -12) - std::pow(2.5, -6)), 1e-12);
  EXPECT_NEAR(total(sum("lennard_jones", p).at("energy")), 0, 1e-12);
  p.params.erase("shift");
  const Values smooth = sum("lennard_jones_force_shifted", p);
  EXPECT_NEAR(total(smooth.at("energy")), 0, 1e-12);
  EXPECT_NEAR(smooth.at("force")[0], 0, 1e-11);
}

// Energy, force and virial of every pair from u and du/dr as functions of r.
struct PairPotential {
  std::function<double(double)> u, slope;
};

// `potential_of` two particles.
void expect_pair_sums(const std::string& pipeline, const Particles& p,
                      const std::function<PairPotential(std::size_t, std::size_t)>& potential_of) {
  std::vector<double> force, energy, virial;
  const std::vector<double>& x = p.fields.at("xi");
  for (std::size_t i = 0; i < std::size_t(p.ni); ++i) {
    double f[3] = {}, u = 0, w = 0;
    for (std::size_t j = 0; j < std::size_t(p.nj); ++j) {
      if (i == j) continue;
      double dx[3], r2 = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double length = p.params.at("box")[c];
        dx[c] = x[3 * i + c] - x[3 * j + c];
        while (dx[c] > length / 2) dx[c] -= length;
        while (dx[c] < -length / 2) dx[c] += length;
        r2 += dx[c] * dx[c];
      }
      const double r = std::sqrt(r2);
      if (r >= p.params.at("rc")[0]) continue;
      const PairPotential potential = potential_of(i, j);
      u += potential.u(r) / 2;
      w -= r * potential.slope(r) / 2;
      for (std::size_t c = 0; c < 3; ++c) f[c] -= potential.slope(r) * dx[c] / r;
    }
    force.insert(force.end(), f, f + 3);
    energy.push_back(u);
    virial.push_back(w);
  }
  const Oracle oracle(pipeline);
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum(pipeline, p, {.precision = precision});
    const Values bounds = oracle.bounds(p, precision);
    expect_within(out.at("force"), force, bounds.at("force"), "force");
    expect_within(out.at("energy"), energy, bounds.at("energy"), "energy");
    if (out.contains("virial")) expect_within(out.at("virial"), virial, bounds.at("virial"), "virial");
  }
}

void expect_pair_sums(const std::string& pipeline, const Particles& p, const std::vector<double>& charge,
                      const PairPotential& potential) {
  expect_pair_sums(pipeline, p, [&](std::size_t i, std::size_t j) -> PairPotential {
    const double qq = charge[i] * charge[j];
    return {[&, qq](double r) { return qq * potential.u(r); }, [&, qq](double r) { return qq * potential.slope(r); }};
  });
}

// In the tests' box, on the grid that makes single precision agree about the cutoff.
Particles one_set(const std::string& pipeline, std::int64_t n) {
  return random_set(Oracle(pipeline).pipeline(), n, /*seed=*/3);
}

TEST(Buckingham, AgreesWithALoop) {
  const Particles p = one_set("buckingham", 200);
  const double a = p.params.at("a")[0], rho = p.params.at("rho")[0], c = p.params.at("c")[0];
  expect_pair_sums("buckingham", p, std::vector<double>(200, 1),
                   {[=](double r) { return a * std::exp(-r / rho) - c * std::pow(r, -6); },
                    [=](double r) { return -a / rho * std::exp(-r / rho) + 6 * c * std::pow(r, -7); }});
}

TEST(BornMayer, AgreesWithALoopOfTypes) {
  Particles p = one_set("born_mayer", 200);
  const std::vector<double> type = p.fields.at("typei");
  for (const int first : {0, 1, -1}) {
    p.params["first"] = {double(first)};
    for (const char* const name : {"typei", "typej"})
      for (std::size_t k = 0; k < type.size(); ++k) p.fields.at(name)[k] = type[k] + first;
    expect_pair_sums("born_mayer", p, [&](std::size_t i, std::size_t j) -> PairPotential {
      const auto row = [&](std::size_t k) { return int(type[k]); };
      const auto at = std::size_t(2 * row(i) + row(j));
      const double a = p.params.at("a")[at], rho = p.params.at("rho")[at], sigma = p.params.at("sigma")[at];
      const double c = p.params.at("c")[at], d = p.params.at("d")[at];
      return {[=](double r) { return a * std::exp((sigma - r) / rho) - c * std::pow(r, -6) + d * std::pow(r, -8); },
              [=](double r) {
                return -a / rho * std::exp((sigma - r) / rho) + 6 * c * std::pow(r, -7) - 8 * d * std::pow(r, -9);
              }};
    });
  }
}

// Digits of the defaults that are wrong would show: what Tosi and Fumi fitted to crystals binds salt, with Madelung's
// constant for the charges, by the measured 788 kJ/mol to 2%, and leaves a pressure below 1 GPa at its density.
TEST(BornMayer, TheDefaultsAreRockSalt) {
  const int side = 10;
  const double r = 2.82, coulomb = 1.747564594633182 * 14.399645 / r;  // e^2/(4 pi eps0) in eV Angstrom
  Particles p{.ni = 1, .nj = side * side * side};
  for (int k = 0; k < p.nj; ++k) {
    const int x = k % side, y = k / side % side, z = k / side / side;
    p.fields["xj"].insert(p.fields["xj"].end(), {r * x, r * y, r * z});
    p.fields["typej"].push_back((x + y + z) % 2);
  }
  p.params = {{"box", {side * r, side * r, side * r}}};
  double energy = -coulomb, virial = -coulomb;
  for (const int type : {0, 1}) {
    p.fields["xi"] = {r * type, 0, 0};
    p.fields["typei"] = {double(type)};
    p.i_offset = type;
    const Values out = sum("born_mayer", p);
    for (const double force : out.at("force")) EXPECT_NEAR(force, 0, 1e-13);
    energy += out.at("energy")[0];
    virial += out.at("virial")[0];
  }
  EXPECT_NEAR(energy * 96.485, -788, 0.02 * 788);
  EXPECT_LT(std::fabs(virial / 3 / (2 * r * r * r)), 1 / 160.2);  // a GPa is 1/160.2 eV/Angstrom^3
}

// With its energy or its force too shifted to 0 at the cutoff.
TEST(LennardJones, AgreesWithALoop) {
  const double sigma = 0.125, eps = 1.5, rc = 0.375;
  const auto u = [=](double r) { return 4 * eps * (std::pow(sigma / r, 12) - std::pow(sigma / r, 6)); };
  const auto slope = [=](double r) { return -24 * eps / r * (2 * std::pow(sigma / r, 12) - std::pow(sigma / r, 6)); };
  Particles p = one_set("lennard_jones", 200);
  p.params = {{"sigma", {sigma}}, {"eps", {eps}}, {"rc", {rc}}, {"shift", {1}}, {"box", {1, 1, 1}}};
  const std::vector<double> charge(200, 1);
  expect_pair_sums("lennard_jones", p, charge, {[=](double r) { return u(r) - u(rc); }, slope});
  expect_pair_sums(
      "lennard_jones_force_shifted", p, charge,
      {[=](double r) { return u(r) - u(rc) - (r - rc) * slope(rc); }, [=](double r) { return slope(r) - slope(rc); }});
}

TEST(Switched, AgreesWithALoop) {
  const double sigma = 0.125, eps = 1.5, rs = 0.2, rc = 0.375;
  const auto v = [=](double r) { return 4 * eps * (std::pow(sigma / r, 12) - std::pow(sigma / r, 6)); };
  const auto by_r = [=](double r) { return -24 * eps / r * (2 * std::pow(sigma / r, 12) - std::pow(sigma / r, 6)); };
  const auto t = [=](double r) { return std::max(0., (r - rs) / (rc - rs)); };
  const auto s = [=](double r) { return 1 - std::pow(t(r), 3) * (10 - 15 * t(r) + 6 * t(r) * t(r)); };
  const auto s_by_r = [=](double r) { return -30 * std::pow(t(r) * (1 - t(r)), 2) / (rc - rs); };
  Particles p = one_set("lennard_jones_switched", 200);
  p.params = {{"sigma", {sigma}}, {"eps", {eps}}, {"rs", {rs}}, {"rc", {rc}}, {"box", {1, 1, 1}}};
  expect_pair_sums(
      "lennard_jones_switched", p, std::vector<double>(200, 1),
      {[=](double r) { return s(r) * v(r); }, [=](double r) { return s(r) * by_r(r) + s_by_r(r) * v(r); }});
}

TEST(Yukawa, AgreesWithALoop) {
  const Particles p = one_set("yukawa", 200);
  const double kappa = p.params.at("kappa")[0];
  const auto u = [=](double r) { return std::exp(-kappa * r) / r; };
  expect_pair_sums("yukawa", p, p.fields.at("qi"), {u, [=](double r) { return -u(r) * (kappa + 1 / r); }});
}

TEST(SoftCore, AgreesWithALoop) {
  const double sigma = 0.125, eps = 1.5, alpha = 0.4, rc = 0.375;
  Particles p = one_set("lennard_jones_soft_core", 200);
  const std::vector<double>& group = p.fields.at("groupi");
  for (const double lambda : {0.0, 0.25, 1.0}) {
    p.params = {{"sigma", {sigma}}, {"eps", {eps}}, {"lambda", {lambda}},
                {"alpha", {alpha}}, {"rc", {rc}},   {"box", {1, 1, 1}}};
    expect_pair_sums("lennard_jones_soft_core", p, [&](std::size_t i, std::size_t j) -> PairPotential {
      const double l = group[i] == group[j] ? 1 : lambda;
      const auto d = [=](double r) { return 1 / (alpha * (1 - l) * (1 - l) + std::pow(r / sigma, 6)); };
      return {[=](double r) { return 4 * eps * l * (d(r) * d(r) - d(r)); },
              [=](double r) { return -4 * eps * l * (2 * d(r) - 1) * d(r) * d(r) * 6 * std::pow(r / sigma, 6) / r; }};
    });
  }
}

// A pair of different groups: dU/dlambda as the difference of energies, and finite where the two are in one place.
TEST(SoftCore, DerivesByLambda) {
  const auto run = [](double distance, double lambda) {
    Particles p = pair_at(distance);
    p.fields["groupi"] = p.fields["groupj"] = {0, 1};
    p.params["lambda"] = {lambda};
    return sum("lennard_jones_soft_core", p);
  };
  const double h = 1e-4;
  for (const double distance : {0.3, 0.9, 1.2}) {
    for (const double lambda : {0.1, 0.5, 0.9}) {
      const auto energy = [&](double l) { return total(run(distance, l).at("energy")); };
      const double slope =
          (8 * (energy(lambda + h) - energy(lambda - h)) - energy(lambda + 2 * h) + energy(lambda - 2 * h)) / (12 * h);
      const double dudl = total(run(distance, lambda).at("dudl"));
      // Differences of the fourth order: what they miss is of the order of h^4, 1e-16.
      EXPECT_NEAR(dudl, slope, 1e-9 * std::max(1., std::fabs(slope)));
    }
  }
  // l = 0, alpha = 0.5: D = 2 and dU/dlambda = 4 (D^2 - D) = 8 for the pair.
  EXPECT_NEAR(total(run(0, 0).at("dudl")), 8, 1e-14);
}

// The shifted forms cannot tell; the others jump here.
TEST(Cutoff, APairExactlyThereIsOutside) {
  for (const char* pipeline : {"lennard_jones", "buckingham", "born_mayer", "ewald_real", "coulomb_reaction_field",
                               "yukawa", "lennard_jones_soft_core"}) {
    Particles p = pair_at(2.25);
    p.fields["qi"] = p.fields["qj"] = {1, 1};
    p.fields["typei"] = p.fields["typej"] = p.fields["groupi"] = p.fields["groupj"] = {0, 1};
    p.params["rc"] = {2.25};
    const Values out = sum(pipeline, p);
    EXPECT_EQ(out.at("force"), std::vector<double>(6)) << pipeline;
    EXPECT_EQ(out.at("energy"), std::vector<double>(2)) << pipeline;
  }
}

TEST(ReactionField, AgreesWithALoop) {
  const Particles p = one_set("coulomb_reaction_field", 200);
  const double rc = p.params.at("rc")[0], e = p.params.at("eps_rf")[0];
  const double k = (e - 1) / (2 * e + 1) / (rc * rc * rc);
  expect_pair_sums("coulomb_reaction_field", p, p.fields.at("qi"),
                   {[=](double r) { return 1 / r - 1 / rc + k * (r * r - rc * rc); },
                    [=](double r) { return -1 / (r * r) + 2 * k * r; }});
}

TEST(EwaldReal, AgreesWithALoop) {
  const Particles p = one_set("ewald_real", 200);
  const double alpha = p.params.at("alpha")[0];
  const auto u = [=](double r) { return std::erfc(alpha * r) / r; };
  expect_pair_sums("ewald_real", p, p.fields.at("qi"), {u, [=](double r) {
                                                          const double gauss = 2 * alpha / std::sqrt(std::numbers::pi) *
                                                                               std::exp(-alpha * alpha * r * r);
                                                          return -(u(r) + gauss) / r;
                                                        }});
}

// Sodium chloride with ions at distance 1: a block of 8^3 ions sums the real part; the reciprocal part needs one
// cell of 8 ions, as the wave vectors of the block that are none of the cell's have no structure factor.
TEST(EwaldReal, RockSaltHasMadelungsConstant) {
  const double pi = std::numbers::pi, alpha = 1.5;
  Particles p{.ni = 2, .nj = 512};
  for (int k = 0; k < 512; ++k) {
    const int x = k % 8, y = k / 8 % 8, z = k / 64;
    p.fields["xj"].insert(p.fields["xj"].end(), {double(x), double(y), double(z)});
    p.fields["qj"].push_back((x + y + z) % 2 == 0 ? 1 : -1);
  }
  p.fields["xi"] = {0, 0, 0, 1, 0, 0};
  p.fields["qi"] = {1, -1};
  p.params = {{"alpha", {alpha}}, {"rc", {4}}, {"box", {8, 8, 8}}};
  double reciprocal = 0;
  for (int a = -8; a <= 8; ++a) {
    for (int b = -8; b <= 8; ++b) {
      for (int c = -8; c <= 8; ++c) {
        const double k2 = pi * pi * (a * a + b * b + c * c);
        // The cell's structure factor is 8 where all three are odd, else 0. Its volume is 8.
        if (a % 2 != 0 && b % 2 != 0 && c % 2 != 0) {
          reciprocal += 4 * pi / k2 * std::exp(-k2 / (4 * alpha * alpha)) * 64 / (2 * 8) / 8;
        }
      }
    }
  }
  const double self = -alpha / std::sqrt(pi), madelung = 1.747564594633182190636212;
  const Values out = sum("ewald_real", p);
  for (const double real_space : out.at("energy")) {
    EXPECT_NEAR(-2 * (real_space + reciprocal + self), madelung, 1e-11);
  }
  for (const double force : out.at("force")) EXPECT_NEAR(force, 0, 1e-13);
  const Values magnitudes = Oracle("ewald_real")(p).magnitudes;
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED}) {
    const double bound = 2 * kRoundings * epsilon(precision) * magnitudes.at("energy")[0];
    EXPECT_NEAR(-2 * (sum("ewald_real", p, {.precision = precision}).at("energy")[0] + reciprocal + self), madelung,
                bound);
  }
}

}  // namespace
}  // namespace nbcc::test
