// nbcc bench --sweep: interactions/s against the number of particles in many launch configurations, in the tables of
// Nyland, Harris & Prins, "Fast N-body simulation with CUDA", GPU Gems 3 (2007), chapter 31.
#pragma once
#include "cli/kernel_options.h"
#include "cli/particle_sum.h"

namespace nbcc {

// Of a sum on a GPU, on standard output: block size, unrolling, threads per i-particle; in each table the model makes
// the other choices.
void sweep(ParticleSum& sum, const Sizes& sizes, const KernelChoice& kernel, int repeat, bool as_json);

}  // namespace nbcc
