// A CUDA GPU as a device. The folders of runtime/cuda turn kernel source into programs on a GPU, and requests into
// launches of them (DESIGN.md). Tested by tests/unit/runtime/cuda/program/cuda_device_test.cpp and, on a GPU, by
// tests/numeric/cuda_device_test.cpp.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cuda/program/cuda_kernel.h"

namespace nbcc {

// The GPU's ordinal in a device name: 0 for "cuda", N for "cuda:N", nothing for any other name.
std::optional<int> cuda_ordinal(std::string_view name);
// Also accepts the names of several GPUs, such as "cuda:0,2" (cuda_group.h); "cuda:all" gives an empty list.
std::optional<std::vector<int>> cuda_ordinals(std::string_view name);

class CudaDevice;

// One GPU as a device, or several (cuda_group.h).
class CudaGpus : public KernelDevice {
 public:
  static constexpr std::string_view kBackend = "cuda";
  using Load = std::function<std::shared_ptr<const Kernel>(CudaDevice&)>;

  std::string_view backend() const override { return kBackend; }
  virtual const CudaDevice& first() const = 0;
  // One kernel, a CudaKernel on each GPU.
  virtual std::shared_ptr<const Kernel> load_each(const Load& load) = 0;
};

class CudaDevice final : public CudaGpus {
 public:
  // `ordinal` counts the driver's devices from 0. cache_folder, dump_folder: "" means none. The driver's table must
  // outlive everything made here. Throws DeviceError.
  CudaDevice(const CudaDriver& driver, std::shared_ptr<const CudaCompiler> compiler, int ordinal,
             std::string cache_folder, std::string dump_folder);

  const std::string& name() const override { return name_; }  // "cuda:0, NVIDIA H200, sm_90"
  const std::string& dump_folder() const override { return loader_->dump_folder(); }
  const CudaDevice& first() const override { return *this; }
  std::shared_ptr<const Kernel> load_each(const Load& load) override { return load(*this); }
  std::shared_ptr<const Kernel> load(KernelSource source) override;
  void* allocate(std::size_t bytes) override;
  void* allocate_shared(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  bool holds(const void* memory) override;
  void write(void* to, const void* from_host, std::size_t bytes) override;
  void read(void* to_host, const void* from, std::size_t bytes) override;

  const std::string& arch() const { return loader_->gpu().architecture(); }  // "sm_90"
  const CudaGpu& gpu() const { return loader_->gpu(); }
  const std::string& cache_folder() const { return loader_->cache_folder(); }
  // The tunings that later calls of load() read; by default none.
  void set_tunings(CudaTunings tunings) { tunings_ = std::move(tunings); }
  const CudaTunings& tunings() const { return tunings_; }

 private:
  std::shared_ptr<CudaLoader> loader_;
  std::string name_;
  CudaTunings tunings_;
};

// The device as a GPU, or the first GPU of a group; null if the device is no GPU.
inline const CudaDevice* first_gpu(const KernelDevice& device) {
  const auto* const gpus = dynamic_cast<const CudaGpus*>(&device);
  return gpus ? &gpus->first() : nullptr;
}

}  // namespace nbcc
