// A loop over independent items -> the same loop on several cores. Interface: ThreadPool::parallel_for. Does not decide
// whether that pays, and has no queue: one job at a time; other jobs run on the threads that call.
#include "runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <system_error>
#include <utility>

namespace nbcc {
namespace {

// A sleeping thread takes 5 to 50 microseconds to wake up, as long as a small sum. Runs of an integrator follow each
// other faster than kSpin, so workers usually still spin when the next run begins.
constexpr auto kSpin = std::chrono::microseconds(50);
constexpr int kMaxThreads = 4096;

constexpr std::uint32_t kInside = 0x1fff, kOpen = 0x2000, kStop = 0x4000;
constexpr int kNumberShift = 15;
constexpr std::uint32_t number_of(std::uint32_t state) { return state >> kNumberShift; }
// A worker joins a job once, because the job gets no new items.
constexpr bool may_join(std::uint32_t state, std::uint32_t seen) { return (state & kOpen) && number_of(state) != seen; }

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Polls `done` for about kSpin. Yields between rounds: on an overloaded machine the awaited thread may need this core
// (without yielding, a small job took 80 instead of 30 microseconds).
template <typename Done>
bool spin_until(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int k = 0; k < 32; ++k) {
      if (done()) return true;
      pause();
    }
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

}  // namespace

int available_cores() {
  // The mask may be larger than cpu_set_t on machines with more than 1024 cores.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (!set) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return std::max(1, int(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads)
    : threads_(std::min(threads > 0 ? threads : available_cores(), kMaxThreads)), spin_(available_cores() > 1) {}

ThreadPool::~ThreadPool() {
  state_.fetch_or(kStop);
  state_.notify_all();
}

void ThreadPool::start_threads() {
  // Block all signals, so that the program's signal handlers do not run on these threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    workers_.reserve(std::size_t(threads_ - 1));
    while (int(workers_.size()) < threads_ - 1) workers_.emplace_back(&ThreadPool::work, this);
  } catch (const std::system_error&) {
    // The system refuses more threads: the existing ones, or the caller alone, do the work.
  } catch (const std::bad_alloc&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPool::parallel_for(std::int64_t count, const Body& body, Size size) {
  if (count <= 1 || threads_ == 1 || busy_.test_and_set(std::memory_order_acquire)) {
    for (std::int64_t item = 0; item < count; ++item) body(item);
    return;
  }
  if (workers_.empty()) start_threads();
  body_ = &body;
  count_ = count;
  failure_ = nullptr;
  failed_.clear();
  next_.store(0, std::memory_order_relaxed);
  state_.store((number_of(state_.load(std::memory_order_relaxed)) + 1) << kNumberShift | kOpen);
  if (size == Size::Large || std::chrono::steady_clock::now() - last_end_ < kSpin) wake(count - 1);
  take_items();

  // Close the job: from here on only workers inside it access it.
  state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  const auto empty = [this] { return (state_.load(std::memory_order_acquire) & kInside) == 0; };
  while (!spin_until(empty)) {
  }
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  last_end_ = std::chrono::steady_clock::now();
  busy_.clear(std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

void ThreadPool::wake(std::int64_t wanted) {
  if (wanted >= threads_ - 1) return state_.notify_all();
  for (std::int64_t k = 0; k < wanted; ++k) state_.notify_one();
}

void ThreadPool::take_items() {
  for (;;) {
    const std::int64_t item = next_.fetch_add(1, std::memory_order_relaxed);
    if (item >= count_) return;
    try {
      (*body_)(item);
    } catch (...) {
      if (!failed_.test_and_set()) failure_ = std::current_exception();
      next_.store(count_, std::memory_order_relaxed);
    }
  }
}

// False if the job was closed in the meantime.
bool ThreadPool::join(std::uint32_t& seen) {
  std::uint32_t state = state_.load(std::memory_order_acquire);
  while (may_join(state, seen)) {
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) {
      seen = number_of(state);
      return true;
    }
  }
  return false;
}

// False if the pool stops.
bool ThreadPool::wait_for_job(std::uint32_t seen) const {
  std::uint32_t state = 0;
  const auto is_ready = [&] {
    state = state_.load(std::memory_order_acquire);
    return (state & kStop) || may_join(state, seen);
  };
  if (!spin_ || !spin_until(is_ready)) {
    while (!is_ready()) state_.wait(state);
  }
  return !(state & kStop);
}

void ThreadPool::work() {
  std::uint32_t seen = 0;
  while (wait_for_job(seen)) {
    if (!join(seen)) continue;
    take_items();
    state_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace nbcc
