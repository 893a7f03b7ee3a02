// Random particles for any pipeline, for `verify --random` and `bench`. The range of a field's values is guessed from
// its name.
//
// Positions of j (fields x, r, pos ...) are near the points of a lattice of spacing 1, in random order; positions of i
// are near the centres between these points, so that no two particles coincide and no term is singular. h is 1 to 1.5;
// m, rho, pres, c, omega and similar fields are 0.5 to 1.5; integers are 0 to 3; all other fields are -1 to 1. All
// values are multiples of 1/64, so that squared distances are exact in single precision and both precisions find the
// same pairs inside a cutoff.
#pragma once
#include <cstdint>
#include <vector>

#include "particles/bind_particles.h"

namespace nbcc {

struct RandomSides {
  ParticleTable i, j;  // one column per field, with the field's name
};

// Returns n i-particles and n j-particles. The same seed gives the same particles on every machine.
RandomSides random_particles(const std::vector<InputField>& fields, std::int64_t n, std::uint64_t seed);

}  // namespace nbcc
