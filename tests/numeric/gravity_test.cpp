// The gravity pipelines against exact configurations, published integrals of motion and a long-double reference.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/quadrature.h"
#include "tests/support/reference_data.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

// Everything that any gravity pipeline asks for, of one set of bodies that attract each other.
Particles bodies(const std::vector<double>& m, const std::vector<double>& x, const std::vector<double>& v,
                 double eps2) {
  Particles particles;
  particles.ni = particles.nj = std::int64_t(m.size());
  particles.fields = {{"xi", x}, {"vi", v}, {"xj", x}, {"vj", v}, {"mj", m}};
  particles.params = {{"eps2", {eps2}}};
  return particles;
}

Particles read_nbabel(const std::string& name, double eps2) {
  std::vector<double> m, x, v;
  for (const std::vector<double>& row : read_rows(reference_path("nbabel/" + name))) {
    m.push_back(row.at(1));
    x.insert(x.end(), row.begin() + 2, row.begin() + 5);
    v.insert(v.end(), row.begin() + 5, row.begin() + 8);
  }
  return bodies(m, x, v, eps2);
}

double kinetic_energy(const Particles& p) {
  const std::vector<double>&m = p.fields.at("mj"), &v = p.fields.at("vj");
  double energy = 0;
  for (std::size_t k = 0; k < v.size(); ++k) energy += 0.5 * m[k / 3] * v[k] * v[k];
  return energy;
}

double potential_energy(const Particles& p, const std::vector<double>& pot) {
  double energy = 0;
  for (std::size_t k = 0; k < pot.size(); ++k) energy += 0.5 * p.fields.at("mj")[k] * pot[k];
  return energy;
}

TEST(Gravity, ThePythagoreanBodiesFeelFractions) {
  const Particles at_rest = bodies({3, 4, 5}, {1, 3, 0, -2, -1, 0, 1, -1, 0}, std::vector<double>(9), /*eps2=*/0);
  const std::vector<double> acc{-12. / 125, -0.4405, 0, 5. / 9 + 9. / 125, 12. / 125, 0, -4. / 9, 3. / 16, 0};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("gravity_jerk", at_rest, {.precision = precision});
    // No acceleration has components that cancel by more than one digit, and none exceeds 1.
    expect_within(out.at("acc"), acc, kRoundings * epsilon(precision), "acc");
    expect_within(out.at("jerk"), std::vector<double>(9), 0, "jerk of bodies at rest");
    EXPECT_NEAR(potential_energy(at_rest, out.at("pot")), -769. / 60, 769. / 60 * kRoundings * epsilon(precision));
  }
}

TEST(Gravity, ACircularPairHasItselfAsDerivatives) {
  Particles pair = bodies({0.5, 0.5}, {0.5, 0, 0, -0.5, 0, 0}, {0, 0.5, 0, 0, -0.5, 0}, /*eps2=*/0);
  pair.fields["ai"] = pair.fields["aj"] = {-0.5, 0, 0, 0.5, 0, 0};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("gravity_snap", pair, {.precision = precision});
    const double bound = kRoundings * epsilon(precision);
    expect_within(out.at("acc"), {-0.5, 0, 0, 0.5, 0, 0}, bound, "acc = -x");
    expect_within(out.at("jerk"), {0, -0.5, 0, 0, 0.5, 0}, bound, "jerk = -v");
    expect_within(out.at("snap"), {0.5, 0, 0, -0.5, 0, 0}, bound, "snap = x");
  }
}

// The derivatives along a straight path with constant acceleration, by differences of the one below.
TEST(Gravity, JerkAndSnapAreTimeDerivatives) {
  const std::vector<double> x{0.3, -0.2, 0.1, -0.4, 0.25, 0.6, 0.7, 0.5, -0.35},
      v{0.1, 0.4, -0.3, 0.2, -0.5, 0.25, -0.3, 0.1, 0.45}, a{-0.2, 0.3, 0.15, 0.35, -0.1, 0.05, -0.15, -0.2, 0.3};
  const auto at = [&](double t) {
    std::vector<double> xt, vt;
    for (std::size_t k = 0; k < x.size(); ++k) {
      xt.push_back(x[k] + t * (v[k] + 0.5 * t * a[k]));
      vt.push_back(v[k] + t * a[k]);
    }
    Particles particles = bodies({1, 2, 3}, xt, vt, /*eps2=*/0.01);
    particles.fields["ai"] = particles.fields["aj"] = a;
    return sum("gravity_snap", particles);
  };
  const double h = 1e-4;
  const Values now = at(0), before = at(-h), after = at(h);
  for (std::size_t k = 0; k < x.size(); ++k) {
    // The third derivative of a central difference with h = 1e-4, times values below 10^3.
    EXPECT_NEAR((after.at("acc")[k] - before.at("acc")[k]) / (2 * h), now.at("jerk")[k], 1e-5);
    EXPECT_NEAR((after.at("jerk")[k] - before.at("jerk")[k]) / (2 * h), now.at("snap")[k], 1e-5);
  }
}

TEST(Gravity, NBabelBodiesAreVirial) {
  for (const char* name : {"input16", "input64", "input1k"}) {
    NBCC_NEEDS_REFERENCE("nbabel/" + std::string(name));
    const Particles particles = read_nbabel(name, /*eps2=*/0);
    EXPECT_NEAR(kinetic_energy(particles), 0.25, 1e-14);
    EXPECT_NEAR(potential_energy(particles, sum("potential", particles).at("pot")), -0.5, 1e-14);
  }
}

// The reference leaves out a particle's own term, as these pipelines do. Mixed precision sees the positions' low
// halves.
TEST(Gravity, NBabelForcesAgreeWithLongDouble) {
  NBCC_NEEDS_REFERENCE("nbabel/ref_longdouble_input1k_eps0.015625.txt");
  const Particles particles = read_nbabel("input1k", 1. / 4096);
  std::vector<double> acc, pot, jerk;
  for (const std::vector<double>& row : read_rows(reference_path("nbabel/ref_longdouble_input1k_eps0.015625.txt"))) {
    acc.insert(acc.end(), row.begin(), row.begin() + 3);
    pot.push_back(row.at(3));
    jerk.insert(jerk.end(), row.begin() + 4, row.begin() + 7);
  }
  const Oracle oracle("gravity_jerk");
  for (const nbcc_precision precision : {NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("gravity_jerk", particles, {.precision = precision});
    const Values bounds = oracle.bounds(particles, precision);
    expect_within(out.at("acc"), acc, bounds.at("acc"), "acc");
    expect_within(out.at("jerk"), jerk, bounds.at("jerk"), "jerk");
    expect_within(out.at("pot"), pot, bounds.at("pot"), "pot");
  }
  EXPECT_NEAR(potential_energy(particles, sum("gravity_jerk", particles).at("pot")), -0.49925264786190047918, 1e-13);
}

// Published by NBabel: the energy error of a second-order scheme at dt = 1e-3, t = 1.
void expect_energy_error(const std::string& name, double published, double half_a_digit) {
  Particles p = read_nbabel(name, /*eps2=*/0);
  std::vector<double>&x = p.fields["xj"], &v = p.fields["vj"];
  Summation gravity("gravity_jerk");
  Values old = gravity(p);
  const double start = kinetic_energy(p) + potential_energy(p, old.at("pot")), dt = 1e-3;
  for (int step = 0; step < 1000; ++step) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += dt * (v[k] + 0.5 * dt * old.at("acc")[k]);
    p.fields["xi"] = x;
    Values now = gravity(p);
    for (std::size_t k = 0; k < v.size(); ++k) v[k] += 0.5 * dt * (old.at("acc")[k] + now.at("acc")[k]);
    old = std::move(now);
  }
  const double end = kinetic_energy(p) + potential_energy(p, old.at("pot"));
  EXPECT_NEAR(std::fabs((end - start) / start), published, half_a_digit);
}

TEST(Gravity, SixteenBodiesLoseThePublishedEnergy) {
  NBCC_NEEDS_REFERENCE("nbabel/input16");
  expect_energy_error("input16", 0.0082104, 5e-8);
}

TEST(Gravity, SixtyFourBodiesLoseThePublishedEnergy) {
  NBCC_NEEDS_REFERENCE("nbabel/input64");
  expect_energy_error("input64", 3.59673e-6, 5e-12);
}

TEST(Gravity, TheFigureEightHasThePublishedEnergy) {
  const std::vector<double> x{0.97000436, -0.24308753, 0, -0.97000436, 0.24308753, 0, 0, 0, 0};
  const double u = -0.93240737, w = -0.86473146;
  const Particles p = bodies({1, 1, 1}, x, {-u / 2, -w / 2, 0, -u / 2, -w / 2, 0, u, w, 0}, /*eps2=*/0);
  EXPECT_NEAR(kinetic_energy(p) + potential_energy(p, sum("potential", p).at("pot")), -1.287141992, 5e-10);
}

// One softened body is a Plummer sphere: a closed form for every distance, the centre included.
TEST(Gravity, ASoftenedBodyIsAPlummerSphere) {
  const double scale = 3 * std::numbers::pi / 16;
  Particles p = bodies({1}, {0, 0, 0}, {0, 0, 0}, scale * scale);
  p.ni = 3;
  p.fields["xi"] = {0, 0, 0, 0.768570630660, 0, 0, 3, 4, 12};
  const auto root = [&](double r) { return std::sqrt(r * r + scale * scale); };
  const double near = root(0.768570630660), far = root(13);
  const std::vector<double> acc{0,
                                0,
                                0,
                                -0.768570630660 / (near * near * near),
                                0,
                                0,
                                -3 / (far * far * far),
                                -4 / (far * far * far),
                                -12 / (far * far * far)};
  const Values out = sum("gravity", p);
  expect_within(out.at("acc"), acc, 1e-14, "acc");
  expect_within(out.at("pot"), {-1 / scale, -1 / near, -1 / far}, 1e-14, "pot");
  // Half of the mass lies within the half-mass radius: r^2 |acc| = M(r).
  EXPECT_NEAR(-out.at("acc")[3] * 0.768570630660 * 0.768570630660, 0.5, 1e-11);
}

// With r = scale tan t the central potential of a Plummer sphere is a smooth integral, whose nodes are our particles.
TEST(Gravity, APlummerSphereHasItsCentralPotential) {
  const double scale = 3 * std::numbers::pi / 16;
  std::vector<double> m, x;
  const std::vector<SpherePoint> directions = sphere_points(4);
  for (const Node& node : gauss_legendre(40, 0, std::numbers::pi / 2)) {
    const double s = std::sin(node.at), c = std::cos(node.at);
    for (const SpherePoint& direction : directions) {
      m.push_back(node.weight * 3 * s * s * c * direction.weight / (4 * std::numbers::pi));
      for (const double along : direction.at) x.push_back(scale * s / c * along);
    }
  }
  Particles p = bodies(m, x, std::vector<double>(x.size()), /*eps2=*/0);
  p.ni = 1;
  p.fields["xi"] = {0, 0, 0};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const double pot = sum("potential", p, {.precision = precision}).at("pot")[0];
    EXPECT_NEAR(pot * scale, -1, kRoundings * epsilon(precision));
  }
}

TEST(Gravity, AllPipelinesAgreeOnWhatTheyShare) {
  const std::vector<double> m{1, 2, 0.5, 0.25}, x{0, 0, 0, 1, 0.5, -0.25, -0.75, 1, 0.125, 0.5, -1, 2};
  const Particles p = bodies(m, x, std::vector<double>(x.size(), 0.25), /*eps2=*/0.0625);
  Particles numbered = p;
  for (std::size_t k = 0; k < m.size(); ++k) {
    for (std::size_t c = 0; c < 3; ++c) {
      numbered.fields["INPUT_I"].push_back(x[3 * k + c]);
      numbered.fields["INPUT_J"].push_back(x[3 * k + c]);
    }
    numbered.fields["INPUT_I"].push_back(0.0625);
    numbered.fields["INPUT_J"].push_back(m[k]);
  }
  const Values softened = sum("gravity", p);
  const std::vector<double>& acc = softened.at("acc");
  expect_within(sum("gravity_acc", p).at("acc"), acc, 1e-14, "gravity_acc");
  const Values jerk = sum("gravity_jerk", p);
  expect_within(jerk.at("acc"), acc, 1e-14, "gravity_jerk");
  std::vector<double> pot = softened.at("pot");
  for (std::size_t k = 0; k < m.size(); ++k) pot[k] += m[k] / 0.25;  // gravity.pipe counts the particle's own
  expect_within(jerk.at("pot"), pot, 1e-14, "gravity_jerk");
  expect_within(sum("potential", p).at("pot"), pot, 1e-14, "potential");
  Particles with_acc = p;
  with_acc.fields["ai"] = with_acc.fields["aj"] = acc;
  expect_within(sum("gravity_snap", with_acc).at("acc"), acc, 1e-14, "gravity_snap");
  expect_within(sum("cunbody_gravity", numbered).at("OUTPUT"), acc, 1e-14, "cunbody_gravity");
}

}  // namespace
}  // namespace nbcc::test
