// The shape that a CUDA text asks for by itself, from what its kernel has to hold. Part of emit_cuda; the runtime,
// which knows the GPU and the sizes, varies it. Tested by tests/unit/cuda_shape_test.cpp.
#pragma once
#include <string>

#include "compiler/options.h"

namespace nbcc {

// Of one kernel.
struct CudaNeeds {
  Precision precision = Precision::Single;
  bool cutoff = false;   // the pair loop looks for hits first
  int slots = 1;         // doubles that a part of the j-particles hands over for one i
  int i_words = 3;       // registers that one i-particle takes
  int written = 20;      // statements of the pair loop that are written out; of one with a cutoff, the looking
  int staged_bytes = 0;  // of shared memory, for each j of a tile
  int rest_bytes = 0;    // ... and for each i of a block, beside these
  int pair_words = 0;    // registers for what a pair reads from shared memory
  bool plain = true;     // sums of what single instructions give: no functions, no extremes
  bool guarded = false;  // some pairs do not count
};

struct CudaDefaults {
  int threads = 128, i_per_thread = 1, j_tile = 128, unroll = 32;
};

CudaDefaults default_shape(const CudaNeeds& needs);

// Threads that a multiprocessor is to have registers for, at least, with so many i per thread; 0: as many registers as
// the compiler likes.
int resident_threads(const CudaNeeds& needs, int i_per_thread);
// The same as an expression of NBCC_I_PER_THREAD.
std::string resident_threads_text(const CudaNeeds& needs);

}  // namespace nbcc
