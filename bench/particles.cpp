// Numbers of particles -> particles, always the same ones. Entry points: plummer(), liquid(), gas(), charges(),
// light(), centres().
#include "bench/particles.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace nbcc::bench {
namespace {

class Random {
 public:
  double uniform(double low, double high) { return float(low + (high - low) * (double(engine_() >> 11) * 0x1p-53)); }
  double on_grid(double low, double high, double step) { return std::round(uniform(low, high) / step) * step; }

 private:
  std::mt19937_64 engine_{1};
};

std::vector<double> uniform(Random& random, std::int64_t count, double low, double high) {
  std::vector<double> values(std::size_t(count), 0.0);
  for (double& value : values) value = random.uniform(low, high);
  return values;
}

void add_direction(Random& random, double length, std::vector<double>& out) {
  const double z = random.uniform(-1, 1), phi = random.uniform(0, 2 * std::numbers::pi), s = std::sqrt(1 - z * z);
  for (double c : {s * std::cos(phi), s * std::sin(phi), z}) out.push_back(float(length * c));
}

// One particle near each point of a cubic lattice, at most `away` from it in each direction, on a grid.
std::vector<double> lattice(Random& random, std::int64_t side, double spacing, double away, double grid) {
  std::vector<double> x;
  const auto place = [&](std::int64_t k) { return spacing * (double(k) + 0.5) + random.on_grid(-away, away, grid); };
  for (std::int64_t a = 0; a < side; ++a)
    for (std::int64_t b = 0; b < side; ++b)
      for (std::int64_t c = 0; c < side; ++c)
        for (std::int64_t k : {a, b, c}) x.push_back(place(k));
  return x;
}

}  // namespace

Particles plummer(std::int64_t n) {
  Random random;
  Particles p;
  p.n = n;
  for (std::int64_t k = 0; k < n; ++k) {
    double r = 11;
    while (r > 10) r = 1 / std::sqrt(std::pow(random.uniform(1e-6, 1), -2.0 / 3) - 1);
    add_direction(random, r, p.fields["x"]);
    add_direction(random, 0.7 * random.uniform(0, 1) / std::sqrt(std::sqrt(1 + r * r)), p.fields["v"]);
  }
  p.fields["m"].assign(std::size_t(n), float(1.0 / double(n)));
  p.params["eps2"] = {1e-4f};
  return p;
}

Particles liquid(std::int64_t side) {
  Random random;
  Particles p;
  p.n = side * side * side;
  p.fields["x"] = lattice(random, side, 1, 0.1, 1.0 / 256);
  p.params["box"].assign(3, double(side));
  p.params["rc"] = {3};
  p.params["shift"] = {1};
  return p;
}

Particles gas(std::int64_t side) {
  Random random;
  Particles p;
  p.n = side * side * side;
  const double spacing = 1 / double(side), grid = 1.0 / 1024;
  p.fields["x"] = lattice(random, side, spacing, 0.25 * spacing, grid);
  p.fields["v"] = uniform(random, 3 * p.n, -1, 1);
  p.fields["m"].assign(std::size_t(p.n), float(1.0 / double(p.n)));
  for (std::int64_t k = 0; k < p.n; ++k) p.fields["h"].push_back(random.on_grid(1.15 * spacing, 1.3 * spacing, grid));
  for (const char* name : {"rho", "pres", "c", "omega"}) p.fields[name] = uniform(random, p.n, 0.75, 1.25);
  return p;
}

Particles charges(std::int64_t n) {
  Random random;
  Particles p;
  p.n = n;
  p.fields["x"] = uniform(random, 3 * n, 0, 1);
  p.fields["q"] = uniform(random, n, -1, 1);
  p.params["box"] = {1, 1, 1};
  p.params["rc"] = {1};
  p.params["alpha"] = {3.25};
  return p;
}

Particles light(std::int64_t n) {
  Random random;
  Particles p;
  p.n = n;
  for (std::int64_t k = 0; k < n; ++k) {
    for (double width : {5e-3, 5e-3}) p.fields["xi"].push_back(random.uniform(-width, width));
    p.fields["xi"].push_back(0);
    for (double width : {5e-3, 5e-3}) p.fields["xj"].push_back(random.uniform(-width, width));
    p.fields["xj"].push_back(random.uniform(0.095, 0.105));
  }
  p.fields["a"] = uniform(random, n, 0, 1);
  return p;
}

Particles centres(std::int64_t n) {
  Random random;
  Particles p;
  p.n = n;
  p.fields["x"] = uniform(random, 3 * n, 0, 1);
  p.fields["w"] = uniform(random, n, 0, 1);
  p.params["sigma"] = {0.25};
  return p;
}

}  // namespace nbcc::bench
