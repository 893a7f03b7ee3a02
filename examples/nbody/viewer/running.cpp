// A simulator and bodies -> bodies at work. The entry point is Running.
#include "examples/nbody/viewer/running.h"

namespace examples {

Running::Running(const Simulator& simulator, const State& start, const Settings& settings, const Gl& gl,
                 const Sprites& sprites)
    : device_(simulator.device, simulator.options),
      simulation_(device_, start, settings),
      vertices_(gl, device_, sprites) {
  simulation_.set_launch(simulator.launch);
}

}  // namespace examples
