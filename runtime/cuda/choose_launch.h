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

}  // namespace nbcc
