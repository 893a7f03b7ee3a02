// Resources that a CUDA kernel needs -> the launch configurations that a device may choose from, and the registers that
// the compiler may use in each. The runtime, which has the GPU and the numbers of particles, chooses among these
// configurations. Tested by tests/unit/compiler/emit/cuda/launch/launch_configs_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/kernel_source.h"
#include "compiler/options.h"

namespace nbcc {

// Resources that one kernel needs.
struct CudaNeeds {
  Precision precision = Precision::Single;
  bool cutoff = false;    // the pair loop first tests which pairs are within the cutoff
  int accumulators = 1;   // doubles of a Partial, for one i
  int i_words = 3;        // registers that one i-particle takes
  int instructions = 20;  // instructions of the body of the pair loop, about; with a cutoff, of the loop that tests it
  int staged_bytes = 0;   // shared memory for each j of a tile
  int cold_bytes = 0;     // shared memory for each i of a block, in addition
  int table_bytes = 0;    // shared memory for tables, in addition
  int pair_words = 0;     // registers for the values that a pair reads from shared memory
  bool plain = true;      // sums of plain arithmetic: no functions, no extremes
  bool guarded = false;   // some outputs have guards
  bool keeps_index = false;  // some outputs are indices, of the least or the largest value
};

// The default of the source comes first. The list is short, since each is compiled when it is first chosen.
std::vector<LaunchConfig> launch_configs(const CudaNeeds& needs);

// Minimum number of resident threads of a multiprocessor with `i_per_thread`; 0: no minimum, so that the compiler may
// use any number of registers.
int resident_threads(const CudaNeeds& needs, int i_per_thread);
// resident_threads() as an expression of the macro NBCC_I_PER_THREAD.
std::string resident_threads_text(const CudaNeeds& needs);

}  // namespace nbcc
