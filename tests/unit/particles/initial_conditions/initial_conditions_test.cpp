#include "particles/initial_conditions/initial_conditions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "particles/initial_conditions/random_numbers.h"
#include "runtime/error.h"
#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using test::error_of;
using Doubles = std::vector<double>;

const Doubles& values(const ParticleTable& table, std::string_view name) {
  return std::get<Doubles>(table.find(name)->data);
}

double kinetic_energy(const ParticleTable& table) {
  const Doubles &m = values(table, "m"), &v = values(table, "v");
  double sum = 0;
  for (std::size_t k = 0; k < v.size(); ++k) sum += m[k / 3] * v[k] * v[k] / 2;
  return sum;
}

// G = 1.
double potential_energy(const ParticleTable& table) {
  const Doubles &m = values(table, "m"), &x = values(table, "x");
  double sum = 0;
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      sum -= m[i] * m[j] / std::hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1], x[3 * i + 2] - x[3 * j + 2]);
  return sum;
}

double largest_mean(const ParticleTable& table, std::string_view name) {
  const Doubles &m = values(table, "m"), &vectors = values(table, name);
  double mean[3] = {};
  for (std::size_t k = 0; k < vectors.size(); ++k) mean[k % 3] += m[k / 3] * vectors[k];
  return std::max({std::fabs(mean[0]), std::fabs(mean[1]), std::fabs(mean[2])});
}

Doubles radii(const ParticleTable& table) {
  const Doubles& x = values(table, "x");
  Doubles r(x.size() / 3);
  for (std::size_t k = 0; k < r.size(); ++k) r[k] = std::hypot(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
  std::sort(r.begin(), r.end());
  return r;
}

TEST(RandomNumbers, SeedGivesTheSameNumbersEverywhere) {
  // splitmix64 from 0 begins with e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f, f88bb8a8724c81ec;
  // the first output follows by hand: rotl(5 * 6e789e6aa1b965f4, 7) * 9.
  EXPECT_EQ(RandomNumbers(0).next(), std::rotl(5 * 0x6e789e6aa1b965f4u, 7) * 9);
}

TEST(RandomNumbers, UniformNumbersAreUniform) {
  RandomNumbers random(1);
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (int k = 0; k < count; ++k) {
    const double u = random.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
  }
  // Five standard deviations: sqrt(1/12/N) and sqrt(4/45/N).
  EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
  EXPECT_NEAR(squares / count, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / count));
}

TEST(InitialConditions, PlummerIsExactlyVirial) {
  ParticleTable table = make_initial_conditions("plummer", 1000, 7);
  EXPECT_EQ(*table.find_attribute("scaled to virial"), "no");
  scale_to_virial(table, potential_energy(table));
  EXPECT_EQ(*table.find_attribute("scaled to virial"), "yes: K = 1/4, U = -1/2");
  EXPECT_NEAR(kinetic_energy(table), 0.25, 1e-12);
  EXPECT_NEAR(potential_energy(table), -0.5, 1e-12);
}

TEST(InitialConditions, PlummerRestsInTheOrigin) {
  const ParticleTable table = make_initial_conditions("plummer", 1000, 7);
  EXPECT_LT(largest_mean(table, "x"), 1e-15);
  EXPECT_LT(largest_mean(table, "v"), 1e-15);
}

TEST(InitialConditions, PlummerHasItsHalfMassRadius) {
  constexpr int n = 16384;
  const Doubles r = radii(make_initial_conditions("plummer", n, 1));
  // The truncation holds 0.999 of the mass, which moves the median inwards by 0.0009. The median of N scatters by
  // 1/(2 f sqrt(N)), with the density f = dM/dr = 0.609 there.
  EXPECT_NEAR(r[n / 2], 0.768570630660 - 0.0009, 4 / (2 * 0.609 * std::sqrt(n)));
}

TEST(InitialConditions, PlummerMassFollowsTheRadius) {
  constexpr int n = 16384;
  constexpr double length = 3 * std::numbers::pi / 16, truncation = 22.8;
  const auto mass = [&](double r) { return std::pow(1 + length * length / (r * r), -1.5); };
  const Doubles r = radii(make_initial_conditions("plummer", n, 2));
  double distance = 0;
  for (int k = 0; k < n; ++k) distance = std::max(distance, std::fabs(mass(r[k]) / mass(truncation) - (k + 0.5) / n));
  EXPECT_LT(distance, 1.95 / std::sqrt(n));  // Kolmogorov-Smirnov, one in a thousand
}

TEST(InitialConditions, PlummerSpeedsHaveTheVirialMean) {
  constexpr int n = 16384;
  const double kinetic = kinetic_energy(make_initial_conditions("plummer", n, 3));
  // v^2/2 scatters by about its mean, 1/4, from particle to particle.
  EXPECT_NEAR(kinetic, 0.25, 4 * 0.25 / std::sqrt(n));
}

TEST(InitialConditions, PlummerIsTruncated) {
  InitialConditionOptions options;
  options.truncation_radius = 2;
  EXPECT_LT(radii(make_initial_conditions("plummer", 1000, 1, options)).back(), 2.1);  // then moved to its centre
}

TEST(InitialConditions, OnePlummerParticleRests) {
  const ParticleTable table = make_initial_conditions("plummer", 1, 5);
  EXPECT_EQ(values(table, "x"), Doubles(3));
  EXPECT_EQ(values(table, "v"), Doubles(3));
}

TEST(InitialConditions, SeedDecides) {
  const auto x = [](std::uint64_t seed) { return values(make_initial_conditions("plummer", 10, seed), "x"); };
  EXPECT_EQ(x(1), x(1));
  EXPECT_NE(x(1), x(2));
}

TEST(InitialConditions, ColumnsAndAttributesAreThere) {
  for (const InitialConditionKind& kind : initial_condition_kinds()) {
    const ParticleTable table = make_initial_conditions(kind.name, kind.particles == 0 ? 10 : 0, 1);
    EXPECT_EQ(table.column_names(), "id, m, x[3], v[3]") << kind.name;
    EXPECT_EQ(table_fault(table), "") << kind.name;
    EXPECT_NE(table.find_attribute("units"), nullptr) << kind.name;
    EXPECT_NE(table.find_attribute("G"), nullptr) << kind.name;
  }
}

TEST(InitialConditions, CubeIsColdAndUniform) {
  const ParticleTable table = make_initial_conditions("cube", 10000, 1);
  EXPECT_EQ(values(table, "v"), Doubles(30000));
  double mean[3] = {};
  for (std::size_t k = 0; k < 30000; ++k) {
    const double x = values(table, "x")[k];
    ASSERT_TRUE(x >= 0 && x < 1);
    mean[k % 3] += x / 10000;
  }
  for (double part : mean) EXPECT_NEAR(part, 0.5, 5 * std::sqrt(1.0 / 12 / 10000));
}

TEST(InitialConditions, TwoBodiesCircle) {
  const ParticleTable table = make_initial_conditions("two-body", 0, 0);
  EXPECT_EQ(values(table, "x")[0] - values(table, "x")[3], 1);
  EXPECT_EQ(kinetic_energy(table), 0.125);
  EXPECT_EQ(potential_energy(table), -0.25);
}

TEST(InitialConditions, FigureEightHasItsPublishedEnergy) {
  const ParticleTable table = make_initial_conditions("figure-eight", 3, 0);
  EXPECT_NEAR(kinetic_energy(table) + potential_energy(table), -1.287141992, 5e-10);
  EXPECT_LT(largest_mean(table, "v"), 1e-15);
}

TEST(InitialConditions, SolarSystemRestsInTheOrigin) {
  const ParticleTable table = make_initial_conditions("solar-system", 9, 0);
  EXPECT_LT(largest_mean(table, "x"), 1e-15);
  EXPECT_LT(largest_mean(table, "v"), 1e-15);
}

TEST(InitialConditions, SolarSystemStandsWhereVsop87HasIt) {
  // Heliocentric positions at J2000.0 from the check values of the theory VSOP87A (Bretagnon and Francou 1988). The
  // elements are stated good to 600 arc seconds for Jupiter and Saturn, to 50 and a million km for Uranus, else to 40.
  const struct {
    double x, y, z, tolerance;
  } expected[] = {{-0.1300934, -0.4472877, -0.0245984, 3e-4},  {-0.7183023, -0.0326546, 0.0410143, 3e-4},
                  {-0.1771355, 0.9672416, -0.0000039, 3e-4},   {1.3907159, -0.0134157, -0.0344678, 3e-4},
                  {4.0011740, 2.9385810, -0.1017838, 3e-3},    {6.4064069, 6.5699929, -0.3690768, 3e-3},
                  {14.4318934, -13.7343163, -0.2381422, 5e-4}, {16.8121117, -24.9916631, 0.1272190, 3e-4}};
  const ParticleTable table = make_initial_conditions("solar-system", 9, 0);
  const Doubles& x = values(table, "x");
  for (int k = 1; k <= 8; ++k) {
    const auto& planet = expected[k - 1];
    const double error =
        std::hypot(x[3 * k] - x[0] - planet.x, x[3 * k + 1] - x[1] - planet.y, x[3 * k + 2] - x[2] - planet.z);
    EXPECT_LT(error, planet.tolerance * std::hypot(planet.x, planet.y, planet.z)) << k;
  }
}

TEST(InitialConditions, PlanetsHaveTheEnergyOfTheirOrbits) {
  const ParticleTable table = make_initial_conditions("solar-system", 9, 0);
  const Doubles &m = values(table, "m"), &x = values(table, "x"), &v = values(table, "v");
  const double G = 0.01720209895 * 0.01720209895;
  const double axes[] = {0.38709927, 0.72333566, 1.00000261,  1.52371034,
                         5.20288700, 9.53667594, 19.18916464, 30.06992276};
  for (int k = 1; k <= 8; ++k) {
    const double r = std::hypot(x[3 * k] - x[0], x[3 * k + 1] - x[1], x[3 * k + 2] - x[2]);
    const double speed = std::hypot(v[3 * k] - v[0], v[3 * k + 1] - v[1], v[3 * k + 2] - v[2]);
    EXPECT_NEAR(1 / (2 / r - speed * speed / (G * (1 + m[k]))), axes[k - 1], 1e-12 * axes[k - 1]) << k;
  }
}

TEST(InitialConditions, WhatCannotBeMadeIsNamed) {
  EXPECT_EQ(error_of([] { make_initial_conditions("galaxy", 10, 1); }),
            "'galaxy' is not a kind of initial conditions; there are plummer, cube, disc, "
            "collision, two-body, figure-eight, solar-system");
  EXPECT_EQ(error_of([] { make_initial_conditions("plummer", 0, 1); }),
            "plummer needs the number of particles, at least 1");
  EXPECT_EQ(error_of([] { make_initial_conditions("two-body", 3, 1); }), "two-body has 2 particles; 3 cannot be made");
  EXPECT_EQ(error_of([] { make_initial_conditions("plummer", 10, 1, {.truncation_radius = 0.5}); }),
            "plummer: the truncation radius is 0.5; it must be at least 1 (Henon units)");
}

}  // namespace
}  // namespace nbcc
