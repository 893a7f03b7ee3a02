// The last argument of the kernels that compute each pair once (cuda_symmetric.cu.in).
// Host and kernels share these declarations: the host includes this file, and the lines after "kernel source" are part
// of a kernel's source (declarations_of() in compiler/text/fill_template.h). Plain C++ without headers of the standard
// library, which NVRTC does not have. Pointers are addresses of GPU memory.
#pragma once

namespace nbcc::symmetric_data {

using index = long long;  // as in kernels
struct Slot;              // depends on the pipeline

// kernel source: symmetric
// The last argument of the kernels.
struct Symmetric {
  Slot* slots;           // [distance][sums of i, reactions][sum][particle]
  index groups, tiles;   // groups; tiles of a group
  index first_distance;  // of the first row of blocks of this launch
};
// end of kernel source

}  // namespace nbcc::symmetric_data
