// The list of chosen i on a GPU: int64 indices, copied through pinned memory so that the host does not wait.
// Tested by tests/unit/runtime/cuda/run/cuda_sum_test.cpp.
#pragma once
#include <cstdint>
#include <cstring>

#include "runtime/cuda/driver/cuda_memory.h"

namespace nbcc {

class CudaIndexList {
 public:
  explicit CudaIndexList(const CudaGpu& gpu) : gpu_(gpu), list_(gpu), pinned_(gpu), sent_(gpu) {}
  bool has_room(std::int64_t count) const { return bytes_of(count) <= list_.bytes(); }
  // Call only when no earlier run reads the old list. False: the GPU's memory does not suffice.
  [[nodiscard]] bool reserve(std::int64_t count) { return list_.reserve(bytes_of(count)); }
  void release() { list_.release(); }
  std::size_t bytes() const { return list_.bytes(); }
  // Copies `count` indices at `from` in the stream's order. Call reserve() before. The caller may overwrite `from` when
  // send() returns.
  CudaDevicePointer send(const std::int64_t* from, std::int64_t count, CudaStream* stream) {
    sent_.wait();  // the GPU may still copy the pinned list of an earlier run
    pinned_.reserve(bytes_of(count));
    std::memcpy(pinned_.data(), from, bytes_of(count));
    gpu_.send(list_.data(), pinned_.data(), bytes_of(count), stream);
    sent_.record(stream);
    return list_.data();
  }
  CudaDevicePointer data() const { return list_.data(); }

 private:
  static std::size_t bytes_of(std::int64_t count) { return std::size_t(count) * sizeof(std::int64_t); }

  const CudaGpu& gpu_;
  CudaBuffer list_;
  CudaPinned pinned_;
  CudaEventOwner sent_;
};

}  // namespace nbcc
