// A line on standard error that tells how far a long run is. Shown on a terminal only, after one second.
#pragma once
#include <chrono>

namespace nbcc {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // takes the line away
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  bool wanted() const { return terminal_; }
  void show(double fraction);  // of the work, 0 to 1
  using Clock = std::chrono::steady_clock;

 private:
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_;
};

}  // namespace nbcc
