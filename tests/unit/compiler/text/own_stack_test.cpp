// Stacks and threads that are refused: an error where the text cannot be compiled without, else work goes on.
#include "compiler/text/own_stack.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "runtime/api/nbcc.hpp"
#include "runtime/thread_pool.h"
#include "tests/support/limits.h"

namespace nbcc {
namespace {

constexpr std::size_t kMiB = std::size_t(1) << 20;

TEST(OwnStack, HoldsWhatACallersDoesNot) {
  int sum = 0;
  run_on_own_stack(64 * kMiB, [&] {
    volatile char deep[32 * kMiB];
    for (std::size_t k = 0; k < sizeof deep; k += 4096) deep[k] = 1;
    for (std::size_t k = 0; k < sizeof deep; k += 4096) sum += deep[k];
  });
  EXPECT_EQ(sum, 8192);
}

TEST(OwnStack, WhatIsThrownThereIsThrownHere) {
  EXPECT_THROW(run_on_own_stack(kMiB, [] { throw std::out_of_range("there"); }), std::out_of_range);
}

// 0 where compiling is refused as it should be. LLVM's own thread would end the process.
int refused_compilation() {
  try {
    const Device device("cpu", {.threads = 1, .cache_dir = ""});
    Pipeline::from_text(device, "input_j real x;\noutput(sum) real s;\ns += x;\n");
  } catch (const Error& e) {
    const bool named = std::string(e.what()).find("a stack of 512 MiB") != std::string::npos;
    if (!named) std::fprintf(stderr, "%s\n", e.what());
    return e.status() == NBCC_ERROR_DEVICE && named ? 0 : 1;
  }
  return 2;
}

TEST(OwnStack, AStackThatIsRefusedIsAnErrorOfTheCall) {
  EXPECT_EQ(test::with_address_space(256 * kMiB, refused_compilation), 0);
}

TEST(OwnStack, AThreadThatIsRefusedIsAnErrorOfTheCall) { EXPECT_EQ(test::without_threads(refused_compilation), 0); }

TEST(ThreadPool, WithoutThreadsTheCallerDoesTheWork) {
  EXPECT_EQ(test::without_threads([] {
              std::atomic<int> done{0};
              ThreadPool pool(4);
              for (int k = 0; k < 3; ++k) pool.parallel_for(100, [&](std::int64_t) { ++done; });
              return done == 300 ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace nbcc
