// The pairs of blocks of one set, in an order in which threads can work without locks: rounds, in each of which a block
// belongs to at most one pair. The first round pairs each block with itself, the others are those of a round-robin
// tournament, so that every pair occurs once. A pair may be worked on when both blocks have finished the round before;
// so each block meets the others in the same order, whatever the number of threads. Tested by
// tests/unit/pair_rounds_test.cpp.
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
