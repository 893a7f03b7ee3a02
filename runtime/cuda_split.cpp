// Sizes -> the cut of the work. Door: choose_split(). A model with a few measured constants; asks no device.
//
// A block passes over the tiles of its part; per tile it works for each i that a thread holds, and a little for
// fetching each j, which is why several i per thread pay. A multiprocessor needs many warps, or several i per thread,
// to be busy all the time. Blocks too few to fill the GPU, and what is left over after whole rounds of resident blocks,
// leave others idle: more, smaller parts of j even that out, and so do lanes, which divide j within a block. Parts have
// to be joined at the end through the GPU's memory, lanes through shared memory, which costs far less; but lanes make
// tiles larger.
//
// The constants are a fit to the times of gravity, with and without its derivative, on an H200: 28 cases from 8 x
// 131072 to 262144 x 262144 particles, in all shapes and parts that make sense. What the model chooses took at most 6%
// more time than the best of them (12% with 1024 particles and fewer), 2% on the average. Behind a cutoff, where hits
// lie in few tiles and blocks are as unlike as can be, four constants are others: a fit to Lennard-Jones and SPH's
// densities and forces with 4096 to 262144 particles on the same GPU, where the choice takes at most 6% more than the
// best, 1% on the average.
#include "runtime/cuda_split.h"

#include <algorithm>
#include <cmath>

namespace nbcc {
namespace {

// In clock cycles.
constexpr double kFlush = 7;       // joining the sum of a tile, for each i and slot
constexpr double kStage = 30;      // one j into shared memory, for one thread
constexpr double kTile = 420;      // waiting for memory and at the barriers of a tile
constexpr double kBlock = 4640;    // launch, loading i, storing what was found
constexpr double kLane = 23.6;     // joining what a lane has found, for each slot
constexpr double kJoin = 2100;     // the last block's wait for the others, if there are several parts
constexpr double kJoinPart = 274;  // a slot of four parts, fetched together; measured before some fetched eight
// A multiprocessor with x warps does 1 / (1 + (kHalfBusy / x)^kBusyPower) of what it can do; an i more per thread
// counts as so much of a warp more.
constexpr double kWarpPerI = 0.94, kHalfBusy = 1.785, kBusyPower = 0.804;
// Rounds of blocks run into each other; this share of one is lost at the end.
constexpr double kEnd = 0.114;
// Behind a cutoff.
constexpr double kWorkOff = 1000;   // for each i of a thread, whose hits have code of their own
constexpr double kTileHits = 1600;  // in place of kTile
constexpr double kEndHits = 0.5;    // in place of kEnd
constexpr double kUneven = 0.3;     // where all blocks are resident at once: what the busiest has to do beyond the mean
constexpr double kIssue = 4;        // warps that a multiprocessor serves in a cycle

constexpr int kTogether = 16;  // parts that a kernel joins at a time, for each lane; without a cutoff all

constexpr int kParts[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr std::int64_t kPartialBytes = std::int64_t(256) << 20;
constexpr std::int64_t kSharedBytes = 47 << 10;

std::int64_t ceil_div(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

double busy(double warps, int i_per_thread) {
  const double x = warps * (1 + kWarpPerI * (i_per_thread - 1));
  return 1 / (1 + std::pow(kHalfBusy / x, kBusyPower));
}

// Of a shape that is not compiled yet: fewer i per thread need fewer registers, and half of them make room for 1.4
// times the threads.
int resident_blocks(const CudaSplitQuestion& q, const CudaShape& shape) {
  double threads = double(q.blocks_per_multiprocessor) * q.shape.threads;
  for (int i = q.shape.i_per_thread; i > shape.i_per_thread; i /= 2) threads *= 1.4;
  return std::max(1, int(threads / shape.threads));
}

bool fits(const CudaSplitQuestion& q, const CudaShape& shape) {
  const std::int64_t found = std::int64_t(8) * q.slots * shape.threads * shape.i_per_thread;
  const std::int64_t rest = std::int64_t(q.rest_bytes) * shape.threads / shape.lanes * shape.i_per_thread;
  return shape.threads <= 1024 && shape.threads % shape.lanes == 0 && shape.i_per_thread >= 1 &&
         std::max(found, std::int64_t(shape.j_tile) * q.staged_bytes) + rest <= kSharedBytes;
}

}  // namespace

std::vector<CudaShape> candidate_shapes(const CudaSplitQuestion& q) {
  std::vector<CudaShape> shapes{q.shape};
  if (q.only_this_shape) return shapes;
  // The text's tile is as long as a sum in working precision should be: each lane takes that much, as far as four
  // tiles.
  const auto with_lanes = [&](int i_per_thread, int lanes) {
    CudaShape shape = q.shape;
    shape.threads = 2 * q.shape.threads;
    shape.i_per_thread = std::max(i_per_thread, 1);
    shape.lanes = lanes;
    shape.j_tile = q.shape.j_tile * std::min(lanes, 4);
    while (shape.j_tile > q.shape.j_tile && !fits(q, shape)) shape.j_tile /= 2;
    if (fits(q, shape)) shapes.push_back(shape);
  };
  if (q.shape.i_per_thread > 1) {
    CudaShape narrower = q.shape;
    narrower.i_per_thread /= 2;
    if (fits(q, narrower)) shapes.push_back(narrower);
    with_lanes(q.shape.i_per_thread / 2, 4);
  }
  // Short tiles share out few of them more evenly.
  if (q.cutoff && q.shape.j_tile > 128) {
    for (std::size_t k = shapes.size(); k-- > 0;) {
      if (shapes[k].lanes > 1) continue;
      shapes.push_back(shapes[k]);
      shapes.back().j_tile /= 2;
    }
  }
  for (const int lanes : {2, 8, 32}) with_lanes(1, lanes);
  return shapes;
}

double split_cost(const CudaSplitQuestion& q, const CudaSplit& split) {
  const CudaShape& shape = split.shape;
  const std::int64_t tiles = ceil_div(q.nj, shape.j_tile);
  const std::int64_t width = std::int64_t(shape.threads) / shape.lanes * shape.i_per_thread;
  const double blocks = double(ceil_div(q.ni, width)) * split.parts;
  // A tile that is not full costs what it holds.
  const double pairs = tiles == 0 ? 0 : double(std::min<std::int64_t>(q.nj, shape.j_tile)) / shape.lanes;
  const double per_tile = pairs * shape.i_per_thread * q.pair_statements + shape.i_per_thread * q.slots * kFlush +
                          double(shape.j_tile) / shape.threads * kStage;
  const double passes = double(ceil_div(tiles, split.parts));
  const auto time = [&](double together) {
    const double warps = together * shape.threads / 32;
    return warps * passes * per_tile / kIssue / busy(warps, shape.i_per_thread) +
           passes * (q.cutoff ? kTileHits : kTile) + kBlock + (q.cutoff ? kWorkOff * shape.i_per_thread : 0) +
           kLane * shape.lanes * q.slots;
  };
  const double resident = resident_blocks(q, shape), rounds = blocks / (resident * q.multiprocessors);
  double cost = rounds <= 1
                    ? time(double(ceil_div(std::int64_t(blocks), q.multiprocessors))) * (q.cutoff ? 1 + kUneven : 1)
                    : time(resident) * (rounds + (q.cutoff ? kEndHits : kEnd));
  const int most = q.cutoff ? kTogether * shape.lanes : split.parts;
  for (int left = split.parts; left > 1; left = int(ceil_div(left, most))) {
    const std::int64_t fetches = ceil_div(ceil_div(std::min(left, most), shape.lanes), 4);
    cost += kJoin + kJoinPart * double(fetches * q.slots);
  }
  return cost;
}

CudaSplit choose_split(const CudaSplitQuestion& q) {
  CudaSplit best{q.shape, 1};
  double least = split_cost(q, best);
  for (const CudaShape& shape : candidate_shapes(q)) {
    const std::int64_t tiles = ceil_div(q.nj, shape.j_tile);
    const std::int64_t room = kPartialBytes / (std::max<std::int64_t>(q.ni, 1) * q.slots * 8);
    for (const int parts : kParts) {
      if (parts > 1 && parts > std::min(tiles, room)) break;
      const CudaSplit split{shape, parts};
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
