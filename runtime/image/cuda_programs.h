// The programs of a GPU that runs of a compiled pipeline ask for. `nbcc compile --arch` compiles them, and a program
// that uses the library knows from them whether the library has all code of a row. Tested by
// tests/numeric/library_programs_test.cpp.
#pragma once
#include <memory>
#include <vector>

#include "runtime/cuda/program/cuda_variants.h"
#include "runtime/image/stored_rows.h"

namespace nbcc {

struct CudaProgramSource {
  std::shared_ptr<const KernelSource> kernel;
  CudaVariant variant;
  // False on architectures whose instructions the kernel needs and which do not have them.
  bool runs_on(int architecture) const { return architecture >= kernel->packed_vectors.least_architecture; }
  // False for a launch configuration that is only faster than another one for some sizes of sums.
  bool is_needed() const { return !is_choice_by_size(*kernel, variant); }
};

// Programs of the pipeline's own kernel: all its variants, and the programs without a pipeline that its runs use.
std::vector<CudaProgramSource> programs_of_kernel(const KernelSource& kernel);
// Programs of a row: of its derived kernels, and those without a pipeline that its runs use. Empty: the row has an
// obstacle.
std::vector<CudaProgramSource> programs_of_row(const StoredRow& row);
// Removes the launch configurations that programs_of_row() does not have, so that runs do not choose them.
void keep_launches_of_programs(StoredRow& row);

}  // namespace nbcc
