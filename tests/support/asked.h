// A Progress that asks whenever it can, and remembers what it asked. Its entry point is Asked.
#pragma once
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include "runtime/sum/request/progress.h"

namespace nbcc::test {

// Interrupts the run when it is asked for the k-th time; 0: never.
struct Asked {
  explicit Asked(std::size_t interrupt_at = 0)
      : progress(
            [this, interrupt_at](double done) {
              fractions.push_back(done);
              threads.insert(std::this_thread::get_id());
              return fractions.size() == interrupt_at;
            },
            Progress::Clock::duration::zero()) {}

  std::vector<double> fractions;
  std::set<std::thread::id> threads;
  Progress progress;
};

}  // namespace nbcc::test
