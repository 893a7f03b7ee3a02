// A name and options -> a device. Doors: open_device(), first_device_name().
#include "runtime/api/open_device.h"

#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_group.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// In NVRTC's place where there is none: a device without it is of use to compiled pipelines.
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

std::shared_ptr<CudaDevice> open_gpu(int ordinal, const std::string& cache_folder, const std::string& dump_folder) {
  const CudaDriver& driver = cuda_driver();
  auto gpu = std::make_shared<CudaDevice>(driver, compiler_for(driver, ordinal), ordinal, cache_folder, dump_folder);
  const char* const tunings = std::getenv("NBCC_TUNINGS");
  if (!tunings || std::string_view(tunings) != "0") gpu->set_tunings(CudaTunings(cache_folder));
  return gpu;
}

}  // namespace

std::string_view first_device_name(std::string_view names) {
  std::size_t end = names.find(',');
  while (end != names.npos && end + 1 < names.size() && names[end + 1] >= '0' && names[end + 1] <= '9')
    end = names.find(',', end + 1);
  return names.substr(0, end);
}

std::shared_ptr<KernelDevice> open_device(std::string_view name, const nbcc_device_options& o) {
  const char* const dump = o.dump_dir ? o.dump_dir : std::getenv("NBCC_DUMP");
  const std::string cache_folder = o.cache_dir ? o.cache_dir : DiskCache::default_folder();
  const std::string dump_folder = dump ? dump : "";
  if (name == "cpu") {
    const Isa isa = o.isa ? isa_from_name(o.isa) : detect_isa();
    return std::make_shared<CpuDevice>(o.threads, isa, nullptr, cache_folder, dump_folder);
  }
  if (std::optional<std::vector<int>> ordinals = cuda_ordinals(name)) {
    if (ordinals->empty()) *ordinals = all_ordinals();
    std::vector<std::shared_ptr<CudaDevice>> gpus;
    for (const int ordinal : *ordinals) gpus.push_back(open_gpu(ordinal, cache_folder, dump_folder));
    if (gpus.size() == 1) return gpus.front();
    return std::make_shared<CudaGroup>(std::move(gpus));
  }
  throw DeviceError("there is no device '" + std::string(name) +
                    "'; there are cpu, cuda and cuda:0, cuda:1, ..., and several GPUs as one: cuda:all, cuda:0,2");
}

}  // namespace nbcc
