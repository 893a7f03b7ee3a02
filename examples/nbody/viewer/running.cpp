// A simulator and bodies -> bodies at work. The entry point is Running.
#include "examples/nbody/viewer/running.h"

namespace examples {

Running::Running(const Simulator& simulator, const State& start, const Settings& settings, const Gl& gl,
                 const Sprites& sprites)
    : device_(simulator.device, simulator.options),
      simulation_(std::in_place, device_, start, settings),
      vertices_(gl, device_, sprites) {
  simulation_->set_launch(simulator.launch);
}

Running::Running(const Simulator& simulator, const MakeMotion& make_motion, const Gl& gl, const Sprites& sprites)
    : device_(simulator.device, simulator.options), motion_(make_motion(device_)), vertices_(gl, device_, sprites) {}

}  // namespace examples
