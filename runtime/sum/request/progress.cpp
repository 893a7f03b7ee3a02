// Calls the caller's callback at intervals, with the fraction of the work that is done. Entry point: Progress.
#include "runtime/sum/request/progress.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"

namespace nbcc {

Progress::Progress(Callback callback, Clock::duration period)
    : callback_(std::move(callback)), period_(period), next_(Clock::now() + period) {}

void Progress::set_stage(double from, double to) {
  from_ = from;
  to_ = to;
  begin(0);
}

void Progress::begin(double units) {
  units_ = units;
  done_.store(0, std::memory_order_relaxed);
}

void Progress::step(double units) {
  done_.fetch_add(units, std::memory_order_relaxed);
  poll();
}

bool Progress::asks_for_interrupt() {
  if (interrupted_.load(std::memory_order_relaxed)) return true;
  if (std::this_thread::get_id() != owner_) return false;
  return Clock::now() >= next_ && ask();
}

bool Progress::ask() {
  const double fraction = units_ > 0 ? std::min(done_.load(std::memory_order_relaxed) / units_, 1.0) : 0;
  reported_ = std::max(reported_, from_ + (to_ - from_) * fraction);
  if (callback_(reported_)) interrupted_.store(true, std::memory_order_relaxed);
  // The period begins after the callback returns, so that a slow callback leaves time for the run.
  next_ = Clock::now() + period_;
  return interrupted_.load(std::memory_order_relaxed);
}

void Progress::interrupt() { throw Interrupted("interrupted by the progress callback"); }

}  // namespace nbcc
