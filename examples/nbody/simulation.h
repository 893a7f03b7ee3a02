// A system of gravitating bodies that stays on its device from step to step.
#pragma once
#include <array>
#include <memory>

#include "examples/nbody/bodies.h"
#include "runtime/nbcc.hpp"

namespace examples {

struct Settings {
  double eps = 0.01;
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

// All functions throw nbcc::Error.
class Simulation {
 public:
  // Starts from a checkpoint; one without accelerations is a system that has not moved yet.
  Simulation(const nbcc::Device& device, const Checkpoint& start, const Settings& settings);

  void step(double dt);
  void sum_forces() { force_.run(); }  // on the bodies where they are
  void wait() { force_.wait(); }
  std::int64_t steps() const { return steps_; }
  std::int64_t count() const { return count_; }

  Checkpoint state();  // as of now; dt is the caller's to tell
  Totals totals();     // in double precision
  // Three numbers of each body, on the device.
  nbcc::View positions() const { return view(x_, 3); }
  nbcc::View velocities() const { return view(v_, 3); }

  // Of the kernel, on a GPU.
  void set_shape(const nbcc::KernelShape& shape) { force_.shape(shape); }
  nbcc::KernelShape shape() { return force_.shape(count_, count_); }

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

// The sum of a pipeline among the examples' files, as "nbody/force.pipe".
nbcc::Sum open_sum(const nbcc::Device& device, const char* name, nbcc_precision precision);

}  // namespace examples
