// A name and options -> a device. One door: open_device().
#include "runtime/api/open_device.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/cuda_device.h"
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

}  // namespace

std::shared_ptr<KernelDevice> open_device(std::string_view name, const nbcc_device_options& o) {
  const char* const dump = o.dump_dir ? o.dump_dir : std::getenv("NBCC_DUMP");
  const std::string cache_folder = o.cache_dir ? o.cache_dir : DiskCache::default_folder();
  const std::string dump_folder = dump ? dump : "";
  if (name == "cpu") {
    const Isa isa = o.isa ? isa_from_name(o.isa) : detect_isa();
    return std::make_shared<CpuDevice>(o.threads, isa, nullptr, cache_folder, dump_folder);
  }
  if (const std::optional<int> ordinal = cuda_ordinal(name)) {
    const CudaDriver& driver = cuda_driver();
    auto device =
        std::make_shared<CudaDevice>(driver, compiler_for(driver, *ordinal), *ordinal, cache_folder, dump_folder);
    const char* const tunings = std::getenv("NBCC_TUNINGS");
    if (!tunings || std::string_view(tunings) != "0") device->set_tunings(CudaTunings(cache_folder));
    return device;
  }
  throw DeviceError("there is no device '" + std::string(name) + "'; there are cpu, cuda and cuda:0, cuda:1, ...");
}

}  // namespace nbcc
