// Bodies on the host, and the files that they come from and go to.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

struct Bodies {
  std::vector<double> mass, x, v;  // x and v: three numbers of each, one body after the other
  std::int64_t count() const { return std::int64_t(mass.size()); }
};

// A text file as `nbcc make-ic` writes it: a line "# ... m x[3] v[3]" names the columns; without one they are m, x, y,
// z, vx, vy, vz. Throws std::runtime_error with file and line.
Bodies read_bodies(const std::string& path);

// So that the centre of mass rests in the origin.
void rest_in_the_origin(Bodies& bodies);

// A snapshot in HDF5 with the names that GADGET uses (group PartType1: Coordinates, Velocities, Masses, ParticleIDs;
// group Header), which yt and others open. Replaces an old file as a whole. Throws std::runtime_error.
void write_snapshot(const std::string& path, const Bodies& bodies, double time);

// Everything that a run goes on from, to the last bit. The new file takes the place of the old one in one step, so that
// a run may be killed at any moment. Both throw std::runtime_error.
struct Checkpoint {
  std::int64_t step = 0;
  double dt = 0;
  Bodies bodies;
  std::vector<double> acceleration;
};
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
Checkpoint read_checkpoint(const std::string& path);

}  // namespace examples
