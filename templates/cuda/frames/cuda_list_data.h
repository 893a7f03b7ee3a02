// Lists, rows of listed pairs and exclusions in GPU memory (cuda_lists.cu.in, cuda_pairs.cu.in,
// cuda_exclusions.cuh.in). Host and kernels share these declarations: the host includes this file, and the lines after
// "kernel source" are part of a kernel's source (declarations_of() in compiler/text/fill_template.h). Plain C++ without
// headers of the standard library, which NVRTC does not have. Pointers are addresses of GPU memory.
#pragma once

namespace nbcc::list_data {

using index = long long;  // as in kernels
struct JParticle;         // depends on the pipeline

// kernel source: exclusions
// The j excluded from one i, by index: first + k for each set bit k of `near`, first + 32 + k for each set bit k of
// `next`, and far[far_begin .. far_begin + far_count) of ExclusionTable.
struct Exclusions {
  int first;
  unsigned near, next;
  int far_begin, far_count;
};
// end of kernel source

// kernel source: exclusion table
struct ExclusionTable {
  const Exclusions* of;  // [i]; null in a source without exclusions
  const int* far;
};
// end of kernel source

// kernel source: ranges
struct Range {
  int begin, count;  // of positions in `packed` and `j_order`
};
struct Item {
  int first, count;            // positions of i
  int range_begin, range_end;  // indices of ranges
  int row;                     // where the results of the first i are stored
};
// end of kernel source

// kernel source: lists
// The last argument of the kernels.
struct Lists {
  const int* i_first;      // [group + 1] position of the group's first i
  const int* range_first;  // [group + 1] index of the group's first range
  const Range* ranges;
  const index* j_order;     // [position] particle; null: the identity
  const double* shifts;     // [range][axis] added to the positions of the j; null: no shifts
  const double* params;     // [group][param]; null: all groups have the params of the run
  const JParticle* packed;  // [position] j-particle; null with NBCC_UNPACKED_J
  ExclusionTable exclusions;
  index groups, first_group;  // number of groups or items; first of this launch
  const Item* items;          // [item]; null: groups
};
// end of kernel source

// kernel source: rows
// The last argument of the kernels.
struct Rows {
  const index* first;       // [i + 1] index of the i's first pair in the caller's order
  const index* slab_first;  // [slab] offset of the slab in `numbers`
  const int* numbers;       // indices of j, in slabs
  const JParticle* packed;  // [j]
  index first_i;            // first i of this launch
};
// end of kernel source

}  // namespace nbcc::list_data
