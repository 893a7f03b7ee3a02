// The last argument of the kernel that checks table indices (cuda_indices.cu.in), and its report.
// Host and kernels share these declarations: the host includes this file, and the lines after "kernel source" are part
// of a kernel's source (declarations_of() in compiler/text/fill_template.h). Plain C++ without headers of the standard
// library, which NVRTC does not have. Pointers are addresses of GPU memory.
#pragma once

namespace nbcc::index_data {

using index = long long;  // as in kernels

// clang-format off: the kernel has these lines as they are
// kernel source: index checks
// The extremes of a number, each with the first particle that attains it. In an empty range least > greatest.
struct Range {
  index least, greatest, at_least, at_greatest;
};
struct Report {
  index check;                  // the number of the failed check, counted from 1; 0: no check failed
  index value[3], particle[3];  // [side] the number it adds, and the particle's index including the offset of the side
};
// The last argument of the kernel.
struct IndexCheck {
  Range* ranges;      // [block][kRanges], overwritten by each launch
  unsigned* arrived;  // blocks that have arrived; 0 before and after the launch
  Report* report;
  index pairs;             // number of listed pairs
  // The particles of the listed pairs; null: check the particles of the launch.
  const index *listed_i, *listed_j;
  index listed_i_count, listed_j_count;
  index params_by_group;  // nonzero: params differ between groups; checks that depend on params are skipped
};
// end of kernel source

// clang-format on

}  // namespace nbcc::index_data
