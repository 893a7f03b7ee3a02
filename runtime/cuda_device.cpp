// An ordinal -> a device; kernel text -> a Kernel of it. Doors: cuda_ordinal(), CudaDevice,
// CudaKernel. Compiling and caching is
// cuda_loader.cpp's, summing cuda_sum.cpp's.
#include "runtime/cuda_device.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "runtime/cuda_sum.h"

namespace nbcc {

std::optional<int> cuda_ordinal(std::string_view name) {
  if (name == "cuda") return 0;
  if (!name.starts_with("cuda:")) return {};
  int ordinal = -1;
  const char* const end = name.data() + name.size();
  const auto [read, error] = std::from_chars(name.data() + 5, end, ordinal);
  if (error != std::errc() || read != end || ordinal < 0) return {};
  return ordinal;
}

CudaKernel::CudaKernel(KernelSource kernel_source, std::shared_ptr<CudaLoader> loader, const CudaTuning& tuning)
    : Kernel(std::move(kernel_source)),
      loader_(std::move(loader)),
      tuning_(tuning),
      program_(loader_->load(source, tuning_.shape)) {
  variants_[program_->shape().i_per_thread] = program_;
}

std::unique_ptr<Summation> CudaKernel::start() const { return std::make_unique<CudaSummation>(*this); }

const CudaProgram* CudaKernel::program(int i_per_thread, bool may_load) const {
  std::lock_guard lock(mutex_);
  std::shared_ptr<const CudaProgram>& found = variants_[i_per_thread];
  if (!found && may_load) {
    CudaShape shape = tuning_.shape;
    shape.i_per_thread = i_per_thread;
    found = loader_->load(source, shape);
  }
  return found.get();
}

CudaDevice::CudaDevice(const CudaDriver& driver, std::shared_ptr<const CudaCompiler> compiler, int ordinal,
                       std::string cache_folder, std::string dump_folder)
    : loader_(std::make_shared<CudaLoader>(std::make_shared<const CudaGpu>(driver, ordinal), std::move(compiler),
                                           std::move(cache_folder), std::move(dump_folder))),
      name_(fmt::format("cuda:{}, {}, {}", ordinal, gpu().model(), arch())) {}

std::shared_ptr<const Kernel> CudaDevice::load(KernelSource source) {
  source.target = "cuda-" + arch();
  return std::make_shared<CudaKernel>(std::move(source), loader_, tuning_);
}

}  // namespace nbcc
