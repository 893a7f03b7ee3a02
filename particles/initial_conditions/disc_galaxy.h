// Initial conditions of disc galaxies: an exponential disc of stars in a spherical halo of bodies; one galaxy, or two
// that collide.
#pragma once
#include <cstdint>

#include "particles/particle_table.h"

namespace nbcc {

// Lengths are in scale lengths of the disc, masses in masses of the disc, G = 1.
struct DiscGalaxyOptions {
  double toomre_q = 1.3;     // least value over the radii 0.5 to 5
  double halo_mass = 5;      // inside of halo_limit
  double halo_length = 3;    // a of Hernquist's profile, rho ~ 1 / (r (r + a)^3)
  double halo_limit = 12;    // the halo ends at this radius
  double disc_height = 0.1;  // of the density, exp(-|z| / height)
  double disc_limit = 8;     // the disc ends at this radius
  double disc_share = 0.5;   // of the bodies
  double separation = 16;    // of the two galaxies at the start
  double pericentre = 2.5;   // of the parabola on which two points of the galaxies' masses would meet
};

// Columns id (int64), m, x[3], v[3] (double). The bodies of the disc come first; the attribute "disc bodies" is their
// number. The disc lies in the plane z = 0 and rotates about the z axis, counterclockwise as seen from above. n: at
// least 2.
ParticleTable make_disc(std::int64_t n, std::uint64_t seed, const DiscGalaxyOptions& options);

// Two such galaxies of n / 2 bodies each, with different seeds, inclined by 60 degrees against the plane of their orbit
// (x, y) about axes at -30 and +30 degrees. Both discs come before both halos. n: at least 4.
ParticleTable make_collision(std::int64_t n, std::uint64_t seed, const DiscGalaxyOptions& options);

}  // namespace nbcc
