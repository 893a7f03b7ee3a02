// How far a run is, and whether the caller wants it to go on: asked by the threads that work on the run, answered by a
// callback of the caller's. Tested by tests/unit/progress_test.cpp.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace nbcc {

// One run's. Only the thread that made the object, which is the one that called the library, ever calls the callback;
// in other threads step() and poll() look at a flag.
class Progress {
 public:
  // `done`: the fraction of the run's work that is done, from 0 to 1, never falling. True: interrupt the run.
  using Callback = std::function<bool(double done)>;
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kPeriod = std::chrono::milliseconds(50);

  // The callback is called when `period` has passed since the construction, and since it was called last.
  explicit Progress(Callback callback, Clock::duration period = kPeriod);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // In the thread of the callback, while no other works: the work from now on is between these fractions of the whole.
  void set_stage(double from, double to);
  // ... and consists of so many units, pairs say.
  void begin(double units);

  // Any thread may call these two. They throw Interrupted when the run shall end.
  void step(double units);  // so many are done
  void poll() {
    if (asks_for_interrupt()) interrupt();
  }
  // The same without an exception.
  bool asks_for_interrupt();

  // Returns when done() is true. Looks often at first, so that short waits end when they can.
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
  double from_ = 0, to_ = 1, units_ = 0, told_ = 0;
  std::atomic<double> done_{0};  // units
  std::atomic<bool> interrupted_{false};
};

}  // namespace nbcc
