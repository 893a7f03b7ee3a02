// Generates initial conditions. The same kind, number and seed give the same numbers on every machine, because nbcc has
// its own random number generator and the sampling uses only operations that IEEE 754 rounds correctly.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "particles/initial_conditions/disc_galaxy.h"
#include "particles/particle_table.h"

namespace nbcc {

struct InitialConditionKind {
  std::string_view name;
  std::string_view summary;  // one line for help texts
  int particles;             // the only possible number of particles; 0: any number
};

// plummer, cube, disc, collision, two-body, figure-eight, solar-system.
const std::vector<InitialConditionKind>& initial_condition_kinds();

struct InitialConditionOptions {
  // plummer: no particle starts farther out than this, in Henon units; 22.8 holds 99.9% of the mass.
  double truncation_radius = 22.8;
  DiscGalaxyOptions galaxy{};  // disc, collision
};

// Returns the columns id (int64), m, x[3], v[3] (double), with units, seed and G as attributes. n = 0 means the kind's
// fixed number. A Plummer sphere has the energies of its random sample; scale_to_virial() scales it to the energies of
// Henon units. Takes O(n) time. Throws UsageError for an unknown kind, an n that the kind cannot have, or a bad option.
ParticleTable make_initial_conditions(std::string_view kind, std::int64_t n, std::uint64_t seed,
                                      const InitialConditionOptions& options = {});

// Scales positions and velocities to U = -1/2 and K = 1/4 (Henon units). `potential_energy`: U of the unscaled table,
// which the caller has summed over all pairs; it must be negative.
void scale_to_virial(ParticleTable& table, double potential_energy);

}  // namespace nbcc
