// Particle sets that the sums are measured on. All numbers are single precision ones, so that no input is rounded by
// whoever works in single precision.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nbcc::bench {

struct Particles {
  std::int64_t n = 0;
  // By the field's name without its i or j: "x" (n x 3), "m" (n), ...
  std::map<std::string, std::vector<double>> fields;
  std::map<std::string, std::vector<double>> params;
};

// A Plummer sphere of unit scale length, cut off at 10, with velocities; eps2 = 1e-4.
Particles plummer(std::int64_t n);

// A liquid near its lattice, cells in order: side^3 particles at density 1 in a periodic box, cutoff 3. Places lie on a
// grid on which squared distances are exact in single precision: who is within the cutoff does not depend on rounding.
Particles liquid(std::int64_t side);

// A gas on a perturbed lattice in the unit box, about 60 neighbours each; on a grid as well.
Particles gas(std::int64_t side);

// Charges in a periodic box of which nearly all pairs are within the cutoff; pixels and sources of a hologram; centres
// of Gaussians: where the function dominates.
Particles charges(std::int64_t n);
Particles light(std::int64_t n);
Particles centres(std::int64_t n);

}  // namespace nbcc::bench
