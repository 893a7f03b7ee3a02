// nbcc bench --sweep: interactions/s against the number of particles for many shapes of the kernel, in the tables of
// Nyland, Harris & Prins, "Fast N-body simulation with CUDA", GPU Gems 3 (2007), chapter 31.
#pragma once
#include <functional>
#include <memory>

#include "cli/command_bench.h"
#include "cli/particle_sum.h"

namespace nbcc {

// Block size, unrolling, threads per i-particle; in each table the model makes the other choices. Throws UsageError for
// a device that is no GPU.
int run_sweep(const BenchOptions& options);
// The same with a sum on a GPU that `open` opens.
int sweep(const BenchOptions& options, const std::function<std::unique_ptr<ParticleSum>()>& open);

}  // namespace nbcc
