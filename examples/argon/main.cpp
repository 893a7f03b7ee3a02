// Liquid argon near its triple point, as Lennard-Jones atoms in a periodic box: energy, pressure and the radial
// distribution function.
//
// Atoms start on a face-centred lattice, melt while their velocities are scaled to the temperature, and then move
// freely. Units are reduced: sigma, epsilon and the atom's mass are 1 (argon: 0.3405 nm, 119.8 K).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "examples/argon/atoms.h"
#include "examples/support/failure.h"
#include "examples/support/picture.h"
#include "examples/support/program.h"

namespace {

using examples::Atoms;
using examples::Numbers;

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
  examples::Fluid fluid;
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
  app.add_option("--steps", steps, "Steps that are measured")->check(CLI::Range(200, 100000000))->capture_default_str();
  examples::add_device(app, device);
  app.add_option("--picture", picture, "A PNG file of the radial distribution function");
  return examples::run_program(app, count, words, [&] {
    if (fluid.rc > fluid.box() / 2)
      throw examples::UsageError("the cutoff is more than half of the box, " + std::to_string(fluid.box() / 2));
    const nbcc::Device where(device);
    Atoms atoms(where, fluid);
    for (int k = 0; k < melt; ++k) {
      atoms.step();
      if (k % 20 == 19) atoms.scale_to(fluid.temperature);
    }
    const double first = atoms.conserved();
    double temperature = 0, energy = 0, pressure = 0, spread = 0, slope = 0;
    int samples = 0;
    Numbers g(Atoms::kShells);
    for (int k = 1; k <= steps; ++k) {
      atoms.step();
      // Of a line through the total energies, by least squares: s runs from -1 to 1 and its mean square is 1/3.
      const double change = atoms.conserved() / first - 1, s = (2.0 * k - steps - 1) / steps;
      slope += 3 * change * s / steps;
      spread += change * change / steps;
      temperature += atoms.temperature() / steps;
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
