// Particles for any pipeline, made from its field list: what a field means is read off its name, for want of anything
// better. `verify --random` and `bench` use them.
//
// Positions (x, r, pos ...) lie near the points of a lattice of spacing 1, in random order; those of i near the points
// halfway between, so that no two coincide and no term is singular. h is 1 to 1.5; m, rho, pres, c, omega and the like
// 0.5 to 1.5; integers 0 to 3; all else -1 to 1. All are multiples of 1/64: squared distances are then exact in single
// precision, and no pair is inside a cutoff for one and outside for the other.
#pragma once
#include <cstdint>
#include <vector>

#include "particles/bind_particles.h"

namespace nbcc {

struct RandomSides {
  ParticleTable i, j;  // a column for each field, of its name
};

// n particles on each side. The same seed gives the same particles everywhere.
RandomSides random_particles(const std::vector<InputField>& fields, std::int64_t n, std::uint64_t seed);

}  // namespace nbcc
