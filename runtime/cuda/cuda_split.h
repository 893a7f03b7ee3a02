// How a sum is cut for a GPU: the shape of the kernel, and parts of j that different blocks take.
// Tested by tests/unit/cuda_split_test.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/cuda/cuda_compiler.h"

namespace nbcc {

struct CudaSplitQuestion {
  int multiprocessors = 1;
  CudaShape shape;                    // the text's own; nothing but unroll is 0
  int blocks_per_multiprocessor = 1;  // that are resident at once, of that shape
  bool only_this_shape = false;
  int slots = 1;             // doubles that a part leaves for each i
  int pair_statements = 20;  // of an interaction
  int staged_bytes = 16;     // of shared memory, for each j of a tile
  int rest_bytes = 0;        // ... and for each i of a block
  bool cutoff = false;       // the pair loop looks for hits first, and works them off one by one
  std::int64_t ni = 1, nj = 0;
};

struct CudaSplit {
  CudaShape shape;
  int parts = 1;
  bool operator==(const CudaSplit&) const = default;
};

// The cut that a model of the GPU finds fastest; a function of the question alone, since the order in which terms join
// follows from it. parts is at most the number of tiles, and small enough for what parts leave to stay within 256 MB.
CudaSplit choose_split(const CudaSplitQuestion& question);

// How many of the parts are to have one tile each, in a kernel without a cutoff. Whole rounds of resident blocks share
// the tiles evenly; the blocks of what parts there are beyond fill the gaps at the end. 0: all parts are alike.
int short_parts(const CudaSplitQuestion& question, const CudaSplit& split);

// The shapes that choose_split() chooses from, the text's own first: few, since each is compiled when it first wins.
std::vector<CudaShape> candidate_shapes(const CudaSplitQuestion& question);

// What choose_split() makes small: the model's time, in clock cycles.
double split_cost(const CudaSplitQuestion& question, const CudaSplit& split);

}  // namespace nbcc
