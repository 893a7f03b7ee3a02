// How far a program is and how fast it goes: a bar on standard error where that is a terminal, and a rate for the end.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace examples {

class Progress {
 public:
  Progress();
  ~Progress();  // takes the bar away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // share: of the work that is done, from 0 to 1. At most ten times a second.
  void show(double share, std::int64_t steps);
  // "1000 steps in 12.3 s, 81.3 steps/s", since this object was made.
  std::string rate(std::int64_t steps) const;

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  bool is_terminal_, is_shown_ = false;
  Clock::time_point start_ = Clock::now();
  double next_ = 0.1;  // seconds from the start
};

}  // namespace examples
