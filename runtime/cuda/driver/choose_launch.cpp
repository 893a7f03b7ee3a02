// Sizes -> the launch configuration. Interface: choose_launch(). Queries no device.
//
// A block processes the tiles of its j-split. If all blocks are resident at once, the predicted time is that of the
// busiest multiprocessor. Else it is the number of waves of resident blocks, plus a fraction of a wave at the end, when
// some multiprocessors have run out of blocks. More splits, or slices, balance the load. Partial sums of splits are
// combined through global memory, those of slices through shared memory, which costs far less; but slices make tiles
// longer. With more i per thread, one j read from shared memory serves more pairs, and blocks process fewer tiles.
//
// The constants are a fit to measurements on an H200 with 1024 to 140608 particles in all configurations: gravity,
// jerk, Lennard-Jones and SPH (docs/decisions/launch_model.md).
#include "runtime/cuda/driver/choose_launch.h"

#include <algorithm>
#include <cmath>

#include "runtime/round_up.h"
#include "runtime/sum/request/reduction.h"

namespace nbcc {
namespace {

// In clock cycles.
constexpr double kTileCycles = 1400;    // per tile: waiting for memory and at barriers
constexpr double kBlockCycles = 1000;   // per block: its launch, and loading its i-particles
constexpr double kSliceCycles = 13;     // per slice and accumulator: combining the sums
constexpr double kCombineCycles = 230;  // per accumulator and four splits, whose partial sums are loaded together

constexpr double kWarpsPerCycle = 4;  // warp instructions that a multiprocessor issues per clock cycle

// Results per clock cycle of a multiprocessor: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
// Instructions". The driver reports only the ratio of float to double.
constexpr double kFloatsBefore86 = 64, kFloats = 128, kDoublesOf90 = 64;

constexpr double kTailWave = 0.04;  // fraction of a wave that is lost at the end of a launch

// The maximum cost of a pair in a slice, relative to a launch that fills the GPU.
constexpr double kMaxRelativeCost = 1.1;

constexpr int kSplitCounts[] = {1,  2,  3,  4,  6,  8,  10, 12, 14, 16,  20,  24,
                                28, 32, 36, 40, 48, 56, 64, 80, 96, 128, 192, 256};
constexpr std::int64_t kMaxPartialBytes = std::int64_t(256) << 20;

struct Model {
  const KernelSource& kernel;
  const CudaOccupancy& occupancy;
  std::int64_t ni, nj;
  int accumulators = accumulators_of(kernel);
  double slots = slots_per_pair(kernel, occupancy.rates);

  // In clock cycles. `resident`: resident blocks per multiprocessor.
  double time(const LaunchConfig& config, int resident) const {
    const int multiprocessors = occupancy.multiprocessors;
    const std::int64_t tiles = ceil_div(nj, config.j_tile);
    const double blocks = double(ceil_div(ni, config.i_per_block())) * config.j_splits;
    const double waves = blocks / (double(resident) * multiprocessors);
    // Pairs per thread and tile. A single partial tile costs only the j it holds.
    const double pairs = double(std::min<std::int64_t>(nj, config.j_tile)) / config.j_slices * config.i_per_thread;
    // Cycles of `together` resident blocks of one multiprocessor, each of which processes `passes` tiles.
    const auto pass = [&](double together, double passes) {
      const double warps = together * config.threads / 32;
      return passes * (warps * pairs * slots / kWarpsPerCycle + kTileCycles);
    };
    const double once = kBlockCycles + kSliceCycles * config.j_slices * accumulators;
    const auto longest = double(ceil_div(tiles, config.j_splits));
    double cycles = 0;
    if (waves <= 1) {
      const auto most = double(ceil_div(std::int64_t(blocks), multiprocessors));
      cycles = pass(most, longest) + once;
    } else {
      // Over several waves, longer and shorter splits average out on a multiprocessor.
      const double mean = double(tiles) / config.j_splits;
      cycles = pass(resident, mean + (longest - mean) / waves) * (waves + kTailWave) + once * waves;
    }
    if (config.j_splits == 1) return cycles;
    return cycles + kCombineCycles * double(ceil_div(ceil_div(config.j_splits, config.j_slices), 4) * accumulators);
  }
};

}  // namespace

CudaRates cuda_rates(int capability, int float_to_double) {
  const double floats = capability < 86 ? kFloatsBefore86 : kFloats;
  return {kFloats / floats, kDoublesOf90 * std::max(float_to_double, 1) / floats};
}

double slots_per_pair(const KernelSource& kernel, const CudaRates& rates) {
  return (kernel.on_gpu.statements - kernel.on_gpu.doubles) * rates.float_slots +
         kernel.on_gpu.doubles * rates.double_slots;
}

int estimate_resident_blocks(const LaunchConfig& config, const LaunchConfig& known, int blocks_of_known) {
  return std::max(1, blocks_of_known * known.threads / config.threads);
}

LaunchConfig choose_launch(const KernelSource& kernel, std::span<const LaunchConfig> configs,
                           const CudaOccupancy& occupancy, std::int64_t ni, std::int64_t nj) {
  const Model model{kernel, occupancy, ni, nj};
  const std::int64_t room = kMaxPartialBytes / (std::max<std::int64_t>(ni, 1) * model.accumulators * 8);
  LaunchConfig best;
  double least = 0;
  for (LaunchConfig config : configs) {
    const int resident = estimate_resident_blocks(config, configs.front(), occupancy.resident_blocks);
    const std::int64_t most = std::min(ceil_div(nj, config.j_tile), room);
    for (const int splits : kSplitCounts) {
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
  return Model{kernel, occupancy, ni, nj}.time(config, occupancy.resident_blocks);
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
    if (cycles_of(count) > kMaxRelativeCost * of_one * double(count)) continue;
    if (slice > 0 && cycles_of(count) > cycles) break;
    slice = count;
  }
  return std::min(ni, slice);
}

}  // namespace nbcc
