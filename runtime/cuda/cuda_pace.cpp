// Predicted seconds of launches -> waits of the host. Door: CudaPace::make_room. Predicts nothing and launches nothing.
#include "runtime/cuda/cuda_pace.h"

#include <utility>

namespace nbcc {

void CudaPace::make_room(double seconds, double units, CudaStream* stream) {
  if (!progress_) return;
  if (ahead_ > 0 && ahead_ + seconds > kLongest) {
    launched_.record(stream);
    launched_.wait(progress_);
    ahead_ = 0;
    progress_->step(std::exchange(units_, 0));
  }
  ahead_ += seconds;
  units_ += units;
}

}  // namespace nbcc
