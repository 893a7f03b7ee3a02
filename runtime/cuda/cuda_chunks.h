// In which chunks particles of the host pass through a GPU's memory.
// Tested by tests/unit/cuda_chunks_test.cpp.
#pragma once
#include <cstdint>

namespace nbcc {

struct CudaChunkQuestion {
  std::int64_t ni = 0, nj = 0;
  std::int64_t i_bytes = 0;       // of columns and results of one i; there twice if there are several chunks of i
  std::int64_t i_work_bytes = 0;  // of working memory for one i of a chunk
  std::int64_t j_bytes = 0;       // of columns of one j
  bool whole_i = false;           // i must be one chunk
  bool whole_j = false;           // all j must be in memory together
  std::int64_t i_grain = 1, j_grain = 1;  // chunks are multiples of
};

struct CudaChunks {
  std::int64_t i_chunk = 0, j_chunk = 0;
  bool whole_j = false;  // all j stay in memory; else there are two chunks of j at a time
  std::int64_t bytes = 0;
  bool fits = false;  // if not, `bytes` is the least that would do
};

// Chunks of j decide in which order terms join, so they shrink only when smaller chunks of i do not help.
CudaChunks choose_chunks(const CudaChunkQuestion& question, std::int64_t budget);

// j-particles of a chunk where memory is not the limit.
constexpr std::int64_t kCudaJChunk = std::int64_t(1) << 18;

}  // namespace nbcc
