// A window to watch a simulation in, and to play with it.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "examples/nbody/frames.h"
#include "examples/nbody/pipeline/motion.h"
#include "examples/nbody/simulation.h"

namespace examples {

struct ViewerChoice {
  std::string screenshot;  // a PNG file of the last picture; empty: none
  int pictures = 0;        // end after so many; 0: when the window is closed
  std::string keys;        // pressed by itself, one before each of the first pictures
};

using MakeMotion = std::function<std::unique_ptr<Motion>(const nbcc::Device&)>;

struct ViewerStart {
  State state;
  double dt;  // time step
  std::string device;
  Settings settings;
  MakeMotion motion{};  // none: gravity
};

// Returns when the window is closed. Throws Missing where there is no window or this build has none, nbcc::Error, and
// std::runtime_error.
void show(const ViewerStart& start, const ViewerChoice& choice, const FrameChoice& look);

}  // namespace examples
