// Generates initial conditions. Entry points: make_initial_conditions(), scale_to_virial(). Writes no files and sums
// over no pairs.
//
// Particles are computed from the seed with + - * / and square roots only: IEEE 754 requires correct rounding of these,
// while pow and cbrt differ between C libraries.
#include "particles/initial_conditions/initial_conditions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "particles/initial_conditions/bodies.h"
#include "particles/initial_conditions/disc_galaxy.h"
#include "particles/initial_conditions/random_numbers.h"
#include "particles/initial_conditions/solar_system.h"
#include "particles/text_words.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// Henon's units: G = M = 1 and E = -1/4 make the Plummer length 3 pi / 16.
constexpr double kPlummerLength = 3 * std::numbers::pi / 16;

constexpr const char* kScaled = "scaled to virial";  // key of an attribute

// A random radius in Plummer lengths. The mass within r is s^3 with s = r / sqrt(1 + r^2), and the largest of three
// uniform numbers has the distribution s^3, so that no cube root is needed.
double plummer_radius(RandomNumbers& random, double limit) {
  for (;;) {
    const double first = random.uniform(), second = random.uniform(), third = random.uniform();
    const double s = std::max({first, second, third});
    const double radius = s / std::sqrt((1 - s) * (1 + s));
    if (radius <= limit) return radius;
  }
}

// A random ratio q of speed to escape speed with density q^2 (1 - q^2)^(7/2), by rejection sampling; the density's
// maximum is 0.0922 at q^2 = 2/9 (Aarseth, Henon and Wielen 1974).
double plummer_speed_ratio(RandomNumbers& random) {
  for (;;) {
    const double q = random.uniform(), height = random.uniform(0, 0.1);
    const double rest = (1 - q) * (1 + q);
    if (height < q * q * rest * rest * rest * std::sqrt(rest)) return q;
  }
}

void move_to_centre(Bodies& bodies) {
  for (std::vector<double>* vectors : {&bodies.x, &bodies.v}) {
    double mass = 0;
    Vector sum = {};
    for (std::size_t k = 0; k < bodies.m.size(); ++k) {
      mass += bodies.m[k];
      for (int c = 0; c < 3; ++c) sum[c] += bodies.m[k] * (*vectors)[3 * k + c];
    }
    for (std::size_t k = 0; k < vectors->size(); ++k) (*vectors)[k] -= sum[k % 3] / mass;
  }
}

ParticleTable make_plummer(std::int64_t n, std::uint64_t seed, const InitialConditionOptions& options) {
  // Half of the mass lies within 1.3 Plummer lengths; a truncation inside of that does not give a Plummer sphere.
  if (!(options.truncation_radius >= 1))
    throw UsageError(fmt::format("plummer: the truncation radius is {}; it must be at least 1 (Henon units)",
                                 options.truncation_radius));
  RandomNumbers random(seed);
  Bodies bodies;
  bodies.m.assign(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const double radius = plummer_radius(random, options.truncation_radius / kPlummerLength);
    const Vector x = random_direction(random, radius * kPlummerLength);
    const double escape = std::sqrt(2 / (kPlummerLength * std::sqrt(1 + radius * radius)));
    const Vector v = random_direction(random, plummer_speed_ratio(random) * escape);
    bodies.x.insert(bodies.x.end(), x.begin(), x.end());
    bodies.v.insert(bodies.v.end(), v.begin(), v.end());
  }
  move_to_centre(bodies);
  return to_table(std::move(bodies), {{"model", "Plummer sphere"},
                                      {"seed", std::to_string(seed)},
                                      {"units", "Henon units (G = 1, M = 1, E = -1/4)"},
                                      {"G", "1"},
                                      {"truncation radius", fmt::format("{}", options.truncation_radius)},
                                      {kScaled, "no"}});
}

ParticleTable make_cube(std::int64_t n, std::uint64_t seed) {
  RandomNumbers random(seed);
  const auto count = static_cast<std::size_t>(n);
  Bodies bodies{std::vector<double>(count, 1.0 / static_cast<double>(n)), std::vector<double>(3 * count),
                std::vector<double>(3 * count)};
  for (double& value : bodies.x) value = random.uniform();
  return to_table(std::move(bodies), {{"model", "uniform unit cube [0, 1)^3, at rest"},
                                      {"seed", std::to_string(seed)},
                                      {"units", "G = 1, M = 1, edge = 1"},
                                      {"G", "1"}});
}

ParticleTable make_two_body() {
  // Angular velocity sqrt(G M / d^3) = 1: each body circles at radius 1/2 with speed 1/2, period 2 pi.
  return to_table(
      {{0.5, 0.5}, {0.5, 0, 0, -0.5, 0, 0}, {0, 0.5, 0, 0, -0.5, 0}},
      {{"model", "circular pair of equal masses, separation 1, period 2 pi"}, {"units", "G = 1, M = 1"}, {"G", "1"}});
}

ParticleTable make_figure_eight() {
  const Vector x = {0.97000436, -0.24308753, 0}, v = {-0.93240737, -0.86473146, 0};
  return to_table(
      {{1, 1, 1},
       {x[0], x[1], 0, -x[0], -x[1], 0, 0, 0, 0},
       {-v[0] / 2, -v[1] / 2, 0, -v[0] / 2, -v[1] / 2, 0, v[0], v[1], 0}},
      {{"model", "figure-eight orbit (Chenciner and Montgomery 2000, digits of C. Simo), period 6.32591398"},
       {"units", "G = 1, m = 1"},
       {"G", "1"}});
}

}  // namespace

void scale_to_virial(ParticleTable& table, double potential_energy) {
  const auto column = [&](std::string_view name) -> std::vector<double>& {
    return std::get<std::vector<double>>(std::ranges::find(table.columns, name, &ParticleColumn::name)->data);
  };
  const double length = potential_energy / -0.5;
  for (double& value : column("x")) value *= length;
  double kinetic = 0;
  std::vector<double>& v = column("v");
  for (std::size_t k = 0; k < v.size(); ++k) kinetic += 0.5 * column("m")[k / 3] * v[k] * v[k];
  const double speed = std::sqrt(0.25 / kinetic);
  for (double& value : v) value *= speed;
  for (auto& [name, value] : table.attributes)
    if (name == kScaled) value = "yes: K = 1/4, U = -1/2";
}

const std::vector<InitialConditionKind>& initial_condition_kinds() {
  static const std::vector<InitialConditionKind> kinds = {
      {"plummer", "Plummer sphere in Henon units, in virial equilibrium", 0},
      {"cube", "uniform unit cube, at rest", 0},
      {"disc", "exponential disc that rotates in a Hernquist halo (G = 1)", 0},
      {"collision", "two disc galaxies on a parabola towards each other (G = 1)", 0},
      {"two-body", "circular pair of equal masses", 2},
      {"figure-eight", "three equal masses on one figure-eight orbit", 3},
      {"solar-system", "the Sun and eight planets at J2000.0 (solar masses, AU, days)", 9}};
  return kinds;
}

ParticleTable make_initial_conditions(std::string_view kind, std::int64_t n, std::uint64_t seed,
                                      const InitialConditionOptions& options) {
  std::string names;
  for (const InitialConditionKind& known : initial_condition_kinds()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    if (known.name != kind) continue;
    if (known.particles != 0 && n != 0 && n != known.particles)
      throw UsageError(fmt::format("{} has {}; {} cannot be made", kind, counted(known.particles, "particle"), n));
    if (known.particles == 0 && n < 1)
      throw UsageError(fmt::format("{} needs the number of particles, at least 1", kind));
    if (kind == "plummer") return make_plummer(n, seed, options);
    if (kind == "cube") return make_cube(n, seed);
    if (kind == "disc") return make_disc(n, seed, options.galaxy);
    if (kind == "collision") return make_collision(n, seed, options.galaxy);
    if (kind == "two-body") return make_two_body();
    return kind == "figure-eight" ? make_figure_eight() : make_solar_system();
  }
  throw UsageError(fmt::format("'{}' is not a kind of initial conditions; there are {}", kind, names));
}

}  // namespace nbcc
