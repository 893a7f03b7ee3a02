// A compiled pipeline -> a kernel of a device: which of the codes that it holds is the one to run.
// Tested by tests/unit/image_test.cpp.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/image/image.h"
#include "runtime/image/nbcc_image.h"

namespace nbcc {

// The best instruction set that the device was opened with or that is contained in it. Throws DeviceError if there is
// none.
std::shared_ptr<const Kernel> load_image(CpuDevice& device, const PipelineImage& image,
                                         std::span<const nbcc_image_kernel> kernels);

// compiler: opens NVRTC, and throws DeviceError where there is none; called only for what the image does not hold.
using OpenCompiler = std::function<std::shared_ptr<const CudaCompiler>()>;
std::shared_ptr<const Kernel> load_image(const CudaDevice& device, const PipelineImage& image, OpenCompiler compiler);

}  // namespace nbcc
