// Copies of arrays in a GPU's memory.
#pragma once
#include <memory>
#include <vector>

#include "runtime/api/nbcc.h"
#include "runtime/cuda/cuda_memory.h"

namespace nbcc {

class DeviceArrays {
 public:
  explicit DeviceArrays(const CudaGpu& gpu) : gpu_(gpu) {}  // must outlive this object

  // Where the copy of the bytes from view.data on stands. Strides must not be negative. Throws DeviceError.
  void* copy_of(const nbcc_view& view, int components);
  void clear();

 private:
  const CudaGpu& gpu_;
  std::vector<std::unique_ptr<CudaBuffer>> buffers_;
};

}  // namespace nbcc
