// Bodies -> their positions and velocities by each simulator -> a table of distances. The entry point is
// print_comparison().
#include "examples/nbody/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "examples/nbody/simulators.h"
#include "examples/support/program.h"

namespace examples {
namespace {

Bodies moved(const nbcc::Device& device, const Simulator& simulator, const State& start, const Settings& settings,
             double dt, std::int64_t steps) {
  Simulation simulation(device, start, settings);
  simulation.set_launch(simulator.launch);
  for (std::int64_t k = 0; k < steps; ++k) simulation.step(dt);
  simulation.wait();
  return simulation.state().bodies;
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
  std::optional<Bodies> first;
  for (const Simulator& simulator : simulators_here(name)) {
    const nbcc::Device device(simulator.device, simulator.options);
    if (!first) {
      first = moved(device, simulator, start, settings, dt, steps);
      std::printf("# %lld bodies after %lld steps of %g, %s precision; largest distance from %s\n",
                  static_cast<long long>(start.bodies.count()), static_cast<long long>(steps), dt,
                  name_of(settings.precision), device.name().c_str());
      std::printf("#%-24s %11s %11s\n", "simulator", "position", "velocity");
      continue;
    }
    try {
      const Bodies bodies = moved(device, simulator, start, settings, dt, steps);
      std::printf("%-25s %11.3e %11.3e\n", simulator.label.c_str(), largest_distance(bodies.x, first->x),
                  largest_distance(bodies.v, first->v));
    } catch (const nbcc::Error& error) {
      // The GPU has no such kernel, or not the registers for it.
      if (error.status() != NBCC_ERROR_USAGE && error.status() != NBCC_ERROR_DEVICE) throw;
      std::printf("%-25s %11s %11s\n", simulator.label.c_str(), "-", "-");
    }
    std::fflush(stdout);
  }
}

}  // namespace examples
