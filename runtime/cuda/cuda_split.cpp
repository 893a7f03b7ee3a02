// Sizes -> the cut of the work. Door: choose_split(). A model with a few measured constants; asks no device.
//
// A block passes over the tiles of its part; per tile it works for each i that a thread holds, and a little for
// fetching each j, which is why several i per thread pay. A multiprocessor needs many warps, or several i per thread,
// to be busy all the time. Blocks too few to fill the GPU, and what is left over after whole rounds of resident blocks,
// leave others idle: more, smaller parts of j even that out, those beyond whole rounds of one tile each, and so do
// lanes, which divide j within a block. Parts have to be joined at the end through the GPU's memory, lanes through
// shared memory, which costs far less; but lanes make tiles larger.
//
// The constants are fits to times on an H200. Without a cutoff, to those of gravity with and without its derivative: 26
// cases from 8 x 131072 to 131072 x 131072 particles, in all shapes and parts that make sense. What the model chooses
// took at most 6% more time than the best of them, 1% on the average. Behind a cutoff, where hits lie in few tiles and
// blocks are as unlike as can be, to those of Lennard-Jones and SPH's densities and forces with 4096 to 262144
// particles, where the choice takes at most 6% more than the best, 1% on the average.
#include "runtime/cuda/cuda_split.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace nbcc {
namespace {

// In clock cycles.
constexpr double kFlush = 7;    // joining the sum of a tile, for each i and slot
constexpr double kLane = 23.6;  // joining what a lane has found, for each slot
constexpr double kIssue = 4;    // warps that a multiprocessor serves in a cycle

// ... and the constants that a cutoff changes.
struct Fit {
  double stage;      // one j into shared memory, for one thread
  double tile;       // waiting for memory and at the barriers of a tile
  double block;      // launch, loading i, storing what was found
  double join;       // the last block's wait for the others, if there are several parts
  double join_part;  // a slot of four parts, fetched together; measured before some fetched eight
  // A multiprocessor with x warps does 1 / (1 + (half_busy / x)^busy_power) of what it can do; an i more per thread
  // counts as so much of a warp more.
  double warp_per_i, half_busy, busy_power;
  double end;  // rounds of blocks run into each other; this share of one is lost at the end
};
constexpr Fit kAlike{34.27, 1789, 4625, 1054, 463.5, 1.27, 2.2, 0.6066, 0.2408};
constexpr Fit kWithHits{30, 1600, 4640, 2100, 274, 0.94, 1.785, 0.804, 0.5};

// Without a cutoff.
constexpr double kFilled = 0.95;     // of the places for blocks in some rounds, at least, so that these are whole
constexpr double kEndShort = 0.173;  // in place of `end`: of a round of parts of one tile
constexpr double kAgain = 0.6;       // of what a block costs once, where other blocks work meanwhile
// Blocks of one round do the same at the same time, such as waiting: this share is lost, divided by the rounds.
constexpr double kInStep = 0.06;
// More blocks than this ran so much faster, whatever their number. Measured; why is not known.
constexpr double kMany = 4096, kManyGain = 1.025;

// Behind one.
constexpr double kWorkOff = 1000;  // for each i of a thread, whose hits have code of their own
constexpr double kUneven = 0.3;    // where all blocks are resident at once: what the busiest has to do beyond the mean

constexpr int kTogether = 16;  // parts that a kernel joins at a time, for each lane; without a cutoff all

constexpr int kParts[] = {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 96, 128, 192, 256};
constexpr int kPartsWithHits[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr std::int64_t kPartialBytes = std::int64_t(256) << 20;
constexpr std::int64_t kSharedBytes = 47 << 10;

std::int64_t ceil_div(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

double busy(const Fit& fit, double warps, int i_per_thread) {
  const double x = warps * (1 + fit.warp_per_i * (i_per_thread - 1));
  return 1 / (1 + std::pow(fit.half_busy / x, fit.busy_power));
}

// Of a shape that is not compiled yet: fewer i per thread need fewer registers, and half of them make room for 1.4
// times the threads.
int resident_blocks(const CudaSplitQuestion& q, const CudaShape& shape) {
  double threads = double(q.blocks_per_multiprocessor) * q.shape.threads;
  for (int i = q.shape.i_per_thread; i > shape.i_per_thread; i /= 2) threads *= 1.4;
  return std::max(1, int(threads / shape.threads));
}

std::int64_t blocks_of_i(const CudaSplitQuestion& q, const CudaShape& shape) {
  return ceil_div(q.ni, std::int64_t(shape.threads) / shape.lanes * shape.i_per_thread);
}

bool fits(const CudaSplitQuestion& q, const CudaShape& shape) {
  const std::int64_t found = std::int64_t(8) * q.slots * shape.threads * shape.i_per_thread;
  const std::int64_t rest = std::int64_t(q.rest_bytes) * shape.threads / shape.lanes * shape.i_per_thread;
  return shape.threads <= 1024 && shape.threads % shape.lanes == 0 && shape.i_per_thread >= 1 &&
         std::max(found, std::int64_t(shape.j_tile) * q.staged_bytes) + rest <= kSharedBytes;
}

// Parts whose blocks fill rounds of resident ones, as many as there are among those given. 0: no number of them does.
struct WholeRounds {
  std::int64_t parts = 0, rounds = 0;
};
WholeRounds whole_rounds(const CudaSplitQuestion& q, const CudaSplit& split) {
  const std::int64_t blocks = blocks_of_i(q, split.shape), tiles = ceil_div(q.nj, split.shape.j_tile);
  if (q.cutoff || blocks == 0) return {};
  const std::int64_t together = std::int64_t(resident_blocks(q, split.shape)) * q.multiprocessors;
  const std::int64_t rounds = ceil_div((split.parts + 1) * blocks, together) - 1, parts = rounds * together / blocks;
  const bool filled = double(parts * blocks) >= kFilled * double(rounds * together);
  return filled && tiles - (split.parts - parts) >= 2 * parts ? WholeRounds{parts, rounds} : WholeRounds{};
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

int short_parts(const CudaSplitQuestion& q, const CudaSplit& split) {
  const WholeRounds whole = whole_rounds(q, split);
  return whole.parts > 0 ? split.parts - int(whole.parts) : 0;
}

double split_cost(const CudaSplitQuestion& q, const CudaSplit& split) {
  const Fit& fit = q.cutoff ? kWithHits : kAlike;
  const CudaShape& shape = split.shape;
  const std::int64_t tiles = ceil_div(q.nj, shape.j_tile);
  const double blocks = double(blocks_of_i(q, shape)) * split.parts;
  // A tile that is not full costs what it holds.
  const double pairs = tiles == 0 ? 0 : double(std::min<std::int64_t>(q.nj, shape.j_tile)) / shape.lanes;
  const double per_tile = pairs * shape.i_per_thread * q.pair_statements + shape.i_per_thread * q.slots * kFlush +
                          double(shape.j_tile) / shape.threads * fit.stage;
  // Blocks on one multiprocessor, until each has passed over so many tiles.
  const auto time = [&](double together, double passes) {
    const double warps = together * shape.threads / 32;
    return warps * passes * per_tile / kIssue / busy(fit, warps, shape.i_per_thread) + passes * fit.tile;
  };
  const double once = fit.block + (q.cutoff ? kWorkOff * shape.i_per_thread : 0) + kLane * shape.lanes * q.slots;

  const double resident = resident_blocks(q, shape), rounds = blocks / (resident * q.multiprocessors);
  const WholeRounds whole = whole_rounds(q, split);
  const std::int64_t evenly = whole.parts > 0 ? whole.parts : split.parts, one_each = split.parts - evenly;
  const double longest = double(ceil_div(tiles - one_each, evenly));
  double cost = 0;
  if (rounds <= 1) {
    const auto most = double(ceil_div(std::int64_t(blocks), q.multiprocessors));
    cost = (time(most, longest) + once) * (q.cutoff ? 1 + kUneven : 1);
  } else if (q.cutoff) {
    cost = (time(resident, longest) + once) * (rounds + fit.end);
  } else {
    // The longer parts of one round meet the shorter ones of another.
    const double mean = double(tiles - one_each) / double(evenly), passes = mean + (longest - mean) / rounds;
    cost = whole.parts == 0 ? time(resident, passes) * (rounds + fit.end)
                            : time(resident, passes) * double(whole.rounds) +
                                  time(resident, 1) * (rounds * double(one_each) / split.parts + kEndShort);
    cost += once * (1 + kAgain * (rounds - 1));
  }
  if (!q.cutoff) {
    cost *= 1 + kInStep / std::max(rounds, 1.0);
    if (blocks > kMany) cost /= kManyGain;
  }

  const int most = q.cutoff ? kTogether * shape.lanes : split.parts;
  for (int left = split.parts; left > 1; left = int(ceil_div(left, most))) {
    const std::int64_t fetches = ceil_div(ceil_div(std::min(left, most), shape.lanes), 4);
    cost += fit.join + fit.join_part * double(fetches * q.slots);
  }
  return cost;
}

CudaSplit choose_split(const CudaSplitQuestion& q) {
  CudaSplit best{q.shape, 1};
  double least = split_cost(q, best);
  for (const CudaShape& shape : candidate_shapes(q)) {
    const std::int64_t tiles = ceil_div(q.nj, shape.j_tile);
    const std::int64_t room = kPartialBytes / (std::max<std::int64_t>(q.ni, 1) * q.slots * 8);
    for (const int parts : q.cutoff ? std::span<const int>(kPartsWithHits) : std::span<const int>(kParts)) {
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
