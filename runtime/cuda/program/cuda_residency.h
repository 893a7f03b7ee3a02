// Determines whether the caller's arrays are on the host or on a GPU. Computed once for each binding of arrays.
// Tested by tests/unit/runtime/cuda/run/cuda_sum_test.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

enum class Residency : std::uint8_t {
  None,     // no array, or no kernel accesses it
  Host,     // host memory
  Device,   // memory of this GPU, managed memory, host memory registered by CudaGpu::share(), or memory of another GPU
            // with peer access (cuda_group.h)
  ViaHost,  // an input of i on the device that an output would overwrite while other i still read it: staged through
            // the host
};

struct CudaResidency {
  std::vector<Residency> of;  // [field of the kernel]; None for input_pair fields (cuda_lists.h)
  bool all_on_device = true;
  bool device_i = false, device_outputs = false;  // true if any input of i, any output is on the device
  // True if outputs overlap inputs of j, both on the device: results may be stored only when all j have been read.
  bool outputs_touch_j = false;
};

// Throws UsageError that names the field for memory of a GPU without peer access, and for device memory that is not
// aligned to its elements.
CudaResidency find_residency(const CudaGpu& gpu, const KernelSource& source, std::span<const ArrayView> views);

// The kind of memory that a pointer points to, according to the driver. The context must be current.
struct CudaPointer {
  bool managed = false, on_gpu = false;
  std::int64_t ordinal = 0;  // of the GPU
};
CudaPointer find_pointer(const CudaGpu& gpu, const void* data);

// Host or Device. Throws UsageError that begins with `what` for memory of a GPU without peer access. The context must
// be current.
Residency residency_of(const CudaGpu& gpu, const void* data, const char* what);

// True for memory of another GPU, unless all GPUs read it as their own. The context must be current.
bool is_on_another_gpu(const CudaGpu& gpu, const void* data);

}  // namespace nbcc
