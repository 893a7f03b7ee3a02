// The checks of table indices on a GPU (templates/cuda_indices.cu.in): a launch before each launch of a sum, over the
// same particles, since that may store its results over them. What is found is in the host's memory when the stream has
// come so far, and is an error when somebody waits or the next run begins. Tested by
// tests/numeric/table_index_test.cpp.
#pragma once
#include <cstdint>

#include "runtime/cuda/cuda_arguments.h"
#include "runtime/cuda/cuda_kernel.h"
#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/device.h"

namespace nbcc {

class CudaIndexChecks {
 public:
  // Both must outlive this object.
  CudaIndexChecks(const CudaKernel& kernel, CudaArguments& arguments);
  // True if prepare() sends lists, to memory that earlier launches may still read.
  bool sends(const SumRequest& request) const;
  // Code, memory and lists for launch(). Throws DeviceError where these would be needed during a capture.
  void prepare(const SumRequest& request, bool capturing);
  // Checks the particles that the argument names, before they are summed over, if the request asks for it.
  void launch(const SumRequest& request, CudaStream* stream, bool capturing);
  // Throws UsageError for the index that a finished launch has found to lead out of its table, once. `i_numbers`: the
  // particles that the launch took for those from `i_first` on, without offset; null: they are those.
  void report(const std::int64_t* i_numbers = nullptr, std::int64_t i_first = 0);

 private:
  bool checks(const SumRequest& request) const;
  void send_listed(const ListedParticles& listed, bool capturing);
  std::int64_t most_blocks() const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  const CudaProgram* program_ = nullptr;
  CudaBuffer listed_;               // the i of listed pairs, then their j
  std::int64_t listed_number_ = 0;  // of the lists that these are of
  CudaBuffer ranges_;               // [block][range], behind the counter of blocks
  CudaPinned report_;
};

}  // namespace nbcc
