// A CUDA GPU as a device.
// Tested by tests/unit/cuda_device_test.cpp and, on a GPU, by tests/numeric/cuda_device_test.cpp.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cuda_loader.h"
#include "runtime/device.h"

namespace nbcc {

// Of a device's name: "cuda" is the first, "cuda:N" the one of that number; nothing for any other name.
std::optional<int> cuda_ordinal(std::string_view name);

// What takes the place of the device's own choices; zeros leave them.
struct CudaTuning {
  CudaShape shape;
  int parts = 0;  // of j
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(KernelSource source, std::shared_ptr<CudaLoader> loader, const CudaTuning& tuning);
  std::unique_ptr<Summation> start() const override;

  const CudaGpu& gpu() const { return loader_->gpu(); }
  const CudaTuning& tuning() const { return tuning_; }
  // With as many i per thread as the text or the tuning says.
  const CudaProgram& program() const { return *program_; }
  // With another number; null if it would have to be compiled or loaded first, and that is not allowed.
  const CudaProgram* program(int i_per_thread, bool may_load) const;

 private:
  std::shared_ptr<CudaLoader> loader_;
  CudaTuning tuning_;
  std::shared_ptr<const CudaProgram> program_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::shared_ptr<const CudaProgram>> variants_;  // by i per thread
};

class CudaDevice final : public KernelDevice {
 public:
  // `ordinal` counts the driver's devices from 0. cache_folder, dump_folder: "" means none. The driver's table must
  // outlive everything made here. Throws DeviceError.
  CudaDevice(const CudaDriver& driver, std::shared_ptr<const CudaCompiler> compiler, int ordinal,
             std::string cache_folder, std::string dump_folder);

  const std::string& name() const override { return name_; }  // "cuda:0, NVIDIA H200, sm_90"
  std::shared_ptr<const Kernel> load(KernelSource source) override;

  const std::string& arch() const { return loader_->gpu().architecture(); }  // "sm_90"
  const CudaGpu& gpu() const { return loader_->gpu(); }
  const std::string& dump_folder() const { return loader_->dump_folder(); }
  // Of kernels that are loaded from now on.
  void set_tuning(const CudaTuning& tuning) { tuning_ = tuning; }

 private:
  std::shared_ptr<CudaLoader> loader_;
  std::string name_;
  CudaTuning tuning_;
};

}  // namespace nbcc
