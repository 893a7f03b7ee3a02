// Text and macros -> launches. Entry points: the header.
#include "runtime/cuda/far/cuda_far_program.h"

#include "fmt/format.h"
#include "runtime/cuda/far/cuda_far_source.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/error.h"

namespace nbcc {
CudaFarProgram::CudaFarProgram(const CudaKernel& kernel, std::string_view text, const std::string& macros)
    : kernel_(
          std::static_pointer_cast<const CudaKernel>(kernel.load(cuda_far_source(std::string(text), macros, {text})))) {
}

void CudaFarProgram::launch_with(const char* name, std::int64_t blocks, int threads, void* argument,
                                 CudaStream* stream) {
  if (blocks == 0) return;
  CudaFunction*& function = functions_[name];
  if (!function) function = kernel_->program().find(name);
  void* arguments[] = {argument};
  launch_kernel(gpu(), function, name, unsigned(blocks), 1, unsigned(threads), arguments, stream,
                kernel_->program().waits());
}

void reserve_elements(CudaBuffer& buffer, std::int64_t count, std::size_t bytes_of_element, const char* what) {
  const std::size_t bytes = std::size_t(count) * bytes_of_element;
  if (!buffer.reserve(bytes))
    throw DeviceError(fmt::format("out of memory of the GPU: {} of a far field need {} MB", what, bytes >> 20));
}

}  // namespace nbcc
