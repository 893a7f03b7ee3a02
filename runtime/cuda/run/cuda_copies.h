// Inputs of a run in the memory of one GPU -> peer copies with the same layout in the memory of another GPU.
// Tested by tests/unit/runtime/cuda/group/cuda_group_test.cpp.
#pragma once
#include <span>
#include <vector>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

// The rate of peer copies over NVLink, and the time that launches and events on another GPU take
// (docs/decisions/several_gpus_as_one.md).
constexpr double kPeerBytesPerSecond = 3.5e11, kPeerSeconds = 50e-6;

// Bytes of a run's inputs that CudaCopies copies.
std::uint64_t copied_bytes(const KernelSource& source, std::span<const ArrayView> views);

class CudaCopies {
 public:
  explicit CudaCopies(const CudaGpu& gpu) : gpu_(gpu), memory_(gpu) {}

  // Copies in `stream`, a stream of this GPU. Returns one view per field: for inputs a view of the copy, for outputs
  // the caller's view. Copies of overlapping arrays overlap in the same way. Throws DeviceError if the GPU's memory
  // does not suffice, or must grow while the stream is captured into a graph.
  std::vector<ArrayView> copy(const KernelSource& source, std::span<const ArrayView> views, CudaStream* stream,
                              bool captured);
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  const CudaGpu& gpu_;
  CudaBuffer memory_;
};

}  // namespace nbcc
