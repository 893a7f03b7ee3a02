// Opens devices by name: "cpu", "cuda", "cuda:N", and several GPUs as one: "cuda:all", "cuda:0,2". A table has one row
// for each backend.
// Tested by tests/unit/runtime/api/c_api_test.cpp.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/api/nbcc.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

// The first of several names that are separated by commas, as in $NBCC_DEVICE. A comma before a digit belongs to a
// name: "cuda:0,2".
std::string_view first_device_name(std::string_view names);

// Folders of a device's disk cache and of dumped sources; "": none.
struct DeviceFolders {
  std::string cache, dump;
};

// A row of the table: the devices of one backend.
struct DeviceKind {
  std::string_view backend;                  // KernelDevice::backend()
  std::string_view names;                    // names of its devices, for messages
  bool has_own_memory;                       // arrays can be in device memory
  bool (*is_name)(std::string_view device);  // tests the form of a name; the device need not exist
  std::shared_ptr<KernelDevice> (*open)(std::string_view device, const nbcc_device_options& options,
                                        const DeviceFolders& folders);
};

std::span<const DeviceKind> device_kinds();
std::string all_device_names();  // "cpu, cuda, ..."
// Throws DeviceError if no backend has names of this form.
const DeviceKind& kind_of_device(std::string_view device);

// Opens a device. It can run compiled pipelines; to compile texts a CPU gets its toolchain with the first text, and a
// GPU needs NVRTC. Throws DeviceError, also for an unknown name.
std::shared_ptr<KernelDevice> open_device(std::string_view name, const nbcc_device_options& options);

}  // namespace nbcc
