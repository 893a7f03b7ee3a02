// Liquid argon near its triple point, as Lennard-Jones atoms in a periodic box: energy, pressure and the radial
// distribution function.
//
// Atoms start on a face-centred lattice, melt while their velocities are scaled to the temperature, and then move
// freely. Units are reduced: sigma, epsilon and the atom's mass are 1 (argon: 0.3405 nm, 119.8 K).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chart/chart.h"
#include "examples/argon/atoms.h"
#include "examples/support/chart_file.h"
#include "examples/support/failure.h"
#include "examples/support/program.h"
#include "examples/support/progress.h"

namespace {

using examples::Atoms;
using examples::Numbers;

void draw(const std::string& path, const Numbers& g) {
  nbcc::ChartSeries line{"", {}, nbcc::ChartSeries::Style::Line};
  for (std::size_t k = 0; k < g.size(); ++k) line.points.push_back({Atoms::kWidth * (double(k) + 0.5), g[k]});
  const auto peak = std::ranges::max_element(line.points, {}, &nbcc::ChartPoint::y);
  char title[100];
  std::snprintf(title, sizeof title, "Liquid argon: neighbours are %.1f times as dense as the mean at r = %.4g sigma",
                peak->y, peak->x);
  examples::write_chart(path, nbcc::svg_of({title, {"r / sigma"}, {"g(r)"}, {line}}));
}

// Means over a run, and a line through its total energies.
struct Measured {
  double temperature = 0, energy = 0, pressure = 0, spread = 0, slope = 0;
  int samples = 0;
  Numbers g = Numbers(Atoms::kShells);
};

constexpr int kEvery = 20;  // steps to a sample of the state

void melt(Atoms& atoms, const examples::Fluid& fluid, int steps) {
  examples::Progress bar;
  for (int k = 1; k <= steps; ++k) {
    atoms.step();
    if (k % kEvery == 0) atoms.scale_to(fluid.temperature);
    bar.show(double(k) / steps, k);
  }
}

Measured measure(Atoms& atoms, int steps, examples::Progress& bar) {
  const double first = atoms.conserved();
  const int distribution_every = std::min(200, steps);
  Measured mean;
  for (int k = 1; k <= steps; ++k) {
    atoms.step();
    // By least squares: s runs from -1 to 1 and its mean square is 1/3.
    const double change = atoms.conserved() / first - 1, s = (2.0 * k - steps - 1) / steps;
    mean.slope += 3 * change * s / steps;
    mean.spread += change * change / steps;
    mean.temperature += atoms.temperature() / steps;
    bar.show(double(k) / steps, k);
    if (k % kEvery == 0) {
      const Atoms::State now = atoms.state();
      mean.energy += now.energy;
      mean.pressure += now.pressure;
      ++mean.samples;
    }
    if (k % distribution_every == 0) atoms.add_distribution(mean.g);
  }
  for (double& value : mean.g) value /= double(steps / distribution_every);
  return mean;
}

void report(const Measured& mean, const nbcc_statistics& found) {
  std::printf("temperature %.4f  energy per atom %.4f  pressure %.3f\n", mean.temperature, mean.energy / mean.samples,
              mean.pressure / mean.samples);
  std::printf("total energy: relative drift over the run %.1e, rms change %.1e\n", std::fabs(2 * mean.slope),
              std::sqrt(mean.spread));
  const std::size_t peak = std::size_t(std::max_element(mean.g.begin(), mean.g.end()) - mean.g.begin());
  std::printf("g(r): first maximum %.2f at r = %.3f\n", mean.g[peak], Atoms::kWidth * (double(peak) + 0.5));
  if (found.searches > 0)
    std::printf("neighbours: sought every %.1f steps, %.0f pairs tested a step\n",
                double(found.runs) / double(found.searches), double(found.pairs_tested) / double(found.runs));
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Molecular dynamics of a Lennard-Jones liquid", "argon");
  examples::Fluid fluid;
  int melting = 2000, steps = 10000;
  std::string device = "cpu", picture;
  app.add_option("--cells", fluid.cells, "Lattice cells along a side, of 4 atoms each")
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  app.add_option("--density", fluid.density, "Atoms per sigma^3")->check(examples::positive())->capture_default_str();
  app.add_option("--temperature", fluid.temperature, "In epsilon / k")
      ->check(examples::positive())
      ->capture_default_str();
  app.add_option("--thermostat", fluid.relaxation, "Keeps it, and brings it back in about this time (default: none)")
      ->check(examples::positive());
  app.add_option("--dt", fluid.dt, "Time step")->check(examples::positive())->capture_default_str();
  app.add_option("--cutoff", fluid.rc, "Cutoff, at most half of the box")
      ->check(examples::positive())
      ->capture_default_str();
  app.add_option("--skin", fluid.skin, "Neighbours are sought again when an atom has moved by half of this")
      ->check(examples::not_negative())
      ->capture_default_str();
  app.add_option("--melt", melting, "Steps while velocities are scaled")->capture_default_str();
  app.add_option("--steps", steps, "Steps that are measured")
      ->check(CLI::Range(kEvery, 100000000))
      ->capture_default_str();
  examples::add_device(app, device);
  app.add_option("--picture", picture, "An SVG file with a chart of the radial distribution function")
      ->check(examples::chart_file());
  return examples::run_program(app, count, words, [&] {
    if (fluid.rc > fluid.box() / 2)
      throw examples::UsageError("the cutoff is more than half of the box, " + std::to_string(fluid.box() / 2));
    const nbcc::Device where(device);
    Atoms atoms(where, fluid);
    melt(atoms, fluid, melting);
    examples::Progress bar;
    const Measured mean = measure(atoms, steps, bar);
    const std::string rate = bar.rate(steps);
    std::printf("%zu atoms, density %g, %d steps on %s\n", fluid.count(), fluid.density, steps, where.name().c_str());
    report(mean, atoms.statistics());
    std::printf("%s\n", rate.c_str());
    if (!picture.empty()) draw(picture, mean.g);
  });
}
