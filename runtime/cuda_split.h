// How a sum is cut for a GPU: i-particles per thread, and parts of j that different blocks take.
// Tested by tests/unit/cuda_split_test.cpp.
#pragma once
#include <cstdint>

namespace nbcc {

struct CudaSplitQuestion {
  int multiprocessors = 1;
  int blocks_per_multiprocessor = 1;  // that are resident at once, with `i_per_thread`
  int threads = 1;                    // of a block
  int i_per_thread = 1;               // of the kernel as it is; halves of it are tried, not below
  int fewest_i_per_thread = 1;        // this
  int tile = 1;
  int slots = 1;  // doubles that a part leaves for each i
  std::int64_t ni = 1, nj = 0;
};

struct CudaSplit {
  int i_per_thread = 1, parts = 1;
  bool operator==(const CudaSplit&) const = default;
};

// The cut that a model of the GPU finds fastest; a function of the question alone, since the order in which terms join
// follows from it. parts is at most the number of tiles, and small enough for what parts leave to stay within 256 MB.
CudaSplit choose_split(const CudaSplitQuestion& question);

// What choose_split() makes small: the model's time, in passes of one i per thread of a block over one tile, on a
// multiprocessor that is busy.
double split_cost(const CudaSplitQuestion& question, const CudaSplit& split);

}  // namespace nbcc
