// Text and macros -> launches. Entry points: the header.
#include "runtime/cuda/far/cuda_far_program.h"

#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/error.h"

namespace nbcc {

void CudaFarProgram::launch(const char* name, std::int64_t blocks, int threads,
                            std::initializer_list<const void*> arguments, CudaStream* stream) const {
  if (blocks == 0) return;
  CudaFunction*& function = functions_[name];
  if (!function) function = kernel_->program().find(name);
  std::array<void*, 8> addresses{};
  std::ranges::transform(arguments, addresses.begin(), [](const void* at) { return const_cast<void*>(at); });
  launch_kernel(gpu(), function, name, unsigned(blocks), 1, unsigned(threads), addresses.data(), stream, overlaps_);
}

void reserve_elements(CudaBuffer& buffer, std::int64_t count, std::size_t bytes_of_element, const char* what) {
  const std::size_t bytes = std::size_t(count) * bytes_of_element;
  if (!buffer.reserve(bytes))
    throw DeviceError(fmt::format("out of memory of the GPU: {} of a far field need {} MB", what, bytes >> 20));
}

}  // namespace nbcc
