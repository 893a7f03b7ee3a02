// Files that a run goes on from.
#pragma once
#include <string>

#include "examples/nbody/simulation.h"

namespace examples {

struct Checkpoint {
  State state;
  Settings settings;
  double dt = 0;
  Totals first;  // of time 0, which drifts are told against
};

// The new file takes the place of the old one in one step, so that a run may be killed at any moment. Throws
// UsageError.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
// To the last bit. Throws UsageError if the file cannot be read, std::runtime_error if it is none.
Checkpoint read_checkpoint(const std::string& path);

}  // namespace examples
