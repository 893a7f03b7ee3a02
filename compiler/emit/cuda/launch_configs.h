// What a CUDA kernel has to hold -> the launch configurations that a device may choose from, and how many registers the
// compiler may take in each. Nothing else decides threads and registers; the runtime, which knows the GPU and the
// sizes, chooses among what stands here. Tested by tests/unit/launch_configs_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/kernel_source.h"
#include "compiler/options.h"

namespace nbcc {

// Of one kernel.
struct CudaNeeds {
  Precision precision = Precision::Single;
  bool cutoff = false;   // the pair loop first tests which pairs are within the cutoff
  int accumulators = 1;  // doubles that a j-split hands over for one i
  int i_words = 3;       // registers that one i-particle takes
  int written = 20;      // statements of the pair loop that are written out; of one with a cutoff, those of the test
  int staged_bytes = 0;  // of shared memory, for each j of a tile
  int cold_bytes = 0;    // ... and for each i of a block, beside these
  int table_bytes = 0;   // ... and for tables
  int pair_words = 0;    // registers for what a pair reads from shared memory
  bool plain = true;     // sums of what single instructions give: no functions, no extremes
  bool guarded = false;  // some pairs do not count
};

// The text's own first; few, since each is compiled when it is first chosen.
std::vector<LaunchConfig> launch_configs(const CudaNeeds& needs);

// Threads that a multiprocessor is to have registers for, at least, with so many i per thread; 0: as many registers as
// the compiler likes.
int resident_threads(const CudaNeeds& needs, int i_per_thread);
// The same as an expression of NBCC_I_PER_THREAD.
std::string resident_threads_text(const CudaNeeds& needs);

}  // namespace nbcc
