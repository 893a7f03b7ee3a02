// Where the caller's arrays lie, as a GPU sees it: found once for each binding.
// Tested by tests/unit/cuda_sum_test.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/device.h"

namespace nbcc {

enum class CudaPlace : std::uint8_t {
  Nowhere,  // no array, or none that a kernel touches
  Host,
  Device,   // or managed
  Fetched,  // on the device, but an output would overwrite what other particles still have to read: goes by the host
};

struct CudaPlaces {
  std::vector<CudaPlace> of;  // parallel to the kernel's fields
  bool host_i = false, host_j = false, host_outputs = false, device_outputs = false;
  bool device_i = false;         // inputs of i
  bool outputs_touch_j = false;  // both on the device: results may be stored when all j have been read

  bool all_on_device() const { return !host_i && !host_j && !host_outputs; }
};

// Throws UsageError that names the field: memory of another GPU, or memory of this one that is not aligned to elements.
CudaPlaces find_places(const CudaGpu& gpu, const KernelSource& source, std::span<const ArrayView> views);

// Host or Device; for memory of another GPU a UsageError that begins with `what`. The context must be current.
CudaPlace place_of(const CudaGpu& gpu, const void* data, const char* what);

}  // namespace nbcc
