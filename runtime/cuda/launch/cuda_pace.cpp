// Predicted seconds of launches -> waits of the host. Interface: CudaPace::before_launch. Launches nothing.
#include "runtime/cuda/launch/cuda_pace.h"

#include <utility>

namespace nbcc {

void CudaPace::before_launch(double seconds, double units, CudaStream* stream) {
  if (!progress_) return;
  if (ahead_ > 0 && ahead_ + seconds > kMaxLaunchSeconds) {
    launched_.record(stream);
    launched_.wait(progress_);
    ahead_ = 0;
    progress_->step(std::exchange(units_, 0));
  }
  ahead_ += seconds;
  units_ += units;
}

}  // namespace nbcc
