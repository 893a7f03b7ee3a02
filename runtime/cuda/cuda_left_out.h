// Excluded pairs -> a table on the GPU, sent once for all runs (templates/cuda_left_out.cuh.in).
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/lists.h"

namespace nbcc {

// LeftOutTable of the kernels: `of` has one entry for each i, `far` the indices of excluded j that no entry can hold.
struct CudaLeftOutTable {
  CudaDevicePointer of = 0, far = 0;
};

class CudaLeftOut {
 public:
  explicit CudaLeftOut(const CudaGpu& gpu) : gpu_(gpu), bytes_(gpu) {}
  // True if the table of `left_out` is on the GPU, or if no pair is excluded (null).
  bool holds(const LeftOut* left_out) const { return !left_out || number_ == left_out->number; }
  // Call only when no launch uses the old table. False: the GPU's memory does not suffice.
  [[nodiscard]] bool send(const LeftOut& left_out);
  const CudaLeftOutTable& table() const { return table_; }
  void retain_for_capture() { bytes_.retain_for_capture(); }

 private:
  const CudaGpu& gpu_;
  CudaBuffer bytes_;
  CudaLeftOutTable table_;
  std::int64_t number_ = 0;  // LeftOut::number of the table on the GPU; 0: none
};

}  // namespace nbcc
