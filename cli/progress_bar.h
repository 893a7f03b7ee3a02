// A line on standard error that tells how far a long run is. Shown on a terminal only, after one second.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>

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

// Calls run(begin, count) for consecutive ranges of 0 .. n - 1, of at least 1024 and of about a fifth of a second each,
// and shows a bar meanwhile.
void run_in_ranges(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& run);

}  // namespace nbcc
