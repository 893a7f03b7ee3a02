// Views of the host's memory -> copies on a GPU. Door: DeviceArrays. Copies nothing back.
#include "cli/device_arrays.h"

#include <cstddef>

#include "runtime/error.h"

namespace nbcc {

void* DeviceArrays::copy_of(const nbcc_view& view, int components) {
  if (view.count == 0) return view.data;
  const CudaCurrent current(gpu_);
  const auto size = std::size_t(view.element == NBCC_FLOAT || view.element == NBCC_INT32 ? 4 : 8);
  const std::size_t bytes = std::size_t(view.count - 1) * std::size_t(view.stride) +
                            std::size_t(components - 1) * std::size_t(view.component_stride) + size;
  CudaBuffer& buffer = *buffers_.emplace_back(std::make_unique<CudaBuffer>(gpu_));
  if (!buffer.reserve(bytes)) throw DeviceError("out of memory of the GPU for the particles themselves");
  const CudaDriver& driver = gpu_.driver();
  gpu_.require(driver.memcpy_htod_async(buffer.data(), view.data, bytes, nullptr), "copying particles to the GPU");
  gpu_.require(driver.stream_synchronize(nullptr), "copying particles to the GPU");
  return reinterpret_cast<void*>(buffer.data());
}

void DeviceArrays::clear() { buffers_.clear(); }

}  // namespace nbcc
