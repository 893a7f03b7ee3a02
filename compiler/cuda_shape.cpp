// Measured shapes are the device's business. These are what a register file of 64 K words per multiprocessor, an
// instruction cache of some thousand instructions and 48 KiB of shared memory allow for; on an H200 they were the best
// of those tried for gravity with and without jerk in all precisions, for Lennard-Jones and for SPH.
#include "compiler/cuda_shape.h"

#include <algorithm>

namespace nbcc {
namespace {

constexpr int kSharedBytes = 47 << 10;  // of a block, on every GPU, less what else a kernel needs
constexpr int kTileBytes = 20 << 10;
constexpr int kShortLook = 10;  // statements

int shared_bytes(const CudaNeeds& needs, const CudaDefaults& shape) {
  const int width = shape.threads * shape.i_per_thread;
  return std::max(8 * needs.slots * width, needs.staged_bytes * shape.j_tile) + needs.rest_bytes * width;
}

}  // namespace

CudaDefaults default_shape(const CudaNeeds& needs) {
  const bool wide = needs.precision == Precision::Double;
  CudaDefaults shape;
  const int words = (wide ? 4 : 3) * needs.slots + needs.i_words;
  shape.i_per_thread = words * 4 <= (wide ? 64 : needs.cutoff ? 96 : 112) ? 4 : words * 2 <= 80 ? 2 : 1;
  // Hits come one at a time, and a thread waits for each: there more threads are worth more than registers. A short
  // look pays for reading j from shared memory only with many i at hand. And hits are few, so that a sum over a longer
  // tile has no more terms.
  if (needs.cutoff) {
    if (needs.written > kShortLook || needs.precision != Precision::Single)
      shape.i_per_thread = std::min(shape.i_per_thread, 2);
    if (!wide) shape.resident = shape.i_per_thread > 2 ? 512 : 768;
    shape.j_tile = 256;
  }
  // The compiler loads ahead what it has written out: a double, or a value in two parts, occupies two registers while
  // it waits.
  const int longest = wide ? 512 : needs.precision == Precision::Mixed ? 1024 : 2048;
  while (shape.unroll > 1 && needs.written * shape.i_per_thread * shape.unroll > longest) shape.unroll /= 2;
  while (shape.j_tile > 32 && needs.staged_bytes * shape.j_tile > kTileBytes) shape.j_tile /= 2;
  // Below 32 much of the GPU is idle: with outputs by the hundred, that is what it takes to run at all.
  while (shape.threads > 1 && shared_bytes(needs, shape) > kSharedBytes) shape.threads /= 2;
  return shape;
}

}  // namespace nbcc
