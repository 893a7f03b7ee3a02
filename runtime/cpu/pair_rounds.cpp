// The circle method: one block stays, the others move on by one place from round to round. Interface: PairRounds.
#include "runtime/cpu/pair_rounds.h"

#include <algorithm>
#include <thread>

namespace nbcc {

PairRounds::PairRounds(std::int64_t blocks)
    : blocks_(blocks), even_(blocks + blocks % 2), finished_(std::size_t(blocks)) {}

PairRounds::Pair PairRounds::pair(std::int64_t item) const {
  if (item < blocks_) return {item, item};
  const std::int64_t circle = even_ - 1, turn = round(item) - 1, place = (item - blocks_) % (even_ / 2);
  const std::int64_t one = place == 0 ? circle : (turn + place) % circle;
  const std::int64_t other = place == 0 ? turn : (turn + circle - place) % circle;
  return {std::min(one, other), std::max(one, other)};
}

// False if another item has thrown.
bool PairRounds::wait_for(std::int64_t block, std::int64_t round) const {
  constexpr int kSpins = 2000;
  const std::atomic<std::int64_t>& finished = finished_[std::size_t(block)];
  for (int k = 0; finished.load(std::memory_order_acquire) != round; ++k) {
    if (stopped_.load(std::memory_order_relaxed)) return false;
    if (k >= kSpins) std::this_thread::yield();
  }
  return true;
}

void PairRounds::work(std::int64_t item, const std::function<void(Pair)>& body) {
  const Pair both = pair(item);
  const std::int64_t now = round(item);
  const bool empty = both.j >= blocks_;
  if (!wait_for(both.i, now) || (!empty && !wait_for(both.j, now))) return;
  try {
    if (!empty) body(both);
  } catch (...) {
    stopped_.store(true, std::memory_order_relaxed);
    throw;
  }
  finished_[std::size_t(both.i)].store(now + 1, std::memory_order_release);
  if (!empty && both.j != both.i) finished_[std::size_t(both.j)].store(now + 1, std::memory_order_release);
}

}  // namespace nbcc
