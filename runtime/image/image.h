// Compiled pipelines -> kernels: what a library holds of a pipeline, which is what the runtime must know of its
// kernels, and its code for GPUs; the CPU kernels themselves are functions of the library. One string of bytes, the
// same for every machine. Tested by tests/unit/image_test.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel_source.h"
#include "runtime/sum/reduction.h"

namespace nbcc {

// A kernel compiled for one architecture of GPUs, in one launch configuration.
struct CudaImage {
  std::string architecture;  // "sm_90"
  LaunchConfig config;       // without j_splits
  bool ptx = false;          // else a cubin
  std::uint64_t text = 0;    // of which of the kernel's texts: cuda_text_number()
  int toolkit = 0;           // 13000: made by CUDA 13.0
  std::string bytes;
};

struct PipelineImage {
  std::string made_by;  // "nbcc 0.1.0"
  std::string precision, math, root;
  std::vector<KernelSource> cpu;  // one for each instruction set, the best first; without texts
  KernelSource cuda;              // with its texts
  std::vector<CudaImage> cuda_images;
};

std::uint64_t cuda_text_number(std::string_view text);

// Which elements a field's array has in the typed functions of a compiled library. `real` is the flavour's: Float or
// Double, of all fields that hold no whole numbers. An index has 64 bits, be it a field of that type or what an argmin
// finds; int and bool have 32.
inline Element typed_element(const FieldLayout& field, Element real) {
  if (!field.integral) return real;
  const bool finds_index = field.role == Role::Output && keeps_index(field.reduction);
  return finds_index || field.type.starts_with("index") ? Element::Int64 : Element::Int32;
}

std::string write_image(const PipelineImage& image);
// Throws UsageError: these are no such bytes, or of another version of their form.
PipelineImage read_image(std::string_view bytes);

}  // namespace nbcc
