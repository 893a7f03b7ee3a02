#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nbcc {
namespace {

TEST(ThreadPool, RunsEachItemOnce) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (const std::int64_t count : {0, 1, 2, 3, 1000}) {
      std::vector<std::atomic<int>> runs(std::size_t(count + 1));
      pool.parallel_for(count, [&](std::int64_t item) { ++runs[std::size_t(item)]; });
      for (std::int64_t k = 0; k < count; ++k) EXPECT_EQ(runs[std::size_t(k)], 1);
    }
  }
}

TEST(ThreadPool, OtherThreadsTakePart) {
  ThreadPool pool(2);
  // Each of the two items waits for the other: one thread alone would wait for ever.
  std::atomic<int> begun{0};
  pool.parallel_for(2, [&](std::int64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(ThreadPool, SleepersAreWoken) {
  ThreadPool pool(2);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> begun{0};
    pool.parallel_for(2, [&](std::int64_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    std::this_thread::sleep_for(std::chrono::microseconds(20 * (round % 8)));
  }
}

TEST(ThreadPool, SmallJobsAreDoneWithAndWithoutWorkers) {
  ThreadPool pool(2);
  std::atomic<std::int64_t> sum{0};
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for(4, [&](std::int64_t item) { sum += item; }, ThreadPool::Size::Small);
    if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sum, 200 * 6);
}

TEST(ThreadPool, CarriesAnExceptionToTheCaller) {
  ThreadPool pool(3);
  for (int round = 0; round < 100; ++round) {
    EXPECT_THROW(pool.parallel_for(100,
                                   [&](std::int64_t item) {
                                     if (item == 37) throw std::runtime_error("item 37");
                                   }),
                 std::runtime_error);
  }
  std::atomic<int> ran{0};
  pool.parallel_for(10, [&](std::int64_t) { ++ran; });
  EXPECT_EQ(ran, 10);
}

TEST(ThreadPool, NestedLoopRunsInline) {
  ThreadPool pool(2);
  std::atomic<int> ran{0};
  pool.parallel_for(4, [&](std::int64_t) {
    const auto self = std::this_thread::get_id();
    pool.parallel_for(5, [&](std::int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++ran;
    });
  });
  EXPECT_EQ(ran, 20);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        pool.parallel_for(8, [&](std::int64_t item) { sum += item; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 500 * 28);
}

TEST(ThreadPool, ManyMoreThreadsThanItemsAndCores) {
  ThreadPool pool(64);
  std::atomic<int> ran{0};
  for (int round = 0; round < 1000; ++round) pool.parallel_for(2, [&](std::int64_t) { ++ran; });
  EXPECT_EQ(ran, 2000);
}

TEST(ThreadPool, ZeroMeansAllCores) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_EQ(ThreadPool(0).threads(), available_cores());
}

}  // namespace
}  // namespace nbcc
