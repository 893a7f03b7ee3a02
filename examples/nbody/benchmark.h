// The rate of the force, as the figures of GPU Gems 3, chapter 31, show it: against the number of bodies and, on a GPU,
// against the launch configuration.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "examples/nbody/frames.h"
#include "examples/nbody/simulation.h"

namespace examples {

// Prints the tables, or with a tolerance one table of steps. counts: numbers of bodies; none: those that suit the
// device. Throws nbcc::Error.
void print_benchmark(const std::string& device, const Settings& settings, const std::vector<std::int64_t>& counts);

// Prints pictures a second, each after a step, against the number of bodies and, on a GPU, the block size. Throws
// nbcc::Error, and Missing where nothing draws.
void print_drawing_benchmark(const std::string& device, const Settings& settings,
                             const std::vector<std::int64_t>& counts, const FrameChoice& pictures);

}  // namespace examples
