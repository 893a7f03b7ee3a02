// A name -> a device; kernel source -> a Kernel of the device. Interface: cuda_ordinal(), CudaDevice. cuda_loader.cpp
// compiles and caches, cuda_sum.cpp sums.
#include "runtime/cuda/program/cuda_device.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "runtime/cuda/program/cuda_residency.h"
#include "runtime/error.h"

namespace nbcc {

std::optional<int> cuda_ordinal(std::string_view name) {
  const std::optional<std::vector<int>> all = cuda_ordinals(name);
  if (!all || all->size() != 1) return {};
  return all->front();
}

std::optional<std::vector<int>> cuda_ordinals(std::string_view name) {
  if (name == "cuda") return std::vector{0};
  if (name == "cuda:all") return std::vector<int>();
  if (!name.starts_with("cuda:")) return {};
  std::vector<int> all;
  const char *at = name.data() + 4, *const end = name.data() + name.size();
  while (at != end) {
    int ordinal = -1;
    const auto [read, error] = std::from_chars(at + 1, end, ordinal);
    if (error != std::errc() || ordinal < 0 || (read != end && *read != ',')) return {};
    all.push_back(ordinal);
    at = read;
  }
  return all;
}

CudaDevice::CudaDevice(const CudaDriver& driver, std::shared_ptr<const CudaCompiler> compiler, int ordinal,
                       std::string cache_folder, std::string dump_folder)
    : loader_(std::make_shared<CudaLoader>(std::make_shared<const CudaGpu>(driver, ordinal), std::move(compiler),
                                           std::move(cache_folder), std::move(dump_folder))),
      name_(fmt::format("cuda:{}, {}, {}", ordinal, gpu().model(), arch())) {}

std::shared_ptr<const Kernel> CudaDevice::load(KernelSource source) {
  source.target = "cuda-" + arch();
  CudaTuningTable tuned =
      tunings_.read({source.pipeline, source.first().source, gpu().model(), gpu().multiprocessors()});
  return std::make_shared<CudaKernel>(std::move(source), loader_, std::move(tuned));
}

void* CudaDevice::allocate(std::size_t bytes) {
  const CudaContextGuard guard(gpu());
  CudaDevicePointer memory = 0;
  // The driver refuses to allocate 0 bytes.
  gpu().require(gpu().driver().mem_alloc(&memory, std::max<std::size_t>(bytes, 1)), "allocating memory of the GPU");
  return reinterpret_cast<void*>(memory);
}

void* CudaDevice::allocate_shared(std::size_t bytes) {
  const CudaContextGuard guard(gpu());
  void* memory = nullptr;
  const std::size_t some = std::max<std::size_t>(bytes, 1);
  // All 64-bit systems have unified virtual addressing, so the GPU uses the host's address.
  gpu().require(gpu().driver().mem_host_alloc(&memory, some, 0), "allocating pinned memory of the host");
  gpu().share(memory, some);
  return memory;
}

bool CudaDevice::holds(const void* memory) {
  if (!memory) return false;
  const CudaContextGuard guard(gpu());
  return residency_of(gpu(), memory, "memory") == Residency::Device;
}

void CudaDevice::release(void* memory) noexcept {
  try {
    const CudaContextGuard guard(gpu());
    if (gpu().unshare(memory))
      gpu().driver().mem_free_host(memory);
    else
      gpu().driver().mem_free(reinterpret_cast<CudaDevicePointer>(memory));
  } catch (...) {
    // The driver has shut down and has freed the memory.
  }
}

void CudaDevice::write(void* to, const void* from_host, std::size_t bytes) {
  const CudaContextGuard guard(gpu());
  const bool shared = gpu().shares(to);
  if (!shared) gpu().send(reinterpret_cast<CudaDevicePointer>(to), from_host, bytes, nullptr);
  gpu().synchronize(nullptr);
  if (shared) std::memmove(to, from_host, bytes);
}

void CudaDevice::read(void* to_host, const void* from, std::size_t bytes) {
  const CudaContextGuard guard(gpu());
  const bool shared = gpu().shares(from);
  if (!shared) gpu().fetch(to_host, reinterpret_cast<CudaDevicePointer>(from), bytes, nullptr);
  gpu().synchronize(nullptr);
  if (shared) std::memmove(to_host, from, bytes);
}

}  // namespace nbcc
