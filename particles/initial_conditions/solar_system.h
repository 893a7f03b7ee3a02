// The Sun and the eight planets at J2000.0, from their orbital elements.
#pragma once
#include "particles/particle_table.h"

namespace nbcc {

// Returns nine rows (id 0 to 8): the Sun, then the planets from Mercury to Neptune. m in solar masses, x in AU, v in
// AU/day; ecliptic of J2000, centre of mass at rest in the origin. G = k^2 with Gauss's k, in AU^3 / (solar mass
// day^2).
ParticleTable make_solar_system();

}  // namespace nbcc
