// Chooses the chunks in which particles in host memory pass through a GPU's memory.
// Tested by tests/unit/runtime/cuda/run/cuda_chunks_test.cpp.
#pragma once
#include <cstdint>

namespace nbcc {

struct CudaChunkQuestion {
  std::int64_t ni = 0, nj = 0;
  std::int64_t i_bytes = 0;       // columns and results of one i; double-buffered if there are several chunks of i
  std::int64_t i_work_bytes = 0;  // working memory for one i of a chunk
  std::int64_t j_bytes = 0;       // columns of one j
  bool i_in_one_chunk = false;    // all i must be one chunk
  bool j_resident = false;        // all j must be in the GPU's memory at once
  std::int64_t i_multiple = 1, j_multiple = 1;  // chunk sizes are multiples of these
};

struct CudaChunks {
  std::int64_t i_chunk = 0, j_chunk = 0;  // particles
  bool j_resident = false;                // all j stay in the GPU's memory; else two chunks of j (double buffer)
  std::int64_t bytes = 0;
  bool fits = false;  // false: the budget is too small, and `bytes` is the least that a run needs
};

// Chunks of j decide the order in which terms are added, so they shrink only when smaller chunks of i do not help.
CudaChunks choose_chunks(const CudaChunkQuestion& question, std::int64_t budget);

// j-particles in a chunk if memory is not the limit.
constexpr std::int64_t kCudaJChunk = std::int64_t(1) << 18;

}  // namespace nbcc
