// Memory of a GPU for tests, through the driver's table.
#pragma once
#include <cstddef>

#include "runtime/cuda/driver/cuda_memory.h"

namespace nbcc::test {

// Freed at the end. Copies are done when the functions return.
class DeviceArray {
 public:
  DeviceArray(const CudaGpu& gpu, std::size_t bytes) : gpu_(gpu) {
    const CudaContextGuard guard(gpu_);
    gpu_.require(gpu_.driver().mem_alloc(&data_, bytes + 8), "allocating for a test");
  }
  ~DeviceArray() {
    const CudaContextGuard guard(gpu_);
    gpu_.driver().mem_free(data_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void put(const void* from, std::size_t bytes) {
    const CudaContextGuard guard(gpu_);
    gpu_.require(gpu_.driver().memcpy_htod_async(data_, from, bytes, nullptr), "copying for a test");
    gpu_.require(gpu_.driver().stream_synchronize(nullptr), "copying for a test");
  }
  void get(void* to, std::size_t bytes) const {
    const CudaContextGuard guard(gpu_);
    gpu_.require(gpu_.driver().memcpy_dtoh_async(to, data_, bytes, nullptr), "copying for a test");
    gpu_.require(gpu_.driver().stream_synchronize(nullptr), "copying for a test");
  }
  void* data() const { return reinterpret_cast<void*>(data_); }

 private:
  const CudaGpu& gpu_;
  CudaDevicePointer data_ = 0;
};

}  // namespace nbcc::test
