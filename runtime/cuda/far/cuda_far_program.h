// The programs of a far field's own kernels: texts of templates/ without a pipeline, compiled for some macros.
#pragma once
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "compiler/far_kernels.h"
#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/far/cuda_far_source.h"
#include "runtime/cuda/program/cuda_kernel.h"

namespace nbcc {

class CudaFarProgram {
 public:
  // Compiles the code for the GPU of `kernel`, or finds it in the cache. `overlaps`: launches with programmatic
  // dependent launch (PDL) where the GPU has it, so that the kernels must wait for earlier ones.
  CudaFarProgram(const CudaKernel& kernel, const KernelSource& source, bool overlaps = true)
      : kernel_(std::static_pointer_cast<const CudaKernel>(kernel.load(source))),
        overlaps_(overlaps && kernel_->program().waits()) {}

  // Launches a kernel. `arguments`: their addresses. Does nothing for no blocks.
  void launch(const char* name, std::int64_t blocks, int threads, std::initializer_list<const void*> arguments,
              CudaStream* stream) const;
  const CudaGpu& gpu() const { return kernel_->gpu(); }

 private:
  std::shared_ptr<const CudaKernel> kernel_;
  bool overlaps_;
  mutable std::map<std::string_view, CudaFunction*> functions_;
};

// Compiles the programs of a far field with grids of these orders on threads of the host, so that later loads find
// them. A program that fails is compiled again, with its error, where it is needed.
void compile_far_programs(const CudaKernel& any, const FarKernels& kernels, std::span<const int> orders);

// Reserves room for `count` elements. Throws DeviceError if the GPU's memory does not suffice.
void reserve_elements(CudaBuffer& buffer, std::int64_t count, std::size_t bytes_of_element, const char* what);

}  // namespace nbcc
