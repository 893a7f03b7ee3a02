// Positions and velocities of the planets from E. M. Standish's "Keplerian Elements for Approximate Positions of the
// Major Planets" (JPL; the table for 1800-2050, at its epoch J2000.0 = JD 2451545.0 TDB). Entry point:
// make_solar_system(). The elements are accurate to some arc seconds (Saturn: ten arc minutes). This is not an
// ephemeris: it gives the epoch only. The row of the Earth is the barycentre of Earth and Moon, with the mass of both.
#include "particles/initial_conditions/solar_system.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <numbers>

namespace nbcc {
namespace {

constexpr double kGauss = 0.01720209895;
constexpr double kG = kGauss * kGauss;

struct Planet {
  const char* name;
  double sun_over_mass;  // IAU 2009 system of astronomical constants
  double axis, eccentricity;
  double inclination, mean_longitude, perihelion_longitude, node_longitude;  // degrees
};

constexpr Planet kPlanets[] = {
    {"Mercury", 6023600.0, 0.38709927, 0.20563593, 7.00497902, 252.25032350, 77.45779628, 48.33076593},
    {"Venus", 408523.719, 0.72333566, 0.00677672, 3.39467605, 181.97909950, 131.60246718, 76.67984255},
    {"Earth", 328900.5614, 1.00000261, 0.01671123, -0.00001531, 100.46457166, 102.93768193, 0.0},
    {"Mars", 3098703.59, 1.52371034, 0.09339410, 1.84969142, -4.55343205, -23.94362959, 49.55953891},
    {"Jupiter", 1047.348644, 5.20288700, 0.04838624, 1.30439695, 34.39644051, 14.72847983, 100.47390909},
    {"Saturn", 3497.9018, 9.53667594, 0.05386179, 2.48599187, 49.95424423, 92.59887831, 113.66242448},
    {"Uranus", 22902.98, 19.18916464, 0.04725744, 0.77263783, 313.23810451, 170.95427630, 74.01692503},
    {"Neptune", 19412.26, 30.06992276, 0.00859048, 1.77004347, -55.12002969, 44.96476227, 131.78422574},
};

struct State {
  std::array<double, 3> x, v;
};

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

double eccentric_anomaly(double mean_anomaly, double eccentricity) {
  double anomaly = mean_anomaly + eccentricity * std::sin(mean_anomaly);
  // Newton's method doubles the number of digits per step. The first error is below e^2, so five steps suffice for any
  // planet.
  for (int step = 0; step < 5; ++step)
    anomaly -= (anomaly - eccentricity * std::sin(anomaly) - mean_anomaly) / (1 - eccentricity * std::cos(anomaly));
  return anomaly;
}

// Position and velocity relative to the Sun.
State heliocentric(const Planet& planet) {
  const double e = planet.eccentricity;
  const double anomaly = eccentric_anomaly(
      std::remainder(radians(planet.mean_longitude - planet.perihelion_longitude), 2 * std::numbers::pi), e);
  const double minor = planet.axis * std::sqrt(1 - e * e);
  const double mean_motion = std::sqrt(kG * (1 + 1 / planet.sun_over_mass) / (planet.axis * planet.axis * planet.axis));
  const double rate = mean_motion / (1 - e * std::cos(anomaly));
  // In the plane of the orbit, p towards perihelion and q a quarter turn ahead.
  const double p = planet.axis * (std::cos(anomaly) - e), q = minor * std::sin(anomaly);
  const double vp = -planet.axis * rate * std::sin(anomaly), vq = minor * rate * std::cos(anomaly);

  const double argument = radians(planet.perihelion_longitude - planet.node_longitude);
  const double node = radians(planet.node_longitude), tilt = radians(planet.inclination);
  const double cw = std::cos(argument), sw = std::sin(argument), cn = std::cos(node), sn = std::sin(node);
  const double ci = std::cos(tilt), si = std::sin(tilt);
  const std::array<double, 3> to_p = {cw * cn - sw * sn * ci, cw * sn + sw * cn * ci, sw * si};
  const std::array<double, 3> to_q = {-sw * cn - cw * sn * ci, -sw * sn + cw * cn * ci, cw * si};
  State state;
  for (int c = 0; c < 3; ++c) {
    state.x[c] = to_p[c] * p + to_q[c] * q;
    state.v[c] = to_p[c] * vp + to_q[c] * vq;
  }
  return state;
}

}  // namespace

ParticleTable make_solar_system() {
  std::vector<std::int64_t> id = {0};
  std::vector<double> m = {1.0}, x(3), v(3);
  std::string names = "Sun";
  for (const Planet& planet : kPlanets) {
    const State state = heliocentric(planet);
    id.push_back(static_cast<std::int64_t>(id.size()));
    m.push_back(1 / planet.sun_over_mass);
    x.insert(x.end(), state.x.begin(), state.x.end());
    v.insert(v.end(), state.v.begin(), state.v.end());
    names += fmt::format(", {}", planet.name);
  }
  double mass = 0, mx[3] = {}, mv[3] = {};
  for (std::size_t k = 0; k < m.size(); ++k) {
    mass += m[k];
    for (int c = 0; c < 3; ++c) {
      mx[c] += m[k] * x[3 * k + c];
      mv[c] += m[k] * v[3 * k + c];
    }
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] -= mx[k % 3] / mass;
    v[k] -= mv[k % 3] / mass;
  }

  ParticleTable table;
  table.rows = static_cast<std::int64_t>(m.size());
  table.columns = {{"id", 1, std::move(id)}, {"m", 1, std::move(m)}, {"x", 3, std::move(x)}, {"v", 3, std::move(v)}};
  table.attributes = {{"bodies", names},
                      {"units", "mass: solar mass, length: AU, time: day"},
                      {"G", fmt::format("{:.17g}", kG)},
                      {"epoch", "J2000.0 (JD 2451545.0 TDB)"},
                      {"frame", "ecliptic and equinox of J2000, centre of mass at rest in the origin"},
                      {"source", "JPL, Approximate Positions of the Planets (Standish), elements for 1800-2050"}};
  return table;
}

}  // namespace nbcc
