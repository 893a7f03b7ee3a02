// A simulated GPU for tests of a far field's kernels, and arrays in its memory.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"

namespace nbcc::test {

struct FarDevice {
  CudaShim shim;
  CudaDevice device{shim.driver(), shim.compiler(), 0, "", ""};
  // Some kernel, which loads others.
  std::shared_ptr<const Kernel> loaded = load_experiment(device);
  const CudaKernel& kernel() const { return static_cast<const CudaKernel&>(*loaded); }
  const CudaGpu& gpu() const { return device.gpu(); }
};

template <typename T>
std::unique_ptr<DeviceArray> send(const CudaGpu& gpu, const std::vector<T>& values) {
  auto array = std::make_unique<DeviceArray>(gpu, values.size() * sizeof(T));
  if (!values.empty()) array->put(values.data(), values.size() * sizeof(T));
  return array;
}
inline CudaDevicePointer address_of(const std::unique_ptr<DeviceArray>& array) {
  return reinterpret_cast<CudaDevicePointer>(array->data());
}
template <typename T>
std::vector<T> fetch(const CudaGpu& gpu, CudaDevicePointer from, std::size_t count) {
  std::vector<T> values(count);
  if (count == 0) return values;
  const CudaContextGuard guard(gpu);
  gpu.fetch(values.data(), from, count * sizeof(T), nullptr);
  gpu.synchronize(nullptr);
  return values;
}

}  // namespace nbcc::test
