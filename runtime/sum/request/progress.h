// Progress reports and interrupts: threads that work on a run count their work here; a callback of the caller gets the
// progress and decides whether the run continues. Tested by tests/unit/runtime/sum/request/progress_test.cpp.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace nbcc {

// The progress of one run. Only the thread that constructed the object, the one that called the library, calls the
// callback; in other threads step() and poll() read a flag.
class Progress {
 public:
  // `done`: the fraction of the run's work that is done, from 0 to 1, never falling. Returns true to interrupt the run.
  using Callback = std::function<bool(double done)>;
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kPeriod = std::chrono::milliseconds(50);

  // The callback is called when `period` has passed since the construction or since the last call.
  explicit Progress(Callback callback, Clock::duration period = kPeriod);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The following work takes the run's progress from the fraction `from` to the fraction `to`. Call this in the thread
  // of the callback, while no other thread works on the run.
  void set_stage(double from, double to);
  // The following work of the stage consists of `units` units, for example pairs.
  void begin(double units);

  // Any thread may call these two functions. They throw Interrupted if the run is to end.
  void step(double units);  // `units` more units are done
  void poll() {
    if (asks_for_interrupt()) interrupt();
  }
  // The same as poll() without an exception: true if the run is to end.
  bool asks_for_interrupt();

  // Returns when done() is true. Spins for the first 5 ms, so that short waits end without delay.
  template <typename Done>
  void wait_until(const Done& done) {
    constexpr Clock::duration kSpin = std::chrono::milliseconds(5);
    const Clock::time_point start = Clock::now();
    while (!done()) {
      poll();
      if (Clock::now() - start < kSpin)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  [[noreturn]] static void interrupt();
  bool ask();

  const Callback callback_;
  const Clock::duration period_;
  const std::thread::id owner_ = std::this_thread::get_id();
  Clock::time_point next_;  // time of the next call
  double from_ = 0, to_ = 1, units_ = 0;
  double reported_ = 0;          // greatest fraction that the callback has got
  std::atomic<double> done_{0};  // units
  std::atomic<bool> interrupted_{false};
};

}  // namespace nbcc
