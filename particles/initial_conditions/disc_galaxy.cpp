// Disc galaxies -> particle tables. Entry points: make_disc(), make_collision(). Sums over no pairs.
//
// The method is L. Hernquist's (ApJS 86 (1993) 389): positions from the densities, velocities from the moments of the
// collisionless Boltzmann equation in the potential of disc and halo, with normal distributions. As in
// initial_conditions.cpp only + - * / and square roots are used, so that a seed gives the same numbers everywhere:
// exponential deviates are von Neumann's (1951), normal ones follow from them by rejection.
#include "particles/initial_conditions/disc_galaxy.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "particles/initial_conditions/bodies.h"
#include "particles/initial_conditions/random_numbers.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using Point = Vector;
using Axes = std::array<Point, 3>;  // directions of a galaxy's x, y, z axes

constexpr double kPi = std::numbers::pi;
constexpr double kToomre = 3.36;      // Q = sigma_R kappa / (3.36 G Sigma)
constexpr double kLeastRadius = 0.5;  // of those where Q is at least the wanted one
constexpr double kGreatestRadius = 5;
constexpr double kSlowest = 0.95;  // of the escape speed: no body of the halo is faster

// exp(-x) for x >= 0, with a relative error of about 1e-15.
double decay(double x) {
  int halvings = 0;
  for (; x > 0.25; x /= 2) ++halvings;
  double sum = 1, term = 1;
  for (int k = 1; k < 14; ++k) sum += term *= x / k;
  double result = 1 / sum;
  for (; halvings > 0; --halvings) result *= result;
  return result;
}

// Von Neumann's method: draws runs of decreasing uniform numbers until a run has an odd length.
double exponential(RandomNumbers& random) {
  for (double whole = 0;; ++whole) {
    const double first = random.uniform();
    int length = 1;
    for (double last = first;; ++length) {
      const double next = random.uniform();
      if (next >= last) break;
      last = next;
    }
    if (length % 2 == 1) return whole + first;
  }
}

// exp(-x) bounds exp(-x^2 / 2) up to a factor; the ratio exp(-(x - 1)^2 / 2) is the chance to be accepted.
double normal(RandomNumbers& random) {
  for (;;) {
    const double x = exponential(random), limit = exponential(random);
    if (2 * limit < (x - 1) * (x - 1)) continue;
    return random.uniform() < 0.5 ? -x : x;
  }
}

// Values at equidistant arguments from 0 to `end`, read by linear interpolation.
class Curve {
 public:
  Curve(double end, std::vector<double> values) : end_(end), values_(std::move(values)) {}
  double at(double x) const {
    const double place = std::clamp(x / end_, 0.0, 1.0) * double(values_.size() - 1);
    const auto k = std::min(static_cast<std::size_t>(place), values_.size() - 2);
    return values_[k] + (place - double(k)) * (values_[k + 1] - values_[k]);
  }

 private:
  double end_;
  std::vector<double> values_;
};

// What all bodies of one galaxy are drawn from. G = 1, the disc's mass and scale length are 1.
class Galaxy {
 public:
  explicit Galaxy(const DiscGalaxyOptions& options) : options_(options) {
    fill_disc();
    fill_halo();
  }

  double least_q_radius() const { return least_q_radius_; }

  void add_star(RandomNumbers& random, std::vector<double>& x, std::vector<double>& v) const {
    double radius;
    do radius = exponential(random) + exponential(random);
    while (radius > options_.disc_limit);
    const auto [c, s] = direction(random);
    const double z = options_.disc_height * (exponential(random) * (random.uniform() < 0.5 ? -1 : 1));
    x.insert(x.end(), {radius * c, radius * s, z});
    const double outwards = radial_.at(radius) * normal(random);
    const double around = rotation_.at(radius) + tangential_.at(radius) * normal(random);
    v.insert(v.end(), {outwards * c - around * s, outwards * s + around * c, upwards(radius, z) * normal(random)});
  }

  void add_halo_body(RandomNumbers& random, std::vector<double>& x, std::vector<double>& v) const {
    const double within = options_.halo_limit / (options_.halo_limit + options_.halo_length);
    const double root = within * std::sqrt(random.uniform());  // r / (r + a), whose square is the share of the mass
    const double radius = options_.halo_length * root / (1 - root);
    const Point place = random_direction(random, radius);
    x.insert(x.end(), place.begin(), place.end());
    const double sigma = halo_sigma_.at(std::sqrt(radius)), limit = kSlowest * escape_.at(std::sqrt(radius));
    Point speed;
    do speed = {sigma * normal(random), sigma * normal(random), sigma * normal(random)};
    while (speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2] > limit * limit);
    v.insert(v.end(), speed.begin(), speed.end());
  }

 private:
  static constexpr int kRadii = 256;
  static constexpr int kRings = 512, kAngles = 128;  // of the quadrature of the disc's force
  static constexpr int kShells = 4096;

  static std::pair<double, double> direction(RandomNumbers& random) {
    for (;;) {
      const double c = random.uniform(-1, 1), s = random.uniform(-1, 1), square = c * c + s * s;
      if (square > 1 || square < 1e-6) continue;
      return {c / std::sqrt(square), s / std::sqrt(square)};
    }
  }

  double disc_mass(double radius) const { return std::min(1.0, (1 - (1 + radius) * decay(radius)) / whole_disc_); }
  double surface_density(double radius) const { return decay(radius) / (2 * kPi * whole_disc_); }
  double halo_mass(double radius) const {
    const auto share = [&](double r) { return r * r / ((r + options_.halo_length) * (r + options_.halo_length)); };
    return options_.halo_mass * share(std::min(radius, options_.halo_limit)) / share(options_.halo_limit);
  }

  // Cosines of kAngles angles in the middle of equal parts of the half circle.
  static std::vector<double> cosines() {
    double c = 0, s = 1;  // of a quarter of a turn, halved until it is half of a part
    for (int parts = 1; parts < kAngles; parts *= 2) {
      const double half = std::sqrt((1 + c) / 2);
      s /= 2 * half;
      c = half;
    }
    std::vector<double> result{c};
    const double c2 = c * c - s * s, s2 = 2 * s * c;
    for (int k = 1; k < kAngles; ++k) {
      result.push_back(c * c2 - s * s2);
      s = s * c2 + c * s2;
      c = result.back();
    }
    return result;
  }

  // Pull of the disc towards its centre, in its plane, by rings that are softened by the disc's height.
  double pull_of_disc(double radius, const std::vector<double>& cosine) const {
    const double width = options_.disc_limit / kRings, soft = options_.disc_height * options_.disc_height;
    double pull = 0;
    for (int k = 0; k < kRings; ++k) {
      const double ring = (k + 0.5) * width, mass = 2 * kPi * ring * width * surface_density(ring) / kAngles;
      for (const double c : cosine) {
        const double square = radius * radius + ring * ring - 2 * radius * ring * c + soft;
        pull += mass * (radius - ring * c) / (square * std::sqrt(square));
      }
    }
    return pull;
  }

  // Rotation and scatter of the velocities of the disc.
  void fill_disc() {
    whole_disc_ = 1 - (1 + options_.disc_limit) * decay(options_.disc_limit);
    const double step = options_.disc_limit / kRadii;
    const std::vector<double> cosine = cosines();
    std::vector<double> square(kRadii + 1), kappa_over_omega(kRadii + 1);  // of the circular speed; squared
    for (int k = 1; k <= kRadii; ++k) {
      const double r = k * step;
      square[std::size_t(k)] = std::max(0.0, r * pull_of_disc(r, cosine)) + halo_mass(r) / r;
    }
    // kappa^2 / Omega^2 = 2 + d ln v^2 / d ln r, between 1 (a point's mass) and 4 (a uniform sphere).
    for (int k = 1; k <= kRadii; ++k) {
      const int low = std::max(1, k - 1), high = std::min(kRadii, k + 1);
      const double slope = (square[std::size_t(high)] - square[std::size_t(low)]) / ((high - low) * step);
      kappa_over_omega[std::size_t(k)] = std::clamp(2 + k * step * slope / square[std::size_t(k)], 1.0, 4.0);
    }
    kappa_over_omega[0] = 4;
    // sigma_R^2 falls like the surface density.
    double least = 0;
    for (int k = 1; k <= kRadii; ++k) {
      const double r = k * step;
      if (r < kLeastRadius || r > kGreatestRadius) continue;
      const double kappa = std::sqrt(kappa_over_omega[std::size_t(k)] * square[std::size_t(k)]) / r;
      const double q = std::sqrt(decay(r)) * kappa / (kToomre * surface_density(r));
      if (least_q_radius_ > 0 && q >= least) continue;
      least = q;
      least_q_radius_ = r;
    }
    const double factor = options_.toomre_q / least;
    std::vector<double> radial(kRadii + 1), tangential(kRadii + 1), rotation(kRadii + 1);
    for (int k = 0; k <= kRadii; ++k) {
      const double r = k * step, sigma = factor * factor * decay(r), ratio = kappa_over_omega[std::size_t(k)] / 4;
      // The asymmetric drift of a disc whose Sigma sigma_R^2 falls as exp(-2 R).
      const double drifting = square[std::size_t(k)] + sigma * (1 - ratio - 2 * r);
      rotation[std::size_t(k)] = std::sqrt(std::max(0.0, drifting));
      // Where the scatter exceeds the rotation, at the centre, it is the circular speed that limits it.
      radial[std::size_t(k)] = std::sqrt(sigma);
      tangential[std::size_t(k)] = std::sqrt(sigma * ratio);
    }
    radial_ = Curve(options_.disc_limit, std::move(radial));
    tangential_ = Curve(options_.disc_limit, std::move(tangential));
    rotation_ = Curve(options_.disc_limit, std::move(rotation));
  }

  // sigma_z at a height of a sheet whose density falls as exp(-|z| / height).
  double upwards(double radius, double z) const {
    const double height = options_.disc_height;
    return std::sqrt(2 * kPi * surface_density(radius) * height * (1 - decay(std::fabs(z) / height) / 2));
  }

  // Jeans's equation of an isotropic halo in the mass of halo and disc, the latter as if it were spherical, from the
  // limit inwards. Both curves are over the square root of the radius.
  void fill_halo() {
    const double end = std::sqrt(options_.halo_limit);
    const auto radius_of = [&](int k) { return (end * k / kShells) * (end * k / kShells); };
    const auto mass = [&](double r) { return halo_mass(r) + disc_mass(r); };
    const auto density = [&](double r) {
      const double length = r + options_.halo_length;
      return 1 / (r * length * length * length);
    };
    std::vector<double> sigma(kShells + 1), escape(kShells + 1);
    double pressure = 0, potential = mass(options_.halo_limit) / options_.halo_limit;
    escape[kShells] = std::sqrt(2 * potential);
    for (int k = kShells - 1; k >= 1; --k) {
      const double inner = radius_of(k), outer = radius_of(k + 1), r = 0.5 * (inner + outer), pull = mass(r) / (r * r);
      pressure += density(r) * pull * (outer - inner);
      potential += pull * (outer - inner);
      sigma[std::size_t(k)] = std::sqrt(pressure / density(inner));
      escape[std::size_t(k)] = std::sqrt(2 * potential);
    }
    sigma[0] = sigma[1];
    escape[0] = escape[1];
    halo_sigma_ = Curve(end, std::move(sigma));
    escape_ = Curve(end, std::move(escape));
  }

  DiscGalaxyOptions options_;
  double whole_disc_ = 1;  // the share of an endless exponential disc that lies within the limit
  double least_q_radius_ = 0;
  Curve radial_{1, {0, 0}}, tangential_{1, {0, 0}}, rotation_{1, {0, 0}}, halo_sigma_{1, {0, 0}}, escape_{1, {0, 0}};
};

struct Parts {
  Bodies disc, halo;
};

std::int64_t disc_bodies(std::int64_t n, double share) {
  return std::clamp(static_cast<std::int64_t>(double(n) * share), std::int64_t{1}, n - 1);
}

void rest(Parts& parts) {
  double mass = 0;
  Point place{}, speed{};
  for (const Bodies* part : {&parts.disc, &parts.halo})
    for (std::size_t k = 0; k < part->x.size(); ++k) {
      if (k % 3 == 0) mass += part->m[k / 3];
      place[k % 3] += part->m[k / 3] * part->x[k];
      speed[k % 3] += part->m[k / 3] * part->v[k];
    }
  for (Bodies* part : {&parts.disc, &parts.halo})
    for (std::size_t k = 0; k < part->x.size(); ++k) {
      part->x[k] -= place[k % 3] / mass;
      part->v[k] -= speed[k % 3] / mass;
    }
}

Parts draw_galaxy(const Galaxy& galaxy, const DiscGalaxyOptions& options, std::int64_t n, std::uint64_t seed) {
  RandomNumbers random(seed);
  const std::int64_t stars = disc_bodies(n, options.disc_share);
  Parts parts;
  parts.disc.m.assign(std::size_t(stars), 1 / double(stars));
  parts.halo.m.assign(std::size_t(n - stars), options.halo_mass / double(n - stars));
  for (std::int64_t k = 0; k < stars; ++k) galaxy.add_star(random, parts.disc.x, parts.disc.v);
  for (std::int64_t k = stars; k < n; ++k) galaxy.add_halo_body(random, parts.halo.x, parts.halo.v);
  rest(parts);
  return parts;
}

void turn_and_move(std::vector<double>& vectors, const Axes& axes, const Point& by) {
  for (std::size_t k = 0; k + 2 < vectors.size(); k += 3) {
    const Point own = {vectors[k], vectors[k + 1], vectors[k + 2]};
    for (std::size_t c = 0; c < 3; ++c)
      vectors[k + c] = own[0] * axes[0][c] + own[1] * axes[1][c] + own[2] * axes[2][c] + by[c];
  }
}

void append(Bodies& all, const Bodies& part) {
  all.m.insert(all.m.end(), part.m.begin(), part.m.end());
  all.x.insert(all.x.end(), part.x.begin(), part.x.end());
  all.v.insert(all.v.end(), part.v.begin(), part.v.end());
}

ParticleTable table_of(Bodies bodies, std::int64_t stars, const Galaxy& galaxy, const DiscGalaxyOptions& options,
                       Attributes first) {
  ParticleTable table = to_table(std::move(bodies), std::move(first));
  const Attributes common = {
      {"units", "G = 1, mass of a disc = 1, scale length of a disc = 1"},
      {"G", "1"},
      {"disc", fmt::format("exponential to radius {}, height {}, mass 1", options.disc_limit, options.disc_height)},
      {"Toomre Q", fmt::format("{}, the least of the radii {} to {}, at {:.2f}", options.toomre_q, kLeastRadius,
                               kGreatestRadius, galaxy.least_q_radius())},
      {"halo", fmt::format("Hernquist, length {}, mass {} within {}", options.halo_length, options.halo_mass,
                           options.halo_limit)},
      {"disc bodies", std::to_string(stars)}};
  table.attributes.insert(table.attributes.end(), common.begin(), common.end());
  return table;
}

void check(const DiscGalaxyOptions& options) {
  if (!(options.toomre_q > 0) || !(options.toomre_q <= 10))
    throw UsageError(fmt::format("Toomre's Q is {}; it must be above 0 and at most 10", options.toomre_q));
}

void require(std::string_view kind, std::int64_t n, std::int64_t least) {
  if (n < least)
    throw UsageError(
        fmt::format("{} needs at least {} particles, for discs and halos; {} cannot be made", kind, least, n));
}

}  // namespace

ParticleTable make_disc(std::int64_t n, std::uint64_t seed, const DiscGalaxyOptions& options) {
  check(options);
  require("disc", n, 2);
  const Galaxy galaxy(options);
  Parts parts = draw_galaxy(galaxy, options, n, seed);
  const auto stars = static_cast<std::int64_t>(parts.disc.m.size());
  append(parts.disc, parts.halo);
  return table_of(std::move(parts.disc), stars, galaxy, options,
                  {{"model", "disc galaxy in a halo"}, {"seed", std::to_string(seed)}});
}

ParticleTable make_collision(std::int64_t n, std::uint64_t seed, const DiscGalaxyOptions& options) {
  check(options);
  require("collision", n, 4);
  const Galaxy galaxy(options);
  const double mass = 2 * (1 + options.halo_mass);  // of both
  const double distance = options.separation, q = options.pericentre;
  const double across = std::sqrt(2 * mass * q) / distance, square = 2 * mass / distance;
  const double towards = std::sqrt(std::max(0.0, square - across * across));
  const double c60 = 0.5, s60 = std::sqrt(3.0) / 2, c30 = s60;
  Bodies stars, halos;
  for (int k = 0; k < 2; ++k) {
    // The node is the axis at -30 (+30) degrees in the plane of the orbit; the disc is turned about it by 60 degrees.
    const double sign = k == 0 ? -1 : 1;
    const Point node = {c30, sign * 0.5, 0}, beside = {-sign * 0.5 * c60, c30 * c60, s60};
    const Axes axes = {node,
                       beside,
                       {node[1] * beside[2] - node[2] * beside[1], node[2] * beside[0] - node[0] * beside[2],
                        node[0] * beside[1] - node[1] * beside[0]}};
    Parts parts = draw_galaxy(galaxy, options, k == 0 ? (n + 1) / 2 : n / 2, seed + std::uint64_t(k));
    for (Bodies* part : {&parts.disc, &parts.halo}) {
      turn_and_move(part->x, axes, {sign * distance / 2, 0, 0});
      turn_and_move(part->v, axes, {-sign * towards / 2, sign * across / 2, 0});
    }
    append(stars, parts.disc);
    append(halos, parts.halo);
  }
  const auto in_discs = static_cast<std::int64_t>(stars.m.size());
  append(stars, halos);
  return table_of(std::move(stars), in_discs, galaxy, options,
                  {{"model", "two equal disc galaxies in halos, inclined by 60 degrees, before their collision"},
                   {"seed", fmt::format("{}, {}", seed, seed + 1)},
                   {"orbit", fmt::format("parabola of two points, separation {}, pericentre {}", distance, q)}});
}

}  // namespace nbcc
