// The last argument of the kernel that reduces totals (cuda_totals.cu.in).
// Host and kernels share these declarations: the host includes this file, and the lines after "kernel source" are part
// of a kernel's source (declarations_of() in compiler/text/fill_template.h). Plain C++ without headers of the standard
// library, which NVRTC does not have. Pointers are addresses of GPU memory.
#pragma once
#include "templates/cuda/frames/cuda_array_data.h"

namespace nbcc::total_data {

using array_data::index;
using array_data::Output;

// clang-format off: the kernel has these lines as they are
// kernel source: totals
// The last argument of the kernel.
struct Level {
  char* values;         // [component][row], doubles or 64-bit integers
  index rows;           // from one component to the next
  const index* list;    // the rows of the values to reduce, or null: [first, first + count)
  index first, count;
  char* partials;       // [component][group], of the same type
  index reduction;
  index whole;          // nonzero: the values are integers
  index fills;          // nonzero: this launch sets `count` rows to the identity, and reduces nothing
  Output out;           // the total's first component
  index component_stride;  // bytes
};
// end of kernel source

// clang-format on

}  // namespace nbcc::total_data
