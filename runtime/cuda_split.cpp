// Sizes -> the cut of the work. Door: choose_split(). A model with a few measured constants; asks no device.
//
// A block passes over the tiles of its part; per tile it works for each i that a thread holds, and a little for
// fetching each j, which is why several i per thread pay. A multiprocessor needs several warps, or several i per
// thread, to be busy all the time: with few blocks on it, it is not. What is left over after whole rounds of resident
// blocks, and blocks that are too few to fill the GPU, cost time in which others stand still: more, smaller parts of j
// even that out, and each part costs its share of the joining at the end.
#include "runtime/cuda_split.h"

#include <algorithm>

namespace nbcc {
namespace {

// Fetching a j from shared memory, in units of one interaction (H200: 1881 G/s with one i per thread, 2099 with four).
constexpr double kFetch = 0.15;
// Beginning and ending a block: launch, loading i, storing what was found.
constexpr double kBlock = 0.3;
// A multiprocessor is half idle with this much on it, counted in blocks of 128 threads with one i per thread.
constexpr double kHalfBusy = 1.0;
// What an i more per thread adds to that count.
constexpr double kBusyPerI = 0.5;
// Joining parts: the last block's wait for memory, and each part that it reads.
constexpr double kJoin = 1.0, kJoinPart = 0.05;
constexpr std::int64_t kMostParts = 64;
constexpr std::int64_t kPartialBytes = std::int64_t(256) << 20;

std::int64_t ceil_div(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

// The share of a multiprocessor's throughput that `blocks` of them reach.
double busy(double blocks, int threads, int i_per_thread) {
  const double load = blocks * threads / 128 * (1 + kBusyPerI * (i_per_thread - 1));
  return load / (load + kHalfBusy);
}

}  // namespace

double split_cost(const CudaSplitQuestion& q, const CudaSplit& split) {
  const std::int64_t tiles = ceil_div(q.nj, q.tile);
  const std::int64_t blocks = ceil_div(q.ni, std::int64_t(q.threads) * split.i_per_thread) * split.parts;
  // Fewer i per thread need fewer registers, but how many fewer the compiler alone knows.
  const std::int64_t resident = std::max(1, q.blocks_per_multiprocessor);
  const std::int64_t round = resident * q.multiprocessors;
  const double work = kBlock + double(ceil_div(tiles, split.parts)) * (split.i_per_thread + kFetch);
  const auto time = [&](double together) { return together * work / busy(together, q.threads, split.i_per_thread); };
  const std::int64_t rounds = blocks / round, rest = blocks % round;
  double cost = double(rounds) * time(double(resident));
  if (rest > 0) cost += time(double(ceil_div(rest, q.multiprocessors)));
  if (split.parts > 1) cost += kJoin + kJoinPart * split.parts;
  return cost;
}

CudaSplit choose_split(const CudaSplitQuestion& q) {
  const std::int64_t tiles = ceil_div(q.nj, q.tile);
  const std::int64_t room = kPartialBytes / (std::max<std::int64_t>(q.ni, 1) * q.slots * 8);
  const int most = int(std::clamp<std::int64_t>(std::min(tiles, room), 1, kMostParts));
  CudaSplit best{q.i_per_thread, 1};
  double least = split_cost(q, best);
  for (int i_per_thread = q.i_per_thread; i_per_thread >= q.fewest_i_per_thread && i_per_thread >= 1;
       i_per_thread /= 2) {
    for (int parts = 1; parts <= most; ++parts) {
      const CudaSplit split{i_per_thread, parts};
      const double cost = split_cost(q, split);
      if (cost < least) {
        least = cost;
        best = split;
      }
    }
  }
  return best;
}

}  // namespace nbcc
