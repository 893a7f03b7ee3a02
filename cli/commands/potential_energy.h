// The potential energy of a set of particles, summed over all pairs by nbcc.
// Tested by tests/unit/cli/commands/potential_energy_test.cpp.
#pragma once
#include <memory>

#include "cli/options/kernel_options.h"
#include "particles/particle_table.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

// Returns -sum over pairs of m_i m_j / |x_j - x_i|, with G = 1 and without softening, of the columns m and x[3]. Pairs
// at the same position contribute 0. Assumes a total mass of about 1 and distances of about 1, as in Henon units.
//
// The result has the same bits on every processor and GPU and with any number of threads, because each m_j / r_ij is
// rounded to a multiple of 2^-43, and sums of such multiples below 2^10 are exact in any order. The error of this
// rounding is about 2^-45 sqrt(2 / n) (1e-16 for 10^5 particles), and at most 2^-44 n (6e-9).
//
// Prints to standard error: a progress bar on a terminal, and from 10^9 pairs on the expected time.
// choice: device and threads. given: the device, if it is already open.
double potential_energy(const ParticleTable& table, const KernelChoice& choice,
                        const std::shared_ptr<KernelDevice>& given = nullptr);

}  // namespace nbcc
