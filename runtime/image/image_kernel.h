// A compiled pipeline -> a kernel of a device. Chooses among the codes that the library holds.
// Tested by tests/unit/runtime/image/image_test.cpp.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/image/image.h"
#include "runtime/image/nbcc_image.h"

namespace nbcc {

// Loads the kernel of the best instruction set that the device's instruction set includes. Throws DeviceError if there
// is none.
std::shared_ptr<const Kernel> load_image(CpuDevice& device, const PipelineImage& image,
                                         std::span<const nbcc_image_kernel> kernels,
                                         std::span<const nbcc_image_code> codes = {});

// Opens NVRTC; throws DeviceError if there is none. Called only for code that the image does not hold.
using OpenCompiler = std::function<std::shared_ptr<const CudaCompiler>()>;
std::shared_ptr<const Kernel> load_image(const CudaDevice& device, const PipelineImage& image, OpenCompiler compiler);

}  // namespace nbcc
