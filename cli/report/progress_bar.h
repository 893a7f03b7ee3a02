// A progress bar on standard error for long runs. Shown on a terminal only, after one second.
#pragma once
#include <chrono>

namespace nbcc {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // erases the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  bool wanted() const { return terminal_; }
  void show(double fraction);  // fraction of the work that is done, 0 to 1
  using Clock = std::chrono::steady_clock;

 private:
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_;
};

}  // namespace nbcc
