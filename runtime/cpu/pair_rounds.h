// The pairs of blocks of one set, in rounds (circle method of a round-robin tournament). In a round a block belongs to
// at most one pair, so that threads need no locks. The first round pairs each block with itself; every other pair
// occurs once in the later rounds. Work on a pair begins when both blocks have finished the round before, so that each
// block meets the other blocks in one order for any number of threads. Tested by
// tests/unit/runtime/cpu/pair_rounds_test.cpp.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace nbcc {

class PairRounds {
 public:
  struct Pair {
    std::int64_t i, j;  // blocks; equal in the first round
  };

  explicit PairRounds(std::int64_t blocks);

  // The number of items; some items are empty. Threads must take items in rising order.
  std::int64_t items() const { return blocks_ + (even_ - 1) * (even_ / 2); }
  // Waits until the item's blocks have finished their earlier rounds, calls body(pair), and marks the round as
  // finished. If the body of any item throws, the others that wait return without a call.
  void work(std::int64_t item, const std::function<void(Pair)>& body);

  // The pair of an item; j = blocks(): none, an empty item.
  Pair pair(std::int64_t item) const;
  std::int64_t round(std::int64_t item) const { return item < blocks_ ? 0 : 1 + (item - blocks_) / (even_ / 2); }
  std::int64_t blocks() const { return blocks_; }

 private:
  bool wait_for(std::int64_t block, std::int64_t round) const;

  const std::int64_t blocks_, even_;  // even_: blocks_, or one more if that is odd; the last block then is none
  std::vector<std::atomic<std::int64_t>> finished_;  // [block] number of finished rounds
  std::atomic<bool> stopped_{false};
};

}  // namespace nbcc
