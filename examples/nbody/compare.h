// The same bodies moved by all simulators of this machine, and how far these end from each other, as the second of the
// Alea posts compares its simulators.
#pragma once
#include <cstdint>
#include <string>

#include "examples/nbody/simulation.h"

namespace examples {

// Prints the largest distance of a body's position and velocity from those of the first simulator, that of `device`,
// after so many steps. With a tolerance a row tells how far all pairs of `device` are. Throws nbcc::Error.
void print_comparison(const std::string& device, const State& start, const Settings& settings, double dt,
                      std::int64_t steps);

}  // namespace examples
