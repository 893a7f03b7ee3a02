// What the same bodies can be simulated by: this machine's CPU in several ways, its GPUs with several sizes of blocks.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "examples/nbody/draw/vertices.h"
#include "examples/nbody/simulation.h"

namespace examples {

struct Simulator {
  std::string label, device;
  nbcc::DeviceOptions options;
  nbcc::KernelShape shape;
};

// Those of `device` first, so that a simulation begins with what was asked for.
std::vector<Simulator> simulators_here(const std::string& device);

// Bodies at work in one of them, and on their way to the picture.
class Running {
 public:
  Running(const Simulator& simulator, const State& start, const Settings& settings, const Gl& gl,
          const Sprites& sprites);

  Simulation& simulation() { return simulation_; }
  std::string device() const { return device_.name(); }
  const std::string& path() const { return vertices_.path(); }
  void update_sprites() { vertices_.update(simulation_); }

 private:
  nbcc::Device device_;
  Simulation simulation_;
  Vertices vertices_;
};

}  // namespace examples
