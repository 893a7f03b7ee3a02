// Persistent threads that execute the items of one loop together with the calling thread.
// Tested by tests/unit/runtime/thread_pool_test.cpp.
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

  explicit ThreadPool(int threads);  // including the calling thread; 0 means available_cores()
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Runs body for items 0..count-1, each once, in any order, and returns when all are done. The caller works too and
  // never waits for a thread that has not begun. If another call is in progress (from another thread, or from a body),
  // all items run on the calling thread. The first exception of a body is rethrown here; items that have not begun by
  // then are skipped. A small job (some tens of microseconds) is divided among workers that are awake; it wakes the
  // others only if jobs follow each other so closely that they will stay awake.
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
  std::chrono::steady_clock::time_point last_end_{};  // when the last job ended

  // The job. The caller writes it while the job is closed; workers that have joined read it.
  const Body* body_ = nullptr;
  std::int64_t count_ = 0;
  std::exception_ptr failure_;
  std::atomic_flag failed_;
  alignas(64) std::atomic<std::int64_t> next_{0};
  // Bits 0..12: workers inside the job; bit 13: the job is open; bit 14: the pool stops; above: the job's number.
  // Workers sleep on this variable; 32 bits are the fastest (a futex).
  alignas(64) std::atomic<std::uint32_t> state_{0};

  std::vector<std::jthread> workers_;  // the last member, so that threads are joined before other members are destroyed
};

}  // namespace nbcc
