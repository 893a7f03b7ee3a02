// How far the host runs ahead of a GPU where a run may be interrupted. What has been launched cannot be called back, so
// that before a launch which would make the work under way last longer than kLongest the host waits for what was
// launched before, and asks the run's Progress meanwhile. Tested by tests/unit/cuda_progress_test.cpp.
#pragma once
#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/progress.h"

namespace nbcc {

class CudaPace {
 public:
  // Seconds, as predicted. Longer launches are cut into slices of i.
  static constexpr double kLongest = 0.2;

  explicit CudaPace(const CudaGpu& gpu) : launched_(gpu) {}
  // For the launches from now on; null: the host never waits.
  void begin(Progress* progress) {
    progress_ = progress;
    units_ = 0;
  }
  bool is_asked() const { return progress_ != nullptr; }
  // Before a launch that is predicted to take so long, and does so many units of the run's work. Throws Interrupted.
  void make_room(double seconds, double units, CudaStream* stream);
  // All that was launched is done.
  void forget() { ahead_ = 0; }

 private:
  Progress* progress_ = nullptr;
  double ahead_ = 0, units_ = 0;  // under way: seconds, and units of this run
  CudaEventOwner launched_;
};

}  // namespace nbcc
