// Copies of particles in the memory of one GPU. The program is compiled when the first run asks for it.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/program/cuda_kernel.h"
#include "runtime/sum/run/device_copies.h"

namespace nbcc {

class CudaDeviceCopies final : public DeviceCopies {
 public:
  // Compiles the program for the GPU of `kernel`, or finds it in the cache. Throws DeviceError, as for a compiled
  // library on a machine without a compiler.
  explicit CudaDeviceCopies(const CudaKernel& kernel);
  ~CudaDeviceCopies() override;
  void begin(void* stream) override;
  void end() noexcept override;
  void* reserve(std::size_t number, std::size_t bytes) override;
  void send(void* to, const void* from, std::size_t bytes) override;
  void fetch(void* to, const void* from, std::size_t bytes) override;
  void launch(std::string_view kernel, std::int64_t items, const void* argument, std::int64_t max_blocks) override;

 private:
  void refuse_capture(const char* what) const;

  const CudaGpu& gpu_;
  std::shared_ptr<const CudaKernel> kernel_;  // the program
  std::map<std::string_view, CudaFunction*> functions_;
  std::map<std::size_t, CudaBuffer> arrays_;
  CudaEventOwner read_{gpu_};  // after the last run that has read copies
  CudaStream* stream_ = nullptr;
  bool captured_ = false;
};

}  // namespace nbcc
