// Bodies -> their positions and velocities by each simulator -> a table of distances. The entry point is
// print_comparison().
#include "examples/nbody/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "examples/nbody/simulators.h"
#include "examples/nbody/tolerance_report.h"
#include "examples/support/program.h"

namespace examples {
namespace {

struct Outcome {
  Bodies bodies;
  std::string report;  // of the tolerance
};

Outcome moved(const nbcc::Device& device, const Simulator& simulator, const State& start, const Settings& settings,
              double dt, std::int64_t steps) {
  Simulation simulation(device, start, settings);
  simulation.set_launch(simulator.launch);
  for (std::int64_t k = 0; k < steps; ++k) simulation.step(dt);
  simulation.wait();
  return {simulation.state().bodies,
          tolerance_report("forces", simulation.statistics(), start.bodies.count(), settings.precision)};
}

// Three numbers of each body.
double largest_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); k += 3) {
    const double distance = std::hypot(a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2]);
    if (!(distance <= largest)) largest = distance;  // one that is no number stays
  }
  return largest;
}

}  // namespace

void print_comparison(const std::string& name, const State& start, const Settings& settings, double dt,
                      std::int64_t steps) {
  const bool has_tolerance = settings.tolerance > 0;
  const std::vector<Simulator> simulators = simulators_here(name, !has_tolerance);
  std::optional<Outcome> first;
  const auto print_row = [&](const std::string& label, const nbcc::Device& device, const Simulator& simulator,
                             const Settings& chosen) {
    try {
      const Bodies bodies = moved(device, simulator, start, chosen, dt, steps).bodies;
      std::printf("%-25s %11.3e %11.3e\n", label.c_str(), largest_distance(bodies.x, first->bodies.x),
                  largest_distance(bodies.v, first->bodies.v));
    } catch (const nbcc::Error& error) {
      // The GPU has no such kernel, or not the registers for it.
      if (error.status() != NBCC_ERROR_USAGE && error.status() != NBCC_ERROR_DEVICE) throw;
      std::printf("%-25s %11s %11s\n", label.c_str(), "-", "-");
    }
    std::fflush(stdout);
  };
  for (const Simulator& simulator : simulators) {
    const nbcc::Device device(simulator.device, simulator.options);
    if (first) {
      print_row(simulator.label, device, simulator, settings);
      continue;
    }
    first = moved(device, simulator, start, settings, dt, steps);
    std::printf("# %lld bodies after %lld steps of %g, %s precision; largest distance from %s\n",
                static_cast<long long>(start.bodies.count()), static_cast<long long>(steps), dt,
                name_of(settings.precision), device.name().c_str());
    if (has_tolerance) std::printf("%s", first->report.c_str());
    std::printf("#%-24s %11s %11s\n", "simulator", "position", "velocity");
    if (!has_tolerance) continue;
    Settings all_pairs = settings;
    all_pairs.tolerance = 0;
    print_row(simulator.label + ", all pairs", device, simulator, all_pairs);
  }
}

}  // namespace examples
