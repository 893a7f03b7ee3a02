// Data that the host and the kernels of a far field share. runtime/cuda/cuda_far_*.h include this file,
// templates/cuda_far_*.cu.in embed it. It is plain C++ without headers of the standard library, which NVRTC does not
// have. All pointers are addresses of GPU memory.
#pragma once

namespace nbcc::far_data {

constexpr int kMaxLevels = 128;  // of a tree; keys have 63 bits, so that no tree is deeper

// As runtime/far/far_tree.h has it: cells of a level are consecutive, the children of a cell are adjacent.
struct FarCell {
  int begin, end;     // its particles, in the order of the tree
  int child;          // the first of its two children; -1: a leaf
  int level;          // 0: the root
  double centre[3];   // of the box of its particles
  double half[3];     // never 0 along an axis of the positions
  double radius;      // half of the box's diagonal
};
static_assert(sizeof(FarCell) == 72, "the same layout on the host and in the kernels");

// Columns of doubles: component c of element k is at data[c * stride + k].
struct FarColumns {
  double* data;
  long long stride;
};

}  // namespace nbcc::far_data
