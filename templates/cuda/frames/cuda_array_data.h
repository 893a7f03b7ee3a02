// The caller's arrays, as kernels read and write them (cuda_types.cuh.in).
// Host and kernels share these declarations: the host includes this file, and the lines after "kernel source" are part
// of a kernel's source (declarations_of() in compiler/text/fill_template.h). Plain C++ without headers of the standard
// library, which NVRTC does not have. Pointers are addresses of GPU memory.
#pragma once

namespace nbcc::array_data {

using index = long long;  // as in kernels

// kernel source: arrays
// One component of a field. Its value for particle k is at data + k * stride, in bytes.
struct View {
  const char* data;
  index stride, element;
};
struct Output {
  char* data;  // null: the output is not requested
  index stride, element;
  index accumulate;  // nonzero: combine with the array's old values
};
// end of kernel source

}  // namespace nbcc::array_data
