// The configurations fit a register file of 64 K words per multiprocessor, an instruction cache of some thousand
// instructions, and 48 KiB of shared memory. On an H200 they were the fastest of those tried for gravity with and
// without jerk in all precisions, for Lennard-Jones and for SPH.
#include "compiler/emit/cuda/launch/launch_configs.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/cuda/launch/gpu_facts.h"

namespace nbcc {
namespace {

constexpr int kSharedBytes = kGpuSharedBytesPerBlock - 1024;  // less other needs of a kernel
constexpr int kTileBytes = 20 << 10;
constexpr int kShortTest = 10;       // instructions
constexpr int kLongBody = 32;        // instructions
constexpr int kOtherRegisters = 25;  // registers of a thread that hold no particle data

// Registers of a thread for one i.
int words_of_i(const CudaNeeds& needs) {
  return (needs.precision == Precision::Double ? 4 : 3) * needs.accumulators + needs.i_words;
}

bool fits(const CudaNeeds& needs, const LaunchConfig& config) {
  const std::int64_t combined = std::int64_t(8) * needs.accumulators * config.threads * config.i_per_thread;
  const std::int64_t staged = std::int64_t(needs.staged_bytes) * config.j_tile;
  return std::max(combined, staged) + needs.cold_bytes * config.i_per_block() + needs.table_bytes <= kSharedBytes;
}

LaunchConfig default_config(const CudaNeeds& needs) {
  const bool wide = needs.precision == Precision::Double;
  LaunchConfig config{.threads = 128, .i_per_thread = 1, .j_tile = 128, .unroll = 32, .j_slices = 1};
  const int words = words_of_i(needs);
  config.i_per_thread = words * 4 <= (wide ? 64 : needs.cutoff ? 96 : 112) ? 4 : words * 2 <= 80 ? 2 : 1;
  // A short test pays for the load of a j from shared memory only if a thread tests it against many i. Hits are few, so
  // that the sum over a longer tile has no more terms.
  if (needs.cutoff) {
    if (needs.instructions > kShortTest || needs.precision != Precision::Single)
      config.i_per_thread = std::min(config.i_per_thread, 2);
    config.j_tile = 256;
  }
  // The compiler hoists the loads of an unrolled loop: a double, or a value in two parts, occupies two registers until
  // it is used.
  const int longest = wide ? 512 : needs.precision == Precision::Mixed ? 1024 : 2048;
  while (config.unroll > 1 && needs.instructions * config.i_per_thread * config.unroll > longest) config.unroll /= 2;
  // Four large particles would fit, but two in more threads are faster, with a loop of the same length. So are two with
  // a long body, or with comparisons that keep an index; measured in single precision only.
  const bool is_long = needs.precision == Precision::Single && (needs.instructions > kLongBody || needs.keeps_index);
  if (!needs.cutoff && (words * 4 > 96 || is_long)) config.i_per_thread = std::min(config.i_per_thread, 2);
  while (config.j_tile > 32 && needs.staged_bytes * config.j_tile > kTileBytes) config.j_tile /= 2;
  // Below 32 threads much of the GPU is idle, but a kernel with hundreds of outputs can run in no other way.
  while (config.threads > 1 && !fits(needs, config)) config.threads /= 2;
  return config;
}

}  // namespace

std::vector<LaunchConfig> launch_configs(const CudaNeeds& needs) {
  const LaunchConfig own = default_config(needs);
  std::vector<LaunchConfig> configs{own};
  // The default tile has as many terms as a sum in working precision should have. With slices the tile is longer by the
  // number of slices, up to four times.
  const auto add_sliced = [&](int i_per_thread, int j_slices) {
    LaunchConfig config{2 * own.threads, i_per_thread, own.j_tile * std::min(j_slices, 4), own.unroll, j_slices};
    while (config.j_tile > own.j_tile && !fits(needs, config)) config.j_tile /= 2;
    if (config.threads <= 1024 && config.threads % j_slices == 0 && fits(needs, config)) configs.push_back(config);
  };
  if (own.i_per_thread > 1) {
    configs.push_back(own);
    configs.back().i_per_thread /= 2;
    add_sliced(own.i_per_thread / 2, 4);
  }
  // If there are few tiles, shorter ones are distributed more evenly.
  if (needs.cutoff && own.j_tile > 128) {
    for (std::size_t k = configs.size(); k-- > 0;) {
      if (configs[k].j_slices > 1) continue;
      configs.push_back(configs[k]);
      configs.back().j_tile /= 2;
    }
  }
  for (const int j_slices : {2, 8, 32}) add_sliced(1, j_slices);
  return configs;
}

int resident_threads(const CudaNeeds& needs, int i_per_thread) {
  if (needs.precision == Precision::Double) return 0;
  const int registers = kOtherRegisters + needs.pair_words + i_per_thread * words_of_i(needs);
  const int threads = kGpuRegisters / registers / 128 * 128;
  // Hits are processed one at a time with full latency, so that more threads are better than more registers, unless
  // registers are spilled. Above 1024 threads some are; if not even 512 fit, there is no minimum.
  if (needs.cutoff) return threads < 512 ? 0 : std::min(threads, i_per_thread > 2 ? 512 : 1024);
  // For plain arithmetic with several i per thread, the compiler by default uses more registers than pay off. Functions
  // need them: the compiler interleaves their evaluation for several i.
  const int enough = i_per_thread > 2 ? 512 : 640;
  const bool few = needs.plain && needs.precision == Precision::Single && threads >= enough;
  if (!few || i_per_thread == 1) return 0;
  // Gravity with its jerk gains 4% more. Kernels with guards do not, because they may have two loops.
  const bool two_at_most = default_config(needs).i_per_thread == 2;
  return two_at_most && !needs.guarded ? 768 : enough;
}
std::string resident_threads_text(const CudaNeeds& needs) {
  const auto with = [&](int i_per_thread) { return resident_threads(needs, i_per_thread); };
  if (with(1) == with(2) && with(1) == with(4)) return std::to_string(with(1));
  return fmt::format("(NBCC_I_PER_THREAD > 2 ? {} : NBCC_I_PER_THREAD > 1 ? {} : {})", with(4), with(2), with(1));
}

}  // namespace nbcc
