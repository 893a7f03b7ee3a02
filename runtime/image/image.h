// The description of a pipeline in a compiled library: the data that the runtime needs about its kernels, and its code
// for GPUs. The CPU kernels themselves are functions of the library. Serialised as one machine-independent byte string.
// Tested by tests/unit/runtime/image/image_test.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel_source.h"
#include "compiler/text_facts.h"
#include "runtime/image/stored_rows.h"
#include "runtime/sum/request/reduction.h"

namespace nbcc {

// A kernel compiled for one architecture of GPUs, in one launch configuration.
struct CudaImage {
  std::string architecture;  // "sm_90"
  LaunchConfig config;       // without j_splits
  bool ptx = false;          // false: a cubin
  std::uint64_t text = 0;    // source_hash() of the kernel source it was compiled from
  int toolkit = 0;           // CUDA version of the compiler; 13000 is CUDA 13.0
  std::string bytes;
};

struct PipelineImage {
  std::string made_by;  // "nbcc 0.1.0"
  std::string precision, math, root;
  std::vector<KernelSource> cpu;  // one for each instruction set, the best first; without source code
  KernelSource cuda;              // with source code
  std::vector<CudaImage> cuda_images;
  std::vector<StoredRow> rows;  // of derived kernels, for each target; those for CPUs without source code
  TextFacts facts;
};

// A hash of a kernel source. The code of the source is found by this hash.
std::uint64_t source_hash(std::string_view text);

// The element type of a field's array in the typed functions of a compiled library. `real`: Float or Double, the type
// of all fields that hold no integers. An index has 64 bits, int and bool have 32.
inline Element typed_element(const FieldLayout& field, Element real) {
  if (!field.integral()) return real;
  return field.type == Type::Index ? Element::Int64 : Element::Int32;
}

std::string write_image(const PipelineImage& image);
// Throws UsageError if write_image() of this version of the format did not write these bytes.
PipelineImage read_image(std::string_view bytes);

}  // namespace nbcc
