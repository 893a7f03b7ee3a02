// A simulator whose bodies are drawn.
#pragma once
#include <string>

#include "examples/nbody/draw/vertices.h"
#include "examples/nbody/simulation.h"
#include "examples/nbody/simulators.h"

namespace examples {

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
