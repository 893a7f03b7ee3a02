// The programs of a far field's own kernels: texts of templates/ without a pipeline, compiled for some macros.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/program/cuda_kernel.h"

namespace nbcc {

class CudaFarProgram {
 public:
  // Compiles templates/`text` for the GPU of `kernel`. `macros`: lines that come first.
  CudaFarProgram(const CudaKernel& kernel, std::string_view text, const std::string& macros);

  // Launches a kernel of one argument, which is a struct of templates/cuda/far/cuda_far_data.h. Does nothing for no
  // blocks.
  template <typename Argument>
  void launch(const char* name, std::int64_t blocks, int threads, const Argument& argument, CudaStream* stream) {
    launch_with(name, blocks, threads, const_cast<Argument*>(&argument), stream);
  }
  const CudaGpu& gpu() const { return kernel_->gpu(); }

 private:
  void launch_with(const char* name, std::int64_t blocks, int threads, void* argument, CudaStream* stream);

  std::shared_ptr<const CudaKernel> kernel_;
  std::map<std::string_view, CudaFunction*> functions_;
};

// Reserves room for `count` elements. Throws DeviceError if the GPU's memory does not suffice.
void reserve_elements(CudaBuffer& buffer, std::int64_t count, std::size_t bytes_of_element, const char* what);

}  // namespace nbcc
