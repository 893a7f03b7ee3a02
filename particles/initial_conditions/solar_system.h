// The Sun and the eight planets at J2000.0: orbital elements become positions and velocities.
#pragma once
#include "particles/particle_table.h"

namespace nbcc {

// Nine rows, Sun first, then outwards (id 0 to 8). Mass in solar masses, x in AU, v in AU/day; ecliptic of J2000,
// centre of mass at rest in the origin. G = k^2 with Gauss's k, in AU^3 / (solar mass day^2).
ParticleTable make_solar_system();

}  // namespace nbcc
