// Wall-clock seconds of the parts of a run.
#pragma once
#include <chrono>
#include <utility>

namespace nbcc {

// add_to() adds the seconds since its last call, or since construction.
class Stopwatch {
 public:
  void add_to(double& seconds) {
    const double then = std::exchange(last_, now());
    seconds += last_ - then;
  }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  double last_ = now();
};

}  // namespace nbcc
