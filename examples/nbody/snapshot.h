// Snapshots for other programs to look at.
#pragma once
#include <string>

#include "examples/support/bodies.h"

namespace examples {

// HDF5 with the names that GADGET uses (group PartType1: Coordinates, Velocities, Masses, ParticleIDs; group Header),
// which yt and others open. Replaces an old file as a whole. Throws UsageError.
void write_snapshot(const std::string& path, const Bodies& bodies, double time);

}  // namespace examples
