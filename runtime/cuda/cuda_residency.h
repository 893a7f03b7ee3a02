// Where the caller's arrays lie, as a GPU sees it: found once for each binding.
// Tested by tests/unit/cuda_sum_test.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/device.h"

namespace nbcc {

enum class Residency : std::uint8_t {
  None,  // no array, or none that a kernel touches
  Host,
  Device,   // or managed, or on another GPU that this one reaches (cuda_group.h)
  Fetched,  // on the device, but an output would overwrite what other particles still have to read: goes by the host
};

struct CudaResidency {
  std::vector<Residency> of;  // parallel to the kernel's fields; None for inputs of pairs (cuda_lists.h)
  bool all_on_device = true;
  bool device_i = false, device_outputs = false;
  bool outputs_touch_j = false;  // both on the device: results may be stored when all j have been read
};

// Throws UsageError that names the field: memory of another GPU, or memory of this one that is not aligned to elements.
CudaResidency find_residency(const CudaGpu& gpu, const KernelSource& source, std::span<const ArrayView> views);

// The kind of memory that a pointer points to, as the driver knows it. The context must be current.
struct CudaPointer {
  bool managed = false, on_gpu = false;
  std::int64_t ordinal = 0;  // of the GPU
};
CudaPointer find_pointer(const CudaGpu& gpu, const void* data);

// Host or Device; for memory of another GPU a UsageError that begins with `what`. The context must be current.
Residency residency_of(const CudaGpu& gpu, const void* data, const char* what);

}  // namespace nbcc
