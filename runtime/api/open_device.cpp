// Opens a device by its name. Entry points: open_device(), device_kinds(), first_device_name().
#include "runtime/api/open_device.h"

#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// Replaces NVRTC if it is not installed: compiled pipelines can run without it. Compiling throws the reason.
class MissingCompiler final : public CudaCompiler {
 public:
  MissingCompiler(std::string gpu, std::string reason) : gpu_(std::move(gpu)), reason_(std::move(reason)) {}
  std::string identity() const override { return "no compiler"; }
  std::vector<std::string> architectures() const override { return {gpu_}; }
  CudaCode compile(const std::string&, const std::string&, const LaunchConfig&, Form) const override {
    throw DeviceError(reason_);
  }

 private:
  std::string gpu_, reason_;
};

std::shared_ptr<const CudaCompiler> compiler_for(const CudaDriver& driver, int ordinal) {
  const std::string gpu = CudaGpu(driver, ordinal).architecture();
  try {
    return make_nvrtc();
  } catch (const DeviceError& e) {
    return std::make_shared<MissingCompiler>(gpu, e.what());
  }
}

std::vector<int> all_ordinals() {
  int count = 0;
  check(cuda_driver(), cuda_driver().device_get_count(&count), "counting the GPUs");
  std::vector<int> ordinals(static_cast<std::size_t>(count));
  std::iota(ordinals.begin(), ordinals.end(), 0);
  return ordinals;
}

std::shared_ptr<CudaDevice> open_gpu(int ordinal, const DeviceFolders& folders) {
  const CudaDriver& driver = cuda_driver();
  auto gpu = std::make_shared<CudaDevice>(driver, compiler_for(driver, ordinal), ordinal, folders.cache, folders.dump);
  const char* const tunings = std::getenv("NBCC_TUNINGS");
  if (!tunings || std::string_view(tunings) != "0") gpu->set_tunings(CudaTunings(folders.cache));
  return gpu;
}

std::shared_ptr<KernelDevice> open_gpus(std::string_view name, const nbcc_device_options&,
                                        const DeviceFolders& folders) {
  std::vector<int> ordinals = *cuda_ordinals(name);
  if (ordinals.empty()) ordinals = all_ordinals();
  std::vector<std::shared_ptr<CudaDevice>> gpus;
  for (const int ordinal : ordinals) gpus.push_back(open_gpu(ordinal, folders));
  if (gpus.size() == 1) return gpus.front();
  return std::make_shared<CudaGroup>(std::move(gpus));
}

std::shared_ptr<KernelDevice> open_cpu(std::string_view, const nbcc_device_options& options,
                                       const DeviceFolders& folders) {
  const Isa isa = options.isa ? isa_from_name(options.isa) : detect_isa();
  return std::make_shared<CpuDevice>(options.threads, isa, nullptr, folders.cache, folders.dump);
}

constexpr DeviceKind kKinds[] = {
    {.backend = CpuDevice::kBackend,
     .names = "cpu",
     .has_own_memory = false,
     .is_name = [](std::string_view device) { return device == "cpu"; },
     .open = open_cpu},
    {.backend = CudaGpus::kBackend,
     .names = "cuda and cuda:0, cuda:1, ..., and several GPUs as one: cuda:all, cuda:0,2",
     .has_own_memory = true,
     .is_name = [](std::string_view device) { return cuda_ordinals(device).has_value(); },
     .open = open_gpus},
};

}  // namespace

std::string_view first_device_name(std::string_view names) {
  std::size_t end = names.find(',');
  while (end != names.npos && end + 1 < names.size() && names[end + 1] >= '0' && names[end + 1] <= '9')
    end = names.find(',', end + 1);
  return names.substr(0, end);
}

std::span<const DeviceKind> device_kinds() { return kKinds; }

std::string all_device_names() {
  std::string names;
  for (const DeviceKind& kind : kKinds) names += (names.empty() ? "" : ", ") + std::string(kind.names);
  return names;
}

const DeviceKind& kind_of_device(std::string_view device) {
  for (const DeviceKind& kind : kKinds)
    if (kind.is_name(device)) return kind;
  throw DeviceError("there is no device '" + std::string(device) + "'; there are " + all_device_names());
}

std::shared_ptr<KernelDevice> open_device(std::string_view name, const nbcc_device_options& o) {
  const char* const dump = o.dump_dir ? o.dump_dir : std::getenv("NBCC_DUMP");
  const DeviceFolders folders{o.cache_dir ? o.cache_dir : DiskCache::default_folder(), dump ? dump : ""};
  return kind_of_device(name).open(name, o, folders);
}

}  // namespace nbcc
