// Persistent threads that share the items of one loop with the thread that asks.
// Tested by tests/unit/thread_pool_test.cpp.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace nbcc {

// Cores on which this process may run (its affinity mask), at least 1.
int available_cores();

class ThreadPool {
 public:
  using Body = std::function<void(std::int64_t item)>;

  explicit ThreadPool(int threads);  // counts the caller's; 0 means available_cores()
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Runs body for items 0..count-1, each once, in any order, and returns when all are done. The caller works too and
  // never waits for a thread that has not begun. Called while another call is in progress (from another thread, or from
  // a body), it runs all items on the calling thread. The first exception of a body is thrown here; items that had not
  // begun by then are left out. A small job (some tens of microseconds) is shared with workers that are awake, and
  // wakes the others only when jobs follow each other so closely that they will stay awake.
  enum class Size { Small, Large };
  void parallel_for(std::int64_t count, const Body& body, Size size = Size::Large);

 private:
  void start_threads();
  void work();
  bool wait_for_job(std::uint32_t seen) const;
  bool join(std::uint32_t& seen);
  void take_items();
  void wake(std::int64_t wanted);

  const int threads_;
  const bool spin_;
  std::atomic_flag busy_;
  std::chrono::steady_clock::time_point last_end_{};  // of a job

  // The job; written by the caller while it is closed, read by those who have joined.
  const Body* body_ = nullptr;
  std::int64_t count_ = 0;
  std::exception_ptr failure_;
  std::atomic_flag failed_;
  alignas(64) std::atomic<std::int64_t> next_{0};
  // Bits 0..12: workers inside the job; bit 13: the job is open; bit 14: there will be no more; above: the job's
  // number. Workers sleep on it, for which 32 bits are the fastest (a futex).
  alignas(64) std::atomic<std::uint32_t> state_{0};

  std::vector<std::jthread> workers_;  // the last member: joined before the others go
};

}  // namespace nbcc
