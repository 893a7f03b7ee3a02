// nbcc bench --sweep: interactions/s against the number of particles in many launch configurations, in the tables of
// Nyland, Harris & Prins, "Fast N-body simulation with CUDA", GPU Gems 3 (2007), chapter 31.
#pragma once
#include "cli/options/kernel_options.h"
#include "cli/sum/particle_sum.h"

namespace nbcc {

// Prints three tables of a sum on a GPU to standard output, which vary the block size, the unrolling and j_slices. In
// each table the model chooses the other numbers of the launch configuration.
void sweep(ParticleSum& sum, const Sizes& sizes, const KernelChoice& kernel, int repeat, bool as_json);

}  // namespace nbcc
