// A Fluid -> atoms that move, and what is measured of them. Its door is Atoms.
//
// Forces come from the potential with a linear force shift, which conserves the energy; energy and pressure of the full
// potential are taken from the same atoms, with what lies beyond the cutoff added for a uniform fluid.
#include "examples/argon/atoms.h"

#include <numbers>
#include <random>

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

double total(const Numbers& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

Atoms::Atoms(const nbcc::Device& device, const Fluid& fluid)
    : fluid_(fluid),
      x_(lattice(fluid)),
      v_(velocities(fluid)),
      force_(x_.size()),
      energy_(fluid.count()),
      virial_(fluid.count()),
      count_(kShells * fluid.count()),
      moving_(open(device, "pipelines/lennard_jones_force_shifted.pipe")),
      full_(open(device, "pipelines/lennard_jones.pipe")),
      counts_(open(device, "examples/argon/pair_counts.pipe")) {
  scale_to(fluid.temperature);
  for (nbcc::Sum* sum : {&moving_, &full_}) sum->set("rc", fluid.rc).bind("energy", energy_);
  moving_.bind("force", force_).ignore("virial");
  full_.bind("virial", virial_).ignore("force");
  counts_.set("width", kWidth).bind("count", count_);
  moving_.run().wait();
}

nbcc::Sum Atoms::open(const nbcc::Device& device, const char* path) {
  nbcc::Sum sum = examples::open_sum(device, path, NBCC_MIXED);
  const double box[3] = {fluid_.box(), fluid_.box(), fluid_.box()};
  sum.set("box", box).bind("xi", x_).bind("xj", x_);
  return sum;
}

void Atoms::step() {
  const double half = fluid_.dt / 2;
  for (std::size_t k = 0; k < x_.size(); ++k) x_[k] += fluid_.dt * (v_[k] += half * force_[k]);
  moving_.run().wait();
  for (std::size_t k = 0; k < x_.size(); ++k) v_[k] += half * force_[k];
}

double Atoms::temperature() const {
  double twice_kinetic = 0;
  for (const double u : v_) twice_kinetic += u * u;
  return twice_kinetic / double(v_.size() - 3);  // three are spent on the momentum
}

void Atoms::scale_to(double temperature) {
  const double factor = std::sqrt(temperature / this->temperature());
  for (double& u : v_) u *= factor;
}

double Atoms::conserved() const { return total(energy_) + 0.5 * temperature() * double(v_.size() - 3); }

Atoms::State Atoms::state() {
  full_.run().wait();
  const double rho = fluid_.density, n = double(fluid_.count()), r3 = std::pow(fluid_.rc, -3), r9 = r3 * r3 * r3;
  const double beyond = 8.0 / 3 * std::numbers::pi * rho * (r9 / 3 - r3);
  const double beyond_p = 32.0 / 9 * std::numbers::pi * rho * rho * (r9 - 1.5 * r3);
  const State now{total(energy_) / n + beyond, rho * temperature() + rho * total(virial_) / (3 * n) + beyond_p};
  moving_.run().wait();  // energy_ is the moving atoms' again
  return now;
}

void Atoms::add_distribution(Numbers& g) {
  counts_.run().wait();
  for (std::size_t k = 0; k < kShells; ++k) {
    double inside = 0;
    for (std::size_t i = 0; i < fluid_.count(); ++i)
      inside += count_[kShells * i + k] - (k ? count_[kShells * i + k - 1] : 0);
    const double r = kWidth * double(k), outer = r + kWidth;
    const double shell = 4.0 / 3 * std::numbers::pi * (outer * outer * outer - r * r * r);
    g[k] += inside / double(fluid_.count()) / (shell * fluid_.density);
  }
}

}  // namespace examples
