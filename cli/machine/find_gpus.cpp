// Lists the GPUs of the CUDA driver. Entry points: find_gpus(), find_nvrtc(). An empty list is not an error.
#include "cli/machine/find_gpus.h"

#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/cuda/driver/cuda_driver.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

Gpu describe(const CudaDriver& driver, int ordinal) {
  Gpu gpu;
  int device = 0;
  char name[256] = "";
  check(driver, driver.device_get(&device, ordinal), "cuDeviceGet");
  check(driver, driver.device_get_name(name, sizeof name, device), "cuDeviceGetName");
  check(driver, driver.device_get_attribute(&gpu.major, kCudaMajor, device), "cuDeviceGetAttribute");
  check(driver, driver.device_get_attribute(&gpu.minor, kCudaMinor, device), "cuDeviceGetAttribute");
  check(driver, driver.device_total_mem(&gpu.bytes, device), "cuDeviceTotalMem");
  gpu.name = name;
  return gpu;
}

}  // namespace

Gpus find_gpus() {
  Gpus gpus;
  try {
    const CudaDriver& driver = cuda_driver();
    check(driver, driver.driver_get_version(&gpus.driver_version), "cuDriverGetVersion");
    int count = 0;
    check(driver, driver.device_get_count(&count), "cuDeviceGetCount");
    for (int ordinal = 0; ordinal < count; ++ordinal) gpus.list.push_back(describe(driver, ordinal));
  } catch (const DeviceError& e) {
    gpus.problem = e.what();
  }
  return gpus;
}

Nvrtc find_nvrtc() {
  Nvrtc found;
  try {
    const std::shared_ptr<const CudaCompiler> compiler = make_nvrtc();
    found.version = compiler->version();
    found.path = compiler->path();
    found.architectures = compiler->architectures();
  } catch (const DeviceError& e) {
    found.problem = e.what();
  }
  return found;
}

}  // namespace nbcc
