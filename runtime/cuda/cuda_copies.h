// Inputs of a run that lie in the memory of one GPU -> copies of them in that of another, laid out in the same way.
// Tested by tests/unit/cuda_group_test.cpp.
#pragma once
#include <span>
#include <vector>

#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/device.h"

namespace nbcc {

// What a GPU copies of a run's inputs.
std::uint64_t copied_bytes(const KernelSource& source, std::span<const ArrayView> views);

class CudaCopies {
 public:
  explicit CudaCopies(const CudaGpu& gpu) : gpu_(gpu), memory_(gpu) {}

  // Copies in `stream`, which is one of this GPU. Returns views of the copies, and of the outputs the caller's. Arrays
  // that share bytes share them here, too. Throws DeviceError where the GPU has no room.
  std::vector<ArrayView> bring(const KernelSource& source, std::span<const ArrayView> views, CudaStream* stream);

 private:
  const CudaGpu& gpu_;
  CudaBuffer memory_;
};

}  // namespace nbcc
