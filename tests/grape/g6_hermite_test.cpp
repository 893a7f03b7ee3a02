// A Hermite integrator with block time steps, written as those for GRAPE are, conserves energy.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>
#include <vector>

#include "bindings/grape/nbcc_g6.h"

namespace nbcc {
namespace {

using Vec3 = std::array<double, 3>;

struct Star {
  double t = 0, dt = 0, mass = 0, pot = 0;
  Vec3 x{}, v{}, a{}, j{}, snap{};
};

struct System {
  std::vector<Star> stars;
  double eps2 = 0, shortest = 0, longest = 0, time = 0;
  int steps = 0;
};

double length(const Vec3& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

void send(int id, const std::vector<Star>& stars, int k) {
  const Star& s = stars[std::size_t(k)];
  Vec3 k18, j6, a2;
  for (std::size_t c = 0; c < 3; ++c) {
    k18[c] = s.snap[c] / 18;
    j6[c] = s.j[c] / 6;
    a2[c] = s.a[c] / 2;
  }
  ASSERT_EQ(
      g6_set_j_particle(id, k, k + 1, s.t, s.dt, s.mass, k18.data(), j6.data(), a2.data(), s.v.data(), s.x.data()), 0);
}

// Forces on the stars of `active` at places x and velocities v, as many at a time as there are pipes.
void forces(int id, const System& system, const std::vector<int>& active, const std::vector<Vec3>& x,
            const std::vector<Vec3>& v, std::vector<Vec3>& a, std::vector<Vec3>& j, std::vector<double>& pot) {
  const auto rows = [](auto& array, int at) {
    return reinterpret_cast<double(*)[3]>(const_cast<Vec3*>(&array[std::size_t(at)]));
  };
  const int n = int(system.stars.size()), count = int(active.size());
  const std::vector<double> h2(active.size(), 0.0);
  std::vector<int> index;
  for (const int k : active) index.push_back(k + 1);
  g6_set_ti(id, system.time);
  for (int at = 0; at < count; at += g6_npipes()) {
    const int ni = std::min(g6_npipes(), count - at);
    g6calc_firsthalf(id, n, ni, &index[std::size_t(at)], rows(x, at), rows(v, at), rows(a, at), rows(j, at),
                     &pot[std::size_t(at)], system.eps2, h2.data());
    ASSERT_EQ(g6calc_lasthalf(id, n, ni, &index[std::size_t(at)], rows(x, at), rows(v, at), system.eps2, h2.data(),
                              rows(a, at), rows(j, at), &pot[std::size_t(at)]),
              0)
        << nbcc_g6_last_error();
  }
}

// A power of two that divides the time, at most twice the step before.
double step_of(const System& system, double wanted, double before) {
  double dt = system.longest;
  while (dt > system.shortest && (dt > wanted || std::fmod(system.time, dt) != 0 || dt > 2 * before)) dt /= 2;
  return dt;
}

void start(int id, System& system) {
  const std::size_t n = system.stars.size();
  std::vector<Vec3> x(n), v(n), a(n), j(n);
  std::vector<double> pot(n);
  std::vector<int> all(n);
  for (std::size_t k = 0; k < n; ++k) {
    all[k] = int(k);
    x[k] = system.stars[k].x;
    v[k] = system.stars[k].v;
    send(id, system.stars, int(k));
  }
  forces(id, system, all, x, v, a, j, pot);
  for (std::size_t k = 0; k < n; ++k) {
    Star& s = system.stars[k];
    s.a = a[k];
    s.j = j[k];
    s.pot = pot[k];
    s.dt = step_of(system, 0.01 * length(s.a) / length(s.j), system.longest);
    send(id, system.stars, int(k));
  }
}

// The corrector of Makino & Aarseth (1992), and Aarseth's step for the next time.
void correct(System& system, Star& s, const Vec3& xp, const Vec3& vp, const Vec3& a, const Vec3& j) {
  const double h = s.dt;
  Vec3 crackle;
  for (std::size_t c = 0; c < 3; ++c) {
    const double a2 = (-6 * (s.a[c] - a[c]) - h * (4 * s.j[c] + 2 * j[c])) / (h * h);
    const double a3 = (12 * (s.a[c] - a[c]) + 6 * h * (s.j[c] + j[c])) / (h * h * h);
    s.x[c] = xp[c] + std::pow(h, 4) / 24 * a2 + std::pow(h, 5) / 120 * a3;
    s.v[c] = vp[c] + std::pow(h, 3) / 6 * a2 + std::pow(h, 4) / 24 * a3;
    s.snap[c] = a2 + h * a3;
    crackle[c] = a3;
  }
  s.a = a;
  s.j = j;
  s.t = system.time;
  const double wanted = std::sqrt(0.01 * (length(a) * length(s.snap) + std::pow(length(j), 2)) /
                                  (length(j) * length(crackle) + std::pow(length(s.snap), 2)));
  s.dt = step_of(system, wanted, h);
}

void step(int id, System& system) {
  std::vector<Star>& stars = system.stars;
  const Star& next = std::ranges::min(stars, {}, [](const Star& s) { return s.t + s.dt; });
  system.time = next.t + next.dt;
  std::vector<int> active;
  std::vector<Vec3> x, v;
  for (std::size_t k = 0; k < stars.size(); ++k) {
    const Star& s = stars[k];
    if (s.t + s.dt != system.time) continue;
    active.push_back(int(k));
    Vec3 xp, vp;
    for (std::size_t c = 0; c < 3; ++c) {
      xp[c] = s.x[c] + s.dt * (s.v[c] + s.dt * (s.a[c] / 2 + s.dt * s.j[c] / 6));
      vp[c] = s.v[c] + s.dt * (s.a[c] + s.dt * s.j[c] / 2);
    }
    x.push_back(xp);
    v.push_back(vp);
  }
  std::vector<Vec3> a(active.size()), j(active.size());
  std::vector<double> pot(active.size());
  forces(id, system, active, x, v, a, j, pot);
  for (std::size_t k = 0; k < active.size(); ++k) {
    Star& s = stars[std::size_t(active[k])];
    correct(system, s, x[k], v[k], a[k], j[k]);
    s.pot = pot[k];
    send(id, stars, active[k]);
  }
  system.steps += int(active.size());
}

// Of a time at which all stars are.
double energy(const System& system) {
  double energy = 0;
  for (const Star& s : system.stars) energy += s.mass * (std::pow(length(s.v), 2) + s.pot) / 2;
  return energy;
}

// Until all stars are at `end`, a multiple of the longest step.
double energy_error(System system, double end) {
  EXPECT_EQ(g6_open(0), 0) << nbcc_g6_last_error();
  start(0, system);
  const double before = energy(system);
  while (std::ranges::min(system.stars, {}, &Star::t).t < end && !testing::Test::HasFatalFailure()) step(0, system);
  // Potentials of one time, of the places as corrected.
  std::vector<Star> stars = system.stars;
  for (const Star& s : stars) EXPECT_EQ(s.t, end);
  for (Star& s : system.stars) s.pot = 0;
  for (std::size_t i = 0; i < stars.size(); ++i) {
    for (std::size_t j = 0; j < stars.size(); ++j) {
      Vec3 d;
      for (std::size_t c = 0; c < 3; ++c) d[c] = stars[j].x[c] - stars[i].x[c];
      if (i != j) system.stars[i].pot -= stars[j].mass / std::sqrt(std::pow(length(d), 2) + system.eps2);
    }
  }
  EXPECT_EQ(g6_close(0), 0);
  testing::Test::RecordProperty("steps", system.steps);
  const double error = std::abs(energy(system) / before - 1);
  testing::Test::RecordProperty("energy_error", std::to_string(error * 1e9) + "e-9");
  return error;
}

TEST(g6_hermite, two_bodies_keep_their_energy_for_ten_orbits) {
  setenv("NBCC_PRECISION", "double", 1);
  System two;
  two.shortest = 0x1p-20;
  two.longest = 0x1p-4;
  // Of eccentricity 0.5, semi-major axis 1, total mass 1, at the apocentre: a period is 2 pi.
  const double speed = std::sqrt(1.0 / 3);
  two.stars = {{.mass = 0.5, .x = {-0.75, 0, 0}, .v = {0, -speed / 2, 0}},
               {.mass = 0.5, .x = {0.75, 0, 0}, .v = {0, speed / 2, 0}}};
  EXPECT_LT(energy_error(two, 63), 5e-6);
  unsetenv("NBCC_PRECISION");
}

// Plummer's model in the units of Heggie & Mathieu, with the velocities of Aarseth, Henon & Wielen (1974).
System plummer(int n) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto direction = [&](double r) {
    const double z = 2 * uniform(random) - 1, phi = 2 * std::numbers::pi * uniform(random), s = std::sqrt(1 - z * z);
    return Vec3{r * s * std::cos(phi), r * s * std::sin(phi), r * z};
  };
  System system;
  system.eps2 = 1e-4;
  system.shortest = 0x1p-20;
  system.longest = 0x1p-4;
  const double scale = 3 * std::numbers::pi / 16;
  for (int k = 0; k < n; ++k) {
    const double r = 1 / std::sqrt(std::pow(0.01 + 0.98 * uniform(random), -2.0 / 3) - 1);
    double q = 0, g = 1;
    while (g > q * q * std::pow(1 - q * q, 3.5)) {
      q = uniform(random);
      g = 0.1 * uniform(random);
    }
    const double speed = q * std::sqrt(2.0) * std::pow(1 + r * r, -0.25);
    system.stars.push_back({.mass = 1.0 / n, .x = direction(r * scale), .v = direction(speed / std::sqrt(scale))});
  }
  return system;
}

TEST(g6_hermite, a_cluster_keeps_its_energy_in_mixed_precision) { EXPECT_LT(energy_error(plummer(128), 1), 1e-5); }

}  // namespace
}  // namespace nbcc
