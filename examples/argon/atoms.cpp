// A Fluid -> atoms that move, and what is measured of them. Its entry point is Atoms.
//
// Atoms stay on the device: sums move them and add up what is measured. Neighbours are found by a search, where there
// is one, whose lists hold until somebody has moved by half of the skin.
//
// Forces come from the potential with a linear force shift, which conserves the energy; energy and pressure of the full
// potential are taken from the same atoms, with what lies beyond the cutoff added for a uniform fluid.
#include "examples/argon/atoms.h"

#include <algorithm>
#include <numbers>

#include "examples/support/open_sum.h"

namespace examples {
namespace {

Numbers lattice(const Fluid& fluid) {
  const double a = fluid.box() / fluid.cells;
  Numbers x;
  for (int k = 0; k < fluid.cells * fluid.cells * fluid.cells; ++k) {
    const int corner[3] = {k % fluid.cells, k / fluid.cells % fluid.cells, k / fluid.cells / fluid.cells};
    for (int face = 0; face < 4; ++face)
      for (int c = 0; c < 3; ++c) x.push_back(a * (corner[c] + (face > 0 && c != face - 1 ? 0.5 : 0)));
  }
  return x;
}

Numbers velocities(const Fluid& fluid) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Numbers v(3 * fluid.count());
  for (double& u : v) u = normal(random);
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0;
    for (std::size_t k = c; k < v.size(); k += 3) mean += v[k] / double(fluid.count());
    for (std::size_t k = c; k < v.size(); k += 3) v[k] -= mean;
  }
  return v;
}

}  // namespace

Atoms::Atoms(const nbcc::Device& device, const Fluid& fluid)
    : fluid_(fluid),
      x_(device, std::int64_t(fluid.count()), 3),
      v_(device, std::int64_t(fluid.count()), 3),
      force_(device, std::int64_t(fluid.count()), 3),
      energy_(device, std::int64_t(fluid.count())),
      full_energy_(device, std::int64_t(fluid.count())),
      virial_(device, std::int64_t(fluid.count())),
      pairs_(device, 1, kShells),
      totals_(device, 4),
      moving_(open(device, "pipelines/lennard_jones_force_shifted.pipe")),
      full_(open(device, "pipelines/lennard_jones.pipe")),
      counts_(open(device, "examples/argon/pair_counts.pipe")),
      advance_(open_sum(device, "examples/support/advance.pipe", NBCC_DOUBLE)),
      total_(open_sum(device, "examples/argon/totals.pipe", NBCC_DOUBLE)) {
  x_.write(lattice(fluid));
  v_.write(velocities(fluid));
  moving_.set("rc", fluid.rc).skin(fluid.skin);
  moving_.bind("force", force_.view()).bind("energy", energy_.view()).ignore("virial");
  full_.set("rc", fluid.rc);
  full_.bind("energy", full_energy_.view()).bind("virial", virial_.view()).ignore("force");
  counts_.set("width", kWidth).set("rc", std::min(kWidth * double(kShells), fluid.box() / 2));
  counts_.bind("pairs", pairs_.view());
  advance_.bind("xi", x_.view()).bind("vi", v_.view()).bind("ai", force_.view());
  advance_.bind("x", x_.view()).bind("v", v_.view()).counts(std::int64_t(fluid.count()), 0);
  total_.bind("vj", v_.view()).bind("movingj", energy_.view());
  total_.bind("fullj", full_energy_.view()).bind("virialj", virial_.view());
  const char* const numbers[] = {"twice_kinetic", "energy", "full", "virial"};
  for (std::size_t k = 0; k < 4; ++k) total_.bind(numbers[k], nbcc::view(totals_.data() + k, 1));
  moving_.run();
  add_up();
  scale_to(fluid.temperature);
}

nbcc::Sum Atoms::open(const nbcc::Device& device, const char* path) {
  nbcc::Sum sum = examples::open_sum(device, path, NBCC_MIXED);
  const double box[3] = {fluid_.box(), fluid_.box(), fluid_.box()};
  sum.set("box", box).bind("xi", x_.view()).bind("xj", x_.view());
  return sum;
}

void Atoms::advance(double kick, double drift, double factor) {
  advance_.set("kick", kick).set("drift", drift).set("damping", factor).run();
}

void Atoms::add_up() {
  total_.run();
  const Numbers all = totals_.all();
  now_ = {all[0], all[1], all[2], all[3]};
}

void Atoms::step() {
  advance(fluid_.dt / 2, fluid_.dt);
  moving_.run();
  advance(fluid_.dt / 2, 0);
  add_up();
  if (fluid_.relaxation > 0) thermostat();
}

void Atoms::scale_to(double temperature) {
  const double factor = std::sqrt(temperature / this->temperature());
  advance(0, 0, factor);
  now_.twice_kinetic *= factor * factor;
}

// Stochastic rescaling, which gives the canonical distribution: G. Bussi, D. Donadio & M. Parrinello, J. Chem. Phys.
// 126 (2007) 014101, equation A7.
void Atoms::thermostat() {
  const double keep = std::exp(-fluid_.dt / fluid_.relaxation), freedom = degrees_of_freedom();
  const double share = fluid_.temperature / now_.twice_kinetic;  // of the mean energy of a degree of freedom
  const double one = std::normal_distribution<double>()(random_);
  const double others = 2 * std::gamma_distribution<double>((freedom - 1) / 2)(random_);  // the sum of their squares
  const double factor2 =
      keep + share * (1 - keep) * (one * one + others) + 2 * one * std::sqrt(share * keep * (1 - keep));
  heat_ += (factor2 - 1) * now_.twice_kinetic / 2;
  advance(0, 0, std::sqrt(factor2));
  now_.twice_kinetic *= factor2;
}

Atoms::State Atoms::state() {
  full_.run();
  add_up();
  const double rho = fluid_.density, n = double(fluid_.count()), r3 = std::pow(fluid_.rc, -3), r9 = r3 * r3 * r3;
  const double beyond = 8.0 / 3 * std::numbers::pi * rho * (r9 / 3 - r3);
  const double beyond_p = 32.0 / 9 * std::numbers::pi * rho * rho * (r9 - 1.5 * r3);
  return {now_.full / n + beyond, rho * temperature() + rho * now_.virial / (3 * n) + beyond_p};
}

void Atoms::add_distribution(Numbers& g) {
  counts_.run();
  const Numbers pairs = pairs_.all();
  for (std::size_t k = 0; k < kShells; ++k) {
    const double r = kWidth * double(k), outer = r + kWidth;
    const double shell = 4.0 / 3 * std::numbers::pi * (outer * outer * outer - r * r * r);
    g[k] += pairs[k] / double(fluid_.count()) / (shell * fluid_.density);
  }
}

}  // namespace examples
