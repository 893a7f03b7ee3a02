// Limits how far the host runs ahead of a GPU if the run may be interrupted. A launched kernel cannot be stopped.
// Therefore, if a launch would make the unfinished work last longer than kMaxLaunchSeconds, the host first waits for
// the earlier launches, and polls the run's Progress meanwhile. Tested by
// tests/unit/runtime/cuda/run/cuda_progress_test.cpp.
#pragma once
#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/sum/request/progress.h"

namespace nbcc {

class CudaPace {
 public:
  // Predicted seconds. Longer launches are cut into slices of i.
  static constexpr double kMaxLaunchSeconds = 0.2;

  explicit CudaPace(const CudaGpu& gpu) : launched_(gpu) {}
  // Sets the Progress for the next launches; null: the host never waits.
  void begin(Progress* progress) {
    progress_ = progress;
    units_ = 0;
  }
  bool is_active() const { return progress_ != nullptr; }
  // Call before a launch with its predicted seconds and its units of the run's work. Throws Interrupted.
  void before_launch(double seconds, double units, CudaStream* stream);
  // Call when all launched work is done.
  void mark_all_done() { ahead_ = 0; }

 private:
  Progress* progress_ = nullptr;
  double ahead_ = 0, units_ = 0;  // launched but not known to be done: predicted seconds, and units of this run
  CudaEventOwner launched_;
};

}  // namespace nbcc
