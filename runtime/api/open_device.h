// Devices by name: "cpu", "cuda", "cuda:N", and several GPUs as one: "cuda:all", "cuda:0,2".
// Tested by tests/unit/c_api_test.cpp.
#pragma once
#include <memory>
#include <string_view>

#include "runtime/api/nbcc.h"
#include "runtime/sum/device.h"

namespace nbcc {

// Of names with commas between them, as $NBCC_DEVICE has, the first: a comma before a digit is part of a name,
// "cuda:0,2".
std::string_view first_device_name(std::string_view names);

// The device runs compiled pipelines; what it needs to compile texts it gets with the first text (CPU), or has if NVRTC
// is there (GPU). Throws DeviceError, also for a name that no device has.
std::shared_ptr<KernelDevice> open_device(std::string_view name, const nbcc_device_options& options);

}  // namespace nbcc
