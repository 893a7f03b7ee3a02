// Pairs that are left out -> their table on the GPU, sent once for all runs (templates/cuda_left_out.cuh.in).
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/lists.h"

namespace nbcc {

// As the texts have it.
struct CudaLeftOutTable {
  CudaDevicePointer of = 0, far = 0;  // the first by i
};

class CudaLeftOut {
 public:
  explicit CudaLeftOut(const CudaGpu& gpu) : gpu_(gpu), bytes_(gpu) {}
  // Null: nothing is left out.
  bool holds(const LeftOut* left_out) const { return !left_out || number_ == left_out->number; }
  // When nothing uses the old table any more. False: there is not so much memory.
  [[nodiscard]] bool send(const LeftOut& left_out);
  const CudaLeftOutTable& table() const { return table_; }
  void keep_old() { bytes_.keep_old(); }

 private:
  const CudaGpu& gpu_;
  CudaBuffer bytes_;
  CudaLeftOutTable table_;
  std::int64_t number_ = 0;  // LeftOut::number; 0: nothing is there
};

}  // namespace nbcc
