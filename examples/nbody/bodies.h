// Files that the bodies of a simulation go to, and come back from.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "examples/support/bodies.h"

namespace examples {

// A snapshot in HDF5 with the names that GADGET uses (group PartType1: Coordinates, Velocities, Masses, ParticleIDs;
// group Header), which yt and others open. Replaces an old file as a whole. Throws std::runtime_error.
void write_snapshot(const std::string& path, const Bodies& bodies, double time);

// Everything that a run goes on from, to the last bit. The new file takes the place of the old one in one step, so that
// a run may be killed at any moment. Both throw std::runtime_error.
struct Checkpoint {
  std::int64_t step = 0;
  double dt = 0;
  Bodies bodies{};
  std::vector<double> acceleration{};
};
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
Checkpoint read_checkpoint(const std::string& path);

}  // namespace examples
