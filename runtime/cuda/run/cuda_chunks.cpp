// Sizes and a memory budget -> chunks. Interface: choose_chunks(). Queries no device.
#include "runtime/cuda/run/cuda_chunks.h"

#include <algorithm>

#include "runtime/round_up.h"

namespace nbcc {
namespace {

// i-particles: enough to fill a GPU several times, and the host packs them in a few milliseconds.
constexpr std::int64_t kMaxIChunk = std::int64_t(1) << 18;
// Smaller chunks of i cost more in repeated copies of j than they save.
constexpr std::int64_t kMinEfficientIChunk = std::int64_t(1) << 14;

std::int64_t bytes_of(const CudaChunkQuestion& q, const CudaChunks& chunks) {
  const std::int64_t i_buffers = chunks.i_chunk < q.ni ? 2 : 1;
  const std::int64_t j_held = chunks.j_resident || chunks.j_chunk >= q.nj ? q.nj : 2 * chunks.j_chunk;
  return chunks.i_chunk * (i_buffers * q.i_bytes + q.i_work_bytes) + j_held * q.j_bytes;
}

// Makes the chunks one step smaller. False: no step is left.
bool shrink(const CudaChunkQuestion& q, CudaChunks& chunks) {
  const auto smaller = [](std::int64_t& chunk, std::int64_t grain, std::int64_t least) {
    const std::int64_t half = round_up(chunk / 2, grain);
    if (half >= chunk || half < least) return false;
    chunk = half;
    return true;
  };
  if (chunks.j_resident && !q.j_resident) {
    chunks.j_resident = false;
    return true;
  }
  if (!q.i_in_one_chunk && smaller(chunks.i_chunk, q.i_multiple, kMinEfficientIChunk)) return true;
  if (!q.j_resident && smaller(chunks.j_chunk, q.j_multiple, q.j_multiple)) return true;
  return !q.i_in_one_chunk && smaller(chunks.i_chunk, q.i_multiple, q.i_multiple);
}

}  // namespace

CudaChunks choose_chunks(const CudaChunkQuestion& q, std::int64_t budget) {
  CudaChunks chunks;
  chunks.i_chunk = q.i_in_one_chunk ? q.ni : std::min(q.ni, kMaxIChunk);
  chunks.j_chunk = std::min(q.nj, kCudaJChunk);
  chunks.j_resident = true;
  chunks.bytes = bytes_of(q, chunks);
  while (chunks.bytes > budget && shrink(q, chunks)) chunks.bytes = bytes_of(q, chunks);
  if (chunks.j_chunk >= q.nj) chunks.j_resident = true;
  chunks.fits = chunks.bytes <= budget;
  return chunks;
}

}  // namespace nbcc
