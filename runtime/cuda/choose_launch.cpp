// Sizes -> the launch configuration. Door: choose_launch(). Asks no device.
//
// A block passes over the tiles of its j-split. A sum takes as long as the blocks of one multiprocessor: if all blocks
// are resident at once, those of the busiest one; else as many waves of resident blocks as there are, and a share of a
// wave at the end, when some multiprocessors have run out of blocks. More splits, or slices, even that out. Partial
// sums of splits are combined through the GPU's memory, those of slices through shared memory, which costs far less;
// but slices make tiles longer. More i per thread serve more pairs by one j that is read from shared memory, which
// shows in the number of tiles that blocks pass over.
//
// The constants are a fit to what was measured on an H200 with 1024 to 140608 particles in all configurations: gravity,
// jerk, Lennard-Jones and SPH (docs/decisions/launch_model.md).
#include "runtime/cuda/choose_launch.h"

#include <algorithm>
#include <cmath>

#include "runtime/round_up.h"
#include "runtime/sum/reduction.h"

namespace nbcc {
namespace {

// In clock cycles.
constexpr double kTile = 1400;    // waiting for memory and at the barriers of a tile
constexpr double kBlock = 1000;   // launch of a block, and loading its i-particles
constexpr double kSlice = 13;     // combining what a slice has found, for each accumulator
constexpr double kCombine = 230;  // a partial sum of four splits, which are fetched together
constexpr double kIssue = 4;      // warps that a multiprocessor serves in a cycle

constexpr double kEnd = 0.04;  // of a wave: what is lost at the end

constexpr double kMostLost = 1.1;  // of slices: the cost of a pair, in that of a launch that fills the GPU

constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 96, 128, 192, 256};
constexpr std::int64_t kPartialBytes = std::int64_t(256) << 20;

// Of a configuration that need not be compiled yet: as many threads as of the one that is.
int resident_blocks(const LaunchConfig& config, const LaunchConfig& known, int blocks_of_known) {
  return std::max(1, blocks_of_known * known.threads / config.threads);
}

struct Model {
  const KernelSource& kernel;
  int multiprocessors;
  std::int64_t ni, nj;
  int accumulators = accumulators_of(kernel);

  // In clock cycles. `resident`: blocks of a multiprocessor at once.
  double time(const LaunchConfig& config, int resident) const {
    const std::int64_t tiles = ceil_div(nj, config.j_tile);
    const double blocks = double(ceil_div(ni, config.i_per_block())) * config.j_splits;
    const double waves = blocks / (double(resident) * multiprocessors);
    // A tile that is not full costs what it holds.
    const double pairs = double(std::min<std::int64_t>(nj, config.j_tile)) / config.j_slices * config.i_per_thread;
    // Blocks on one multiprocessor, until each has passed over so many tiles.
    const auto pass = [&](double together, double passes) {
      const double warps = together * config.threads / 32;
      return passes * (warps * pairs * kernel.pair_statements / kIssue + kTile);
    };
    const double once = kBlock + kSlice * config.j_slices * accumulators;
    const auto longest = double(ceil_div(tiles, config.j_splits));
    double cycles = 0;
    if (waves <= 1) {
      const auto most = double(ceil_div(std::int64_t(blocks), multiprocessors));
      cycles = pass(most, longest) + once;
    } else {
      // The longer splits of one wave meet the shorter ones of another.
      const double mean = double(tiles) / config.j_splits;
      cycles = pass(resident, mean + (longest - mean) / waves) * (waves + kEnd) + once * waves;
    }
    if (config.j_splits == 1) return cycles;
    return cycles + kCombine * double(ceil_div(ceil_div(config.j_splits, config.j_slices), 4) * accumulators);
  }
};

}  // namespace

LaunchConfig choose_launch(const KernelSource& kernel, std::span<const LaunchConfig> configs,
                           const CudaOccupancy& occupancy, std::int64_t ni, std::int64_t nj) {
  const Model model{kernel, occupancy.multiprocessors, ni, nj};
  const std::int64_t room = kPartialBytes / (std::max<std::int64_t>(ni, 1) * model.accumulators * 8);
  LaunchConfig best;
  double least = 0;
  for (LaunchConfig config : configs) {
    const int resident = resident_blocks(config, configs.front(), occupancy.resident_blocks);
    const std::int64_t most = std::min(ceil_div(nj, config.j_tile), room);
    for (const int splits : kSplits) {
      if (splits > 1 && splits > most) break;
      config.j_splits = splits;
      const double time = model.time(config, resident);
      if (best.j_splits > 0 && time >= least) continue;
      least = time;
      best = config;
    }
  }
  return best;
}

double predict_cycles(const KernelSource& kernel, const LaunchConfig& config, const CudaOccupancy& occupancy,
                      std::int64_t ni, std::int64_t nj) {
  return Model{kernel, occupancy.multiprocessors, ni, nj}.time(config, occupancy.resident_blocks);
}

std::int64_t choose_slice(const KernelSource& kernel, const LaunchConfig& config, const CudaOccupancy& occupancy,
                          std::int64_t ni, std::int64_t nj, double cycles) {
  const auto cycles_of = [&](std::int64_t count) { return predict_cycles(kernel, config, occupancy, count, nj); };
  if (cycles_of(ni) <= cycles) return ni;
  const auto blocks_on_each = [&](std::int64_t blocks) {
    const std::int64_t of_i = blocks * occupancy.multiprocessors / std::max(config.j_splits, 1);
    return std::max<std::int64_t>(of_i, 1) * config.i_per_block();
  };
  const std::int64_t full = blocks_on_each(occupancy.resident_blocks);
  const double waves = std::floor(cycles / cycles_of(full));
  if (waves >= 1) return std::min(ni, std::int64_t(waves) * full);
  const double of_one = cycles_of(full) / double(full);
  std::int64_t slice = 0;
  for (int blocks = 1; blocks <= occupancy.resident_blocks; ++blocks) {
    const std::int64_t count = blocks_on_each(blocks);
    if (cycles_of(count) > kMostLost * of_one * double(count)) continue;
    if (slice > 0 && cycles_of(count) > cycles) break;
    slice = count;
  }
  return std::min(ni, slice);
}

}  // namespace nbcc
