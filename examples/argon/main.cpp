// Liquid argon near its triple point, as Lennard-Jones atoms in a periodic box: energy, pressure and the radial
// distribution function.
//
// Atoms start on a face-centred lattice, melt while their velocities are scaled to the temperature, and then move
// freely. Forces come from the potential with a linear force shift, which conserves the energy; energy and pressure of
// the full potential are taken from the same atoms, with what lies beyond the cutoff added for a uniform fluid. Units
// are reduced: sigma, epsilon and the atom's mass are 1 (argon: 0.3405 nm, 119.8 K).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <sstream>

#include "examples/support/failure.h"
#include "examples/support/picture.h"
#include "examples/support/program.h"
#include "runtime/nbcc.hpp"

namespace {

using Numbers = std::vector<double>;

struct Fluid {
  int cells = 6;
  double density = 0.86, temperature = 0.85, dt = 0.004, rc = 4.0;
  std::size_t count() const { return std::size_t(4 * cells * cells * cells); }
  double box() const { return std::cbrt(double(count()) / density); }
};

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

double temperature_of(const Numbers& v) {
  double twice_kinetic = 0;
  for (const double u : v) twice_kinetic += u * u;
  return twice_kinetic / double(v.size() - 3);  // three are spent on the momentum
}

void scale(Numbers& v, double temperature) {
  const double factor = std::sqrt(temperature / temperature_of(v));
  for (double& u : v) u *= factor;
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
  scale(v, fluid.temperature);
  return v;
}

double total(const Numbers& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// Atoms with a sum bound to them; arrays of the host, which on a GPU are sent at every step.
class Atoms {
 public:
  Atoms(const nbcc::Device& device, const Fluid& fluid)
      : fluid_(fluid),
        x(lattice(fluid)),
        v(velocities(fluid)),
        force_(x.size()),
        energy_(fluid.count()),
        virial_(fluid.count()),
        count_(80 * fluid.count()),
        moving_(open(device, "pipelines/lennard_jones_force_shifted.pipe")),
        full_(open(device, "pipelines/lennard_jones.pipe")),
        counts_(open(device, "examples/argon/pair_counts.pipe")) {
    for (nbcc::Sum* sum : {&moving_, &full_}) sum->set("rc", fluid.rc).bind("energy", energy_);
    moving_.bind("force", force_).ignore("virial");
    full_.bind("virial", virial_).ignore("force");
    counts_.set("width", kWidth).bind("count", count_);
    moving_.run().wait();
  }

  void step() {
    const double half = fluid_.dt / 2;
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += fluid_.dt * (v[k] += half * force_[k]);
    moving_.run().wait();
    for (std::size_t k = 0; k < x.size(); ++k) v[k] += half * force_[k];
  }

  double conserved() {  // of the last step
    return total(energy_) + 0.5 * temperature_of(v) * double(v.size() - 3);
  }

  // Per atom, and the pressure, of the full potential.
  struct State {
    double energy, pressure;
  };
  State state() {
    full_.run().wait();
    const double rho = fluid_.density, n = double(fluid_.count()), r3 = std::pow(fluid_.rc, -3), r9 = r3 * r3 * r3;
    const double beyond = 8.0 / 3 * std::numbers::pi * rho * (r9 / 3 - r3);
    const double beyond_p = 32.0 / 9 * std::numbers::pi * rho * rho * (r9 - 1.5 * r3);
    const State now{total(energy_) / n + beyond, rho * temperature_of(v) + rho * total(virial_) / (3 * n) + beyond_p};
    moving_.run().wait();  // energy_ is the moving atoms' again
    return now;
  }

  // Adds the distribution of now to g.
  void add_distribution(Numbers& g) {
    counts_.run().wait();
    for (std::size_t k = 0; k < 80; ++k) {
      double inside = 0;
      for (std::size_t i = 0; i < fluid_.count(); ++i) inside += count_[80 * i + k] - (k ? count_[80 * i + k - 1] : 0);
      const double r = kWidth * double(k), outer = r + kWidth;
      const double shell = 4.0 / 3 * std::numbers::pi * (outer * outer * outer - r * r * r);
      g[k] += inside / double(fluid_.count()) / (shell * fluid_.density);
    }
  }
  static constexpr double kWidth = 0.05;

 private:
  nbcc::Sum open(const nbcc::Device& device, const char* path) {
    nbcc::Sum sum(
        nbcc::Pipeline::from_file(device, std::string(NBCC_SOURCE_DIR "/") + path, {.precision = NBCC_MIXED}));
    const double box[3] = {fluid_.box(), fluid_.box(), fluid_.box()};
    sum.set("box", box).bind("xi", x).bind("xj", x);
    return sum;
  }
  Fluid fluid_;

 public:
  Numbers x, v;

 private:
  Numbers force_, energy_, virial_, count_;
  nbcc::Sum moving_, full_, counts_;
};

void draw(const std::string& path, const Numbers& g) {
  std::ostringstream script;
  script << "$g << EOD\n";
  for (std::size_t k = 0; k < g.size(); ++k) script << Atoms::kWidth * (double(k) + 0.5) << ' ' << g[k] << '\n';
  script << "EOD\nset xlabel 'r / sigma'\nset ylabel 'g(r)'\nset grid\nplot $g with lines lw 2 notitle\n";
  std::printf("wrote %s\n", examples::draw(path, script.str()).c_str());
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Molecular dynamics of a Lennard-Jones liquid", "argon");
  Fluid fluid;
  int melt = 2000, steps = 10000;
  std::string device = "cpu", picture;
  app.add_option("--cells", fluid.cells, "Lattice cells along a side, of 4 atoms each")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  app.add_option("--density", fluid.density, "Atoms per sigma^3")->check(examples::positive())->capture_default_str();
  app.add_option("--temperature", fluid.temperature, "In epsilon / k")
      ->check(examples::positive())
      ->capture_default_str();
  app.add_option("--dt", fluid.dt, "Time step")->check(examples::positive())->capture_default_str();
  app.add_option("--cutoff", fluid.rc, "Cutoff, at most half of the box")
      ->check(examples::positive())
      ->capture_default_str();
  app.add_option("--melt", melt, "Steps while velocities are scaled")->capture_default_str();
  app.add_option("--steps", steps, "Steps that are measured")->check(CLI::Range(100, 100000000))->capture_default_str();
  examples::add_device(app, device);
  app.add_option("--picture", picture, "A PNG file of the radial distribution function");
  return examples::run_program(app, count, words, [&] {
    if (fluid.rc > fluid.box() / 2)
      throw examples::UsageError("the cutoff is more than half of the box, " + std::to_string(fluid.box() / 2));
    const nbcc::Device where(device);
    Atoms atoms(where, fluid);
    for (int k = 0; k < melt; ++k) {
      atoms.step();
      if (k % 20 == 19) scale(atoms.v, fluid.temperature);
    }
    const double first = atoms.conserved();
    double temperature = 0, energy = 0, pressure = 0, spread = 0, slope = 0;
    int samples = 0;
    Numbers g(80);
    for (int k = 1; k <= steps; ++k) {
      atoms.step();
      // Of a line through the total energies, by least squares: s runs from -1 to 1 and its mean square is 1/3.
      const double change = atoms.conserved() / first - 1, s = (2.0 * k - steps - 1) / steps;
      slope += 3 * change * s / steps;
      spread += change * change / steps;
      temperature += temperature_of(atoms.v) / steps;
      if (k % 20 != 0) continue;
      const Atoms::State now = atoms.state();
      energy += now.energy;
      pressure += now.pressure;
      if (k % 200 == 0) atoms.add_distribution(g);
      ++samples;
    }
    for (double& value : g) value /= double(steps / 200);
    std::printf("%zu atoms, density %g, %d steps on %s\n", fluid.count(), fluid.density, steps, where.name().c_str());
    std::printf("temperature %.4f  energy per atom %.4f  pressure %.3f\n", temperature, energy / samples,
                pressure / samples);
    std::printf("total energy: relative drift over the run %.1e, rms change %.1e\n", std::fabs(2 * slope),
                std::sqrt(spread));
    const std::size_t peak = std::size_t(std::max_element(g.begin(), g.end()) - g.begin());
    std::printf("g(r): first maximum %.2f at r = %.3f\n", g[peak], Atoms::kWidth * (double(peak) + 0.5));
    if (!picture.empty()) draw(picture, g);
  });
}
