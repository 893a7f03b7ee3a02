// A simulator whose bodies are drawn.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "examples/nbody/draw/vertices.h"
#include "examples/nbody/simulation.h"
#include "examples/nbody/simulators.h"
#include "examples/nbody/viewer.h"

namespace examples {

// Bodies at work in one of them, and on their way to the picture.
class Running {
 public:
  Running(const Simulator& simulator, const State& start, const Settings& settings, const Gl& gl,
          const Sprites& sprites);

  Running(const Simulator& simulator, const MakeMotion& make_motion, const Gl& gl, const Sprites& sprites);

  void step(double dt) { motion_ ? motion_->step(dt) : simulation_->step(dt); }
  // Pairs of gravity; 0 for the particles of a pipeline, whose pairs are not counted.
  double pairs_per_step() { return motion_ ? 0 : simulation_->pairs_per_step(); }
  State state() const { return simulation_->state(); }  // only for gravity
  bool has_values() const { return moving().scene().values.has_value(); }
  std::string device() const { return device_.name(); }
  const std::string& path() const { return vertices_.path(); }
  void update_sprites() { vertices_.update(moving().scene()); }

 private:
  const Moving& moving() const { return motion_ ? static_cast<const Moving&>(*motion_) : *simulation_; }

  nbcc::Device device_;
  std::optional<Simulation> simulation_;  // or
  std::unique_ptr<Motion> motion_;
  Vertices vertices_;
};

}  // namespace examples
