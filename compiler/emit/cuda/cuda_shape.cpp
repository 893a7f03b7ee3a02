// Measured shapes are the device's business. These are what a register file of 64 K words per multiprocessor, an
// instruction cache of some thousand instructions and 48 KiB of shared memory allow for; on an H200 they were the best
// of those tried for gravity with and without jerk in all precisions, for Lennard-Jones and for SPH.
#include "compiler/emit/cuda/cuda_shape.h"

#include <fmt/core.h>

#include <algorithm>

namespace nbcc {
namespace {

constexpr int kSharedBytes = 47 << 10;  // of a block, on every GPU, less what else a kernel needs
constexpr int kTileBytes = 20 << 10;
constexpr int kShortLook = 10;        // statements
constexpr int kRegisters = 64 << 10;  // of a multiprocessor
constexpr int kOtherRegisters = 25;   // of a thread, for other things than particles

// That one i takes of a thread.
int words_of_i(const CudaNeeds& needs) {
  return (needs.precision == Precision::Double ? 4 : 3) * needs.slots + needs.i_words;
}

int shared_bytes(const CudaNeeds& needs, const CudaDefaults& shape) {
  const int width = shape.threads * shape.i_per_thread;
  return std::max(8 * needs.slots * width, needs.staged_bytes * shape.j_tile) + needs.rest_bytes * width;
}

}  // namespace

CudaDefaults default_shape(const CudaNeeds& needs) {
  const bool wide = needs.precision == Precision::Double;
  CudaDefaults shape;
  const int words = words_of_i(needs);
  shape.i_per_thread = words * 4 <= (wide ? 64 : needs.cutoff ? 96 : 112) ? 4 : words * 2 <= 80 ? 2 : 1;
  // A short look pays for reading j from shared memory only with many i at hand. And hits are few, so that a sum over a
  // longer tile has no more terms.
  if (needs.cutoff) {
    if (needs.written > kShortLook || needs.precision != Precision::Single)
      shape.i_per_thread = std::min(shape.i_per_thread, 2);
    shape.j_tile = 256;
  }
  // The compiler loads ahead what it has written out: a double, or a value in two parts, occupies two registers while
  // it waits.
  const int longest = wide ? 512 : needs.precision == Precision::Mixed ? 1024 : 2048;
  while (shape.unroll > 1 && needs.written * shape.i_per_thread * shape.unroll > longest) shape.unroll /= 2;
  // Heavy particles fit four at a time, but two in more threads are faster, in as short a loop.
  if (!needs.cutoff && words * 4 > 96) shape.i_per_thread = std::min(shape.i_per_thread, 2);
  while (shape.j_tile > 32 && needs.staged_bytes * shape.j_tile > kTileBytes) shape.j_tile /= 2;
  // Below 32 much of the GPU is idle: with outputs by the hundred, that is what it takes to run at all.
  while (shape.threads > 1 && shared_bytes(needs, shape) > kSharedBytes) shape.threads /= 2;
  return shape;
}

int resident_threads(const CudaNeeds& needs, int i_per_thread) {
  if (needs.precision == Precision::Double) return 0;
  const int registers = kOtherRegisters + needs.pair_words + i_per_thread * words_of_i(needs);
  const int threads = kRegisters / registers / 128 * 128;
  // Hits come one at a time, and a thread waits for each: there more threads are worth more than registers, as long as
  // none has to be spilled. Above 1024 the compiler must, now and then; where not even 512 fit, it has its way.
  if (needs.cutoff) return threads < 512 ? 0 : std::min(threads, i_per_thread > 2 ? 512 : 1024);
  // For plain arithmetic with several i per thread the compiler, left alone, takes some registers more than it makes
  // good use of. Functions it computes side by side, each with registers of its own.
  const int enough = i_per_thread > 2 ? 512 : 640;
  const bool few = needs.plain && needs.precision == Precision::Single && threads >= enough;
  if (!few || i_per_thread == 1) return 0;
  // Gravity with its derivative gains 4% more; not so beside a second loop, for pairs that a guard leaves out.
  const bool two_at_most = default_shape(needs).i_per_thread == 2;
  return two_at_most && !needs.guarded ? 768 : enough;
}
std::string resident_threads_text(const CudaNeeds& needs) {
  const auto with = [&](int i_per_thread) { return resident_threads(needs, i_per_thread); };
  if (with(1) == with(2) && with(1) == with(4)) return std::to_string(with(1));
  return fmt::format("(NBCC_I_PER_THREAD > 2 ? {} : NBCC_I_PER_THREAD > 1 ? {} : {})", with(4), with(2), with(1));
}

}  // namespace nbcc
