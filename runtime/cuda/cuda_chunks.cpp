// Sizes and a budget -> chunks. Door: choose_chunks(). Asks no device.
#include "runtime/cuda/cuda_chunks.h"

#include <algorithm>

#include "runtime/round_up.h"

namespace nbcc {
namespace {

// Enough to fill a GPU several times over, and packed in a few milliseconds.
constexpr std::int64_t kIChunk = std::int64_t(1) << 18;
// Chunks of i below it cost more in copies of j than they save.
constexpr std::int64_t kFairIChunk = std::int64_t(1) << 14;

std::int64_t bytes_of(const CudaChunkQuestion& q, const CudaChunks& chunks) {
  const std::int64_t i_buffers = chunks.i_chunk < q.ni ? 2 : 1;
  const std::int64_t j_held = chunks.whole_j || chunks.j_chunk >= q.nj ? q.nj : 2 * chunks.j_chunk;
  return chunks.i_chunk * (i_buffers * q.i_bytes + q.i_work_bytes) + j_held * q.j_bytes;
}

// One step down; false at the end.
bool shrink(const CudaChunkQuestion& q, CudaChunks& chunks) {
  const auto smaller = [](std::int64_t& chunk, std::int64_t grain, std::int64_t least) {
    const std::int64_t half = round_up(chunk / 2, grain);
    if (half >= chunk || half < least) return false;
    chunk = half;
    return true;
  };
  if (chunks.whole_j && !q.whole_j) {
    chunks.whole_j = false;
    return true;
  }
  if (!q.whole_i && smaller(chunks.i_chunk, q.i_grain, kFairIChunk)) return true;
  if (!q.whole_j && smaller(chunks.j_chunk, q.j_grain, q.j_grain)) return true;
  return !q.whole_i && smaller(chunks.i_chunk, q.i_grain, q.i_grain);
}

}  // namespace

CudaChunks choose_chunks(const CudaChunkQuestion& q, std::int64_t budget) {
  CudaChunks chunks;
  chunks.i_chunk = q.whole_i ? q.ni : std::min(q.ni, kIChunk);
  chunks.j_chunk = std::min(q.nj, kCudaJChunk);
  chunks.whole_j = true;
  chunks.bytes = bytes_of(q, chunks);
  while (chunks.bytes > budget && shrink(q, chunks)) chunks.bytes = bytes_of(q, chunks);
  if (chunks.j_chunk >= q.nj) chunks.whole_j = true;
  chunks.fits = chunks.bytes <= budget;
  return chunks;
}

}  // namespace nbcc
