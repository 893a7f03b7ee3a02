// Pairs that are left out -> their table on the GPU, sent once for all runs (templates/cuda_left_out.cuh.in).
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/lists.h"

namespace nbcc {

class CudaLeftOut {
 public:
  explicit CudaLeftOut(const CudaGpu& gpu) : gpu_(gpu), table_(gpu) {}
  // Null: nothing is left out.
  bool holds(const LeftOut* left_out) const { return !left_out || number_ == left_out->number; }
  // When nothing uses the old table any more. False: there is not so much memory.
  [[nodiscard]] bool send(const LeftOut& left_out);
  CudaDevicePointer of() const { return table_.data(); }  // by i
  CudaDevicePointer far() const { return far_; }
  std::size_t bytes() const { return table_.bytes(); }
  void keep_old() { table_.keep_old(); }
  void release();

 private:
  const CudaGpu& gpu_;
  CudaBuffer table_;
  CudaDevicePointer far_ = 0;
  std::int64_t number_ = 0;  // LeftOut::number; 0: nothing is there
};

}  // namespace nbcc
