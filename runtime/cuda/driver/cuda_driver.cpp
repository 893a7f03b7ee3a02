// The NVIDIA driver's library -> a table of its functions. Interface: cuda_driver(). Checks that there is a GPU, but
// opens none and makes no context.
#include "runtime/cuda/driver/cuda_driver.h"

#include <dlfcn.h>

#include <cstdlib>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

constexpr CudaResult kStubLibrary = 34;

class Library {
 public:
  explicit Library(const std::vector<std::string>& names) {
    std::string problems;
    for (const std::string& name : names) {
      handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) {
        name_ = name;
        return;
      }
      const char* const problem = ::dlerror();
      problems += fmt::format("\n  {}", problem ? problem : name);
    }
    throw DeviceError(fmt::format(
        "no NVIDIA driver: its library was found neither by the loader's rules ($LD_LIBRARY_PATH, ldconfig) "
        "nor where WSL keeps it:{}",
        problems));
  }

  const std::string& name() const { return name_; }

  template <typename Function>
  void take_if_there(Function*& member, const char* symbol) const {
    member = reinterpret_cast<Function*>(::dlsym(handle_, symbol));
  }
  template <typename Function>
  void take(Function*& member, const char* symbol) const {
    take_if_there(member, symbol);
    if (!member) {
      throw DeviceError(fmt::format(
          "the NVIDIA driver ({}) is too old: it lacks {}; nbcc needs one of CUDA 11.0 or later", name_, symbol));
    }
  }

 private:
  // Never closed: the driver's threads and exit handlers execute code of the library.
  void* handle_ = nullptr;
  std::string name_;
};

// Symbols of the ABI. If cuda.h maps a function to a later version, the symbol with `_v2` is the one that all drivers
// since CUDA 4 have (cuDevicePrimaryCtxRelease_v2: since CUDA 11). Exception: cuEventElapsedTime_v2 came with CUDA
// 12.8, so the first version is used, which all drivers have.
CudaDriver fill(const Library& library) {
  CudaDriver driver{};
  library.take(driver.init, "cuInit");
  library.take(driver.driver_get_version, "cuDriverGetVersion");
  library.take(driver.get_error_name, "cuGetErrorName");
  library.take(driver.get_error_string, "cuGetErrorString");

  library.take(driver.device_get_count, "cuDeviceGetCount");
  library.take(driver.device_get, "cuDeviceGet");
  library.take(driver.device_get_name, "cuDeviceGetName");
  library.take(driver.device_get_attribute, "cuDeviceGetAttribute");
  library.take(driver.device_total_mem, "cuDeviceTotalMem_v2");

  library.take(driver.device_primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  library.take(driver.device_primary_ctx_release, "cuDevicePrimaryCtxRelease_v2");
  library.take(driver.ctx_push_current, "cuCtxPushCurrent_v2");
  library.take(driver.ctx_pop_current, "cuCtxPopCurrent_v2");
  library.take(driver.ctx_get_current, "cuCtxGetCurrent");

  library.take(driver.device_can_access_peer, "cuDeviceCanAccessPeer");
  library.take(driver.ctx_enable_peer_access, "cuCtxEnablePeerAccess");

  library.take(driver.mem_get_info, "cuMemGetInfo_v2");
  library.take(driver.mem_alloc, "cuMemAlloc_v2");
  library.take(driver.mem_alloc_managed, "cuMemAllocManaged");
  library.take(driver.mem_free, "cuMemFree_v2");
  library.take(driver.mem_host_alloc, "cuMemHostAlloc");
  library.take(driver.mem_free_host, "cuMemFreeHost");
  library.take(driver.memcpy_htod_async, "cuMemcpyHtoDAsync_v2");
  library.take(driver.memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2");
  library.take(driver.memcpy_async, "cuMemcpyAsync");
  library.take(driver.memset_d32_async, "cuMemsetD32Async");
  library.take(driver.pointer_get_attributes, "cuPointerGetAttributes");

  library.take(driver.stream_create, "cuStreamCreate");
  library.take(driver.stream_destroy, "cuStreamDestroy_v2");
  library.take(driver.stream_synchronize, "cuStreamSynchronize");
  library.take(driver.stream_wait_event, "cuStreamWaitEvent");
  library.take(driver.stream_is_capturing, "cuStreamIsCapturing");
  library.take(driver.event_create, "cuEventCreate");
  library.take(driver.event_destroy, "cuEventDestroy_v2");
  library.take(driver.event_record, "cuEventRecord");
  library.take(driver.event_synchronize, "cuEventSynchronize");
  library.take(driver.event_query, "cuEventQuery");
  library.take(driver.event_elapsed_time, "cuEventElapsedTime");

  library.take(driver.module_load_data, "cuModuleLoadData");
  library.take(driver.module_unload, "cuModuleUnload");
  library.take(driver.module_get_function, "cuModuleGetFunction");
  library.take(driver.func_get_attribute, "cuFuncGetAttribute");
  library.take(driver.func_set_attribute, "cuFuncSetAttribute");
  library.take(driver.occupancy_max_active_blocks_per_multiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  library.take(driver.launch_kernel, "cuLaunchKernel");
  library.take_if_there(driver.launch_kernel_ex, "cuLaunchKernelEx");
  return driver;
}

// "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
std::string describe(const CudaDriver& driver, CudaResult result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.get_error_name(result, &name) != kCudaSuccess || !name) return fmt::format("CUDA error {}", result);
  if (driver.get_error_string(result, &text) != kCudaSuccess || !text) return name;
  return fmt::format("{}: {}", name, text);
}

[[noreturn]] void fail_without_gpu(const std::string& library, const std::string& reason) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  throw DeviceError(fmt::format("the NVIDIA driver ({}) finds no GPU{}{}", library, reason.empty() ? "" : ": " + reason,
                                visible ? fmt::format(" ($CUDA_VISIBLE_DEVICES is '{}')", visible) : ""));
}

void initialise(const CudaDriver& driver, const std::string& library) {
  const CudaResult result = driver.init(0);
  if (result == kCudaNoDevice) fail_without_gpu(library, describe(driver, result));
  if (result == kStubLibrary) {
    throw DeviceError(fmt::format(
        "no NVIDIA driver: {} is the toolkit's stub for linking, which $LD_LIBRARY_PATH should not name", library));
  }
  check(driver, result, fmt::format("the NVIDIA driver ({}) does not start: cuInit", library));
  int devices = 0;
  check(driver, driver.device_get_count(&devices), "cuDeviceGetCount");
  if (devices == 0) fail_without_gpu(library, "");
}

}  // namespace

CudaDriver open_cuda_driver(const std::vector<std::string>& libraries) {
  const Library library(libraries);
  const CudaDriver driver = fill(library);
  initialise(driver, library.name());
  return driver;
}

// A failure is stored like a success and thrown again by every call: the result of cuInit does not change during a
// process, and a program that asks before each run should not search the disk each time.
const CudaDriver& cuda_driver() {
  struct Opened {
    CudaDriver driver{};
    std::string problem;
  };
  static const Opened opened = [] {
    Opened result;
    try {
      result.driver = open_cuda_driver(
          {"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so"});
    } catch (const DeviceError& e) {
      result.problem = e.what();
    }
    return result;
  }();
  if (!opened.problem.empty()) throw DeviceError(opened.problem);
  return opened.driver;
}

void check(const CudaDriver& driver, CudaResult result, const std::string& what) {
  if (result != kCudaSuccess) throw DeviceError(fmt::format("{}: {}", what, describe(driver, result)));
}

}  // namespace nbcc
