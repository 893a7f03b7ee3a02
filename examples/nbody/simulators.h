// What the same bodies can be simulated by: this machine's CPU in several ways, its GPUs with several sizes of blocks.
#pragma once
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace examples {

struct Simulator {
  std::string label, device;
  nbcc::DeviceOptions options;
  nbcc::LaunchConfiguration launch;
};

// Those of `device` first, so that a simulation begins with what was asked for.
// blocks: with several sizes of blocks on GPUs; sums with a tolerance have none to choose.
std::vector<Simulator> simulators_here(const std::string& device, bool blocks);

}  // namespace examples
