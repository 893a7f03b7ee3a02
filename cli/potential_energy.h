// The potential energy of a set of particles, by nbcc's own sum over all pairs.
// Tested by tests/unit/potential_energy_test.cpp.
#pragma once
#include <memory>

#include "cli/kernel_options.h"
#include "particles/particle_table.h"
#include "runtime/sum/device.h"

namespace nbcc {

// -sum of m_i m_j / |x_j - x_i| over pairs, G = 1, without softening, of the columns m and x[3]; pairs at one position
// add nothing. The total mass is taken to be about 1 and distances about 1, as in Henon units.
//
// The same number on every processor and GPU, by any number of threads: each m_j / r_ij is rounded to a multiple of
// 2^-43, and sums of multiples below 2^10 are exact, in whatever order they are made. These roundings make the sum
// wrong by about 2^-45 sqrt(2 / n) (10^5 particles: 1e-16) and by 2^-44 n at most (6e-9).
//
// On standard error: a bar where that is a terminal, and from 10^9 pairs on what the sum will take.
// choice: device and threads. given: the device, if it is open already.
double potential_energy(const ParticleTable& table, const KernelChoice& choice,
                        const std::shared_ptr<KernelDevice>& given = nullptr);

}  // namespace nbcc
