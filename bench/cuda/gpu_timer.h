// Times of work that is put into the default stream of a GPU, by events around many runs in a row.
#pragma once
#include <vector>

#include "bench/measure.h"
#include "runtime/cuda/driver/cuda_memory.h"

namespace nbcc::bench {

class GpuTimer {
 public:
  explicit GpuTimer(const CudaGpu& gpu) : gpu_(gpu), start_(gpu, kCudaTiming), end_(gpu, kCudaTiming) {}

  // One run's seconds, of so many back to back.
  double seconds(const Work& work, int repetitions) const;
  // The same, quick and rough: at least a thousandth of a second of runs. Of work that is far from `best` seconds one
  // run has to do.
  double rough_seconds(const Work& work, double best = 1e30) const;
  // As compare() of measure.h, with the GPU's own clock; no gigahertz.
  Comparison compare(const std::vector<Work>& works, int rounds) const;

 private:
  const CudaGpu& gpu_;
  mutable CudaEventOwner start_, end_;
};

}  // namespace nbcc::bench
