// Sizes -> the launch configuration, by a model of the GPU. Tested by tests/unit/choose_launch_test.cpp.
#pragma once
#include <cstdint>
#include <span>

#include "compiler/kernel_source.h"

namespace nbcc {

struct CudaOccupancy {
  int multiprocessors = 1;
  int resident_blocks = 1;  // of one multiprocessor at once
};

// The configuration with its j_splits that the model finds fastest for a sum over nj for ni. `occupancy` is that of the
// first of `configs`. A function of the arguments alone, since the order in which terms are added follows from it.
// There are no more splits than tiles, and what they store stays within 256 MB.
LaunchConfig choose_launch(const KernelSource& kernel, std::span<const LaunchConfig> configs,
                           const CudaOccupancy& occupancy, std::int64_t ni, std::int64_t nj);

// Clock cycles of one launch, by the same model. `occupancy` is that of the configuration.
double predict_cycles(const KernelSource& kernel, const LaunchConfig& config, const CudaOccupancy& occupancy,
                      std::int64_t ni, std::int64_t nj);

// How many of the ni i-particles one launch takes where it shall not take longer than `cycles`: ni, or such a number of
// blocks that all multiprocessors have equally many. Of blocks that have so many j that few of them take longer, a
// launch has so many that pairs cost at most a tenth more than in a launch that fills the GPU.
std::int64_t choose_slice(const KernelSource& kernel, const LaunchConfig& config, const CudaOccupancy& occupancy,
                          std::int64_t ni, std::int64_t nj, double cycles);

}  // namespace nbcc
