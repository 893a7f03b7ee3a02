// The inputs of a sum with a far field in GPU memory: those that the caller has on the host are sent there.
// Tested by tests/numeric/cuda_far_field_test.cpp.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/sum/request/sum_request.h"

namespace nbcc {

class CudaFarInputs {
 public:
  // Both must outlive this object.
  CudaFarInputs(const CudaGpu& gpu, const KernelSource& source) : gpu_(gpu), source_(source), pinned_(gpu) {}

  // Sends the inputs that are on the host, as doubles or 64-bit integers. Waits for the copies.
  void take(const SumRequest& request, CudaStream* stream);
  // Views of the last take(), parallel to the fields; outputs as the caller gave them.
  std::span<const ArrayView> views() const { return views_; }
  std::int64_t bytes_to_send(const SumRequest& request) const;
  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto& [field, buffer] : sent_) bytes += buffer.bytes();
    return bytes;
  }

 private:
  bool is_sent(const SumRequest& request, std::size_t field) const;

  const CudaGpu& gpu_;
  const KernelSource& source_;
  std::vector<ArrayView> views_;
  std::map<std::size_t, CudaBuffer> sent_;  // by field
  CudaPinned pinned_;
};

}  // namespace nbcc
