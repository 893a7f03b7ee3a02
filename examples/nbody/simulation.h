// A system of gravitating bodies that stays on its device from step to step.
#pragma once
#include <array>
#include <memory>

#include "examples/nbody/bodies.h"
#include "runtime/nbcc.hpp"

namespace examples {

struct Settings {
  double dt = 1.0 / 1024, eps = 0.01;
  nbcc_precision precision = NBCC_SINGLE;  // of the force; positions and velocities are always double
  // Of the velocity, in each step. 1: leapfrog in the form of Verlet, of second order, which keeps the energy. Less:
  // the scheme of the Alea posts, of first order, which loses it.
  double damping = 1;
};

struct Totals {
  double kinetic = 0, potential = 0;
  std::array<double, 3> momentum{}, angular_momentum{};
  double energy() const { return kinetic + potential; }
};

class Simulation {
 public:
  // Starts from a checkpoint; one without accelerations is a system that has not moved yet. All functions throw
  // nbcc::Error.
  Simulation(const nbcc::Device& device, const Checkpoint& start, const Settings& settings);

  void step();
  void wait() { force_.wait(); }
  std::int64_t steps() const { return steps_; }
  double time() const { return double(steps_) * settings_.dt; }

  Checkpoint state();  // as of now
  Totals totals();     // in double precision

 private:
  // Components of the bodies, three numbers or one of each.
  using Field = std::unique_ptr<nbcc::DeviceMemory>;
  Field field(int width) const;
  void write(const Field& to, const std::vector<double>& from);
  std::vector<double> read(const Field& from, int width);
  nbcc::View view(const Field& of, int width) const;
  void advance(double kick, double drift, double damping);

  const nbcc::Device& device_;
  Settings settings_;
  std::int64_t count_, steps_;
  std::vector<double> mass_;
  Field m_, x_, v_, a_, potential_;
  nbcc::Sum force_, exact_, advance_;
};

}  // namespace examples
