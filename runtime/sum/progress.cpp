// Units of work that are done -> calls of the caller's callback, one in a while. Door: Progress.
#include "runtime/sum/progress.h"

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
  const double share = units_ > 0 ? std::min(done_.load(std::memory_order_relaxed) / units_, 1.0) : 0;
  told_ = std::max(told_, from_ + (to_ - from_) * share);
  if (callback_(told_)) interrupted_.store(true, std::memory_order_relaxed);
  // Behind the callback, so that a slow one leaves time for the run.
  next_ = Clock::now() + period_;
  return interrupted_.load(std::memory_order_relaxed);
}

void Progress::interrupt() { throw Interrupted("interrupted by the progress callback"); }

}  // namespace nbcc
