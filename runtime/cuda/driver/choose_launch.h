// Sizes of a sum -> the launch configuration, by a performance model of the GPU. Tested by
// tests/unit/runtime/cuda/driver/choose_launch_test.cpp.
#pragma once
#include <cstdint>
#include <span>

#include "compiler/kernel_source.h"

namespace nbcc {

// Issue slots of a statement in float and in double, relative to a GPU of compute capability 9.0, on which both take
// one.
struct CudaRates {
  double float_slots = 1, double_slots = 1;
};
// Of a GPU of this compute capability (75: 7.5). `float_to_double`: the ratio of the rates in float and in double
// arithmetic, which the driver reports.
CudaRates cuda_rates(int capability, int float_to_double);
// Issue slots of the pair loop's statements for one pair.
double slots_per_pair(const KernelSource& kernel, const CudaRates& rates);

struct CudaOccupancy {
  int multiprocessors = 1;
  int resident_blocks = 1;  // per multiprocessor
  CudaRates rates = {};
};

// Estimates the resident blocks of a configuration that may not be compiled yet: as many resident threads as in the
// known configuration.
int estimate_resident_blocks(const LaunchConfig& config, const LaunchConfig& known, int blocks_of_known);

// Returns the one of `configs` that the model of choose_launch.cpp predicts to be the fastest for a sum over nj j for
// each of ni i, and sets its j_splits. `occupancy` is that of configs[0]; the occupancies of the others are estimated
// from it. The result must depend on the arguments alone, because it decides the order in which terms are added.
// j_splits is at most the number of j-tiles, and is limited so that the partial sums of all splits take at most 256 MB.
LaunchConfig choose_launch(const KernelSource& kernel, std::span<const LaunchConfig> configs,
                           const CudaOccupancy& occupancy, std::int64_t ni, std::int64_t nj);

// Clock cycles of one launch, by the same model. `occupancy` belongs to `config`.
double predict_cycles(const KernelSource& kernel, const LaunchConfig& config, const CudaOccupancy& occupancy,
                      std::int64_t ni, std::int64_t nj);

// The number of i-particles per launch so that a launch takes at most `cycles`: ni, or as many blocks as give every
// multiprocessor the same number. A launch that takes longer is accepted if in smaller launches a pair would cost over
// 10% more than in a launch that fills the GPU.
std::int64_t choose_slice(const KernelSource& kernel, const LaunchConfig& config, const CudaOccupancy& occupancy,
                          std::int64_t ni, std::int64_t nj, double cycles);

}  // namespace nbcc
