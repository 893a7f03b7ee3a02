// Particle sets made from nothing: the same kind, number and seed give the same numbers on every machine, because
// the generator is our own and the sampling uses only operations that IEEE 754 rounds exactly.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "particles/particle_table.h"

namespace nbcc {

struct InitialConditionKind {
  std::string_view name;
  std::string_view summary;  // one line for help texts
  int particles;             // 0: as many as one asks for
};

// plummer, cube, two-body, figure-eight, solar-system.
const std::vector<InitialConditionKind>& initial_condition_kinds();

struct InitialConditionOptions {
  // plummer: no particle starts farther out than this, in Henon units; 22.8 holds 99.9% of the mass.
  double truncation_radius = 22.8;
};

// Columns id (int64), m, x[3], v[3] (double); units, seed and G in the attributes. n = 0 means the kind's own
// number. A Plummer sphere has the energies of its sample, which scale_to_virial() changes to those of Henon units. The
// time is in proportion to n. Throws UsageError for an unknown kind, an n that the kind cannot have, or a bad option.
ParticleTable make_initial_conditions(std::string_view kind, std::int64_t n, std::uint64_t seed,
                                      const InitialConditionOptions& options = {});

// Scales positions and speeds to U = -1/2 and K = 1/4 (Henon units). The caller sums the potential energy of the
// unscaled table over all pairs; it is less than 0.
void scale_to_virial(ParticleTable& table, double potential_energy);

}  // namespace nbcc
