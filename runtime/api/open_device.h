// Devices by name: "cpu", "cuda", "cuda:N", and several GPUs as one: "cuda:all", "cuda:0,2". One row for each backend.
// Tested by tests/unit/c_api_test.cpp.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/api/nbcc.h"
#include "runtime/sum/device.h"

namespace nbcc {

// Of names with commas between them, as $NBCC_DEVICE has, the first: a comma before a digit is part of a name,
// "cuda:0,2".
std::string_view first_device_name(std::string_view names);

// Folders of a device's disk cache and of dumped sources; "": none.
struct DeviceFolders {
  std::string cache, dump;
};

// The devices of one backend.
struct DeviceKind {
  std::string_view backend;                  // KernelDevice::backend()
  std::string_view names;                    // of its devices, for messages
  bool has_own_memory;                       // arrays can be on the device
  bool (*is_name)(std::string_view device);  // whether it has a device of this name, as far as its form shows
  std::shared_ptr<KernelDevice> (*open)(std::string_view device, const nbcc_device_options& options,
                                        const DeviceFolders& folders);
};

std::span<const DeviceKind> device_kinds();
std::string all_device_names();  // "cpu, cuda, ..."
// Throws DeviceError: no kind has a device of this name.
const DeviceKind& kind_of_device(std::string_view device);

// The device runs compiled pipelines; what it needs to compile texts it gets with the first text (CPU), or has if NVRTC
// is there (GPU). Throws DeviceError, also for a name that no device has.
std::shared_ptr<KernelDevice> open_device(std::string_view name, const nbcc_device_options& options);

}  // namespace nbcc
