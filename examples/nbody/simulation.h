// A system of gravitating bodies that stays on its device from step to step.
#pragma once
#include <array>
#include <optional>

#include "examples/nbody/moving.h"
#include "examples/support/bodies.h"
#include "examples/support/device_array.h"
#include "examples/support/ranks.h"

namespace examples {

struct Settings {
  double eps = 0.01;
  double G = 1;                            // gravitational constant
  nbcc_precision precision = NBCC_SINGLE;  // of the force; positions and velocities are always double
  // Of the velocity, in each step. 1: leapfrog in the form of Verlet, of second order, which keeps the energy. Less:
  // the scheme of the Alea posts, of first order, which loses it.
  double damping = 1;
  double tolerance = 0;  // of the force, as nbcc_sum_set_tolerance defines it; 0: over all pairs
  // Of the potential of reports, with a tolerance of the force alone. Nothing: the sums of the force have it, within
  // their own tolerance and without further cost. Otherwise a sum in double precision; 0: over all pairs.
  std::optional<double> energy_tolerance{};
  bool has_energy_sum() const { return tolerance == 0 || energy_tolerance; }
};

struct Totals {
  double kinetic = 0, potential = 0;
  std::array<double, 3> momentum{}, angular_momentum{};
  double energy() const { return kinetic + potential; }
};

// All that a system goes on from, to the last bit. One without accelerations has not moved yet.
struct State {
  std::int64_t step = 0;
  Bodies bodies{};
  std::vector<double> acceleration{};
};

// All functions throw nbcc::Error.
class Simulation : public Moving {
 public:
  // ranks: null, or who has the other bodies; must outlive this object.
  Simulation(const nbcc::Device& device, const State& start, const Settings& settings, Ranks* ranks = nullptr);

  void step(double dt);
  void sum_forces() { sum(force_); }  // on the bodies where they are
  void wait() { force_.wait(); }
  std::int64_t steps() const { return steps_; }
  std::int64_t count() const { return count_; }

  State state() const;  // as of now
  Totals totals();      // of the bodies of all ranks; the potential as Settings::energy_tolerance defines it
  // Of the last sum of the forces, for which it waits, and of the last one for energy_tolerance; nothing: that is 0 or
  // not set.
  nbcc_statistics statistics();
  std::optional<nbcc_statistics> energy_statistics();
  // Pairs that the kernels of one step evaluate: with a tolerance those of the last run, with points of grids.
  double pairs_per_step();
  // Three numbers of each body, on the device.
  nbcc::View positions() const { return x_.view(); }
  nbcc::View velocities() const { return v_.view(); }
  Scene scene() const override { return {positions(), velocities()}; }

  // Of the kernel, on a GPU. Sums with a tolerance have kernels of their own, which it does not change.
  void set_launch(const nbcc::LaunchConfiguration& launch) { force_.launch_configuration(launch); }
  nbcc::LaunchConfiguration launch() { return force_.launch_configuration(count_, count_); }

 private:
  void advance(double kick, double drift, double damping);
  void sum(nbcc::Sum& over_all) { ranks_ ? ranks_->run(over_all) : void(over_all.run()); }

  Ranks* ranks_;
  Settings settings_;
  std::int64_t count_, steps_;
  std::vector<double> mass_;
  DeviceArray<double> m_, x_, v_, a_, potential_;
  nbcc::Sum force_, advance_;
  std::optional<nbcc::Sum> energy_;  // the potential, unless the force sums it
};

}  // namespace examples
