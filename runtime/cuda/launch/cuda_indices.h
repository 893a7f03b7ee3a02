// The checks of table indices on a GPU (templates/cuda/frames/cuda_indices.cu.in). Each launch of a sum is preceded by
// one launch of the check over the same particles, which the sum may overwrite with its results. The check writes the
// first lookup that may be out of bounds to pinned host memory; the sum clamps such an index to its table. The error is
// thrown when the caller waits for the run, or else when the next run begins. Tested by
// tests/numeric/table_index_test.cpp.
#pragma once
#include <cstdint>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/cuda/program/cuda_kernel.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

class CudaIndexChecks {
 public:
  // Both must outlive this object.
  CudaIndexChecks(const CudaKernel& kernel, CudaArguments& arguments);
  // True if prepare() will send lists, which overwrites memory that earlier launches may still read.
  bool sends(const SumRequest& request) const;
  // Loads the code, allocates memory and sends lists for launch(). Throws DeviceError if that is needed during a
  // capture.
  void prepare(const SumRequest& request, bool capturing);
  // Checks the particles that the argument names, if the request asks for checks.
  void launch(const SumRequest& request, CudaStream* stream, bool capturing);
  // Throws UsageError, once, for an index outside its table that a finished launch has found. `i_numbers[k]`: the
  // caller's index of the particle that the launch numbered i_first + k, both without i_offset; null: the launch used
  // the caller's indices.
  void report(const std::int64_t* i_numbers = nullptr, std::int64_t i_first = 0);

 private:
  bool checks(const SumRequest& request) const;
  void send_listed(const ListedParticles& listed, bool capturing);
  std::int64_t max_blocks() const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  const CudaProgram* program_ = nullptr;
  CudaBuffer listed_;               // int64 indices of the listed i, then of the listed j
  std::int64_t listed_number_ = 0;  // ListedParticles::number of the lists in listed_
  CudaBuffer ranges_;               // a counter of finished blocks (kCounterBytes), then [block][range]
  CudaPinned report_;
};

}  // namespace nbcc
