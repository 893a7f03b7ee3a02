// The argument of nbcc_interact, the kernel that sums, as bytes: templates/cuda_particles.cuh.in declares the same
// structs. All members are 8 bytes wide or arrays of such, so that there is no padding.
//
//   CudaView   i[max(1, input_i components)], j[max(1, input_j components)]
//   CudaView   p[input_pair components], if there are any
//   CudaOutput out[max(1, output components)]
//   double     param[max(1, param components)]
//   CudaRun    run
//
// Launched with a grid of (blocks of i, j-splits) and LaunchConfig::threads threads per block. With more than one split
// `partial` holds splits * accumulators * ni doubles (accumulators: one per output component and one more for each
// argmin and argmax), and `arrived` splits unsigned per block of i, which must be zero before the launch and are zero
// after it; with one neither is touched.
#pragma once
#include <cstdint>

#include "compiler/kernel_source.h"

namespace nbcc {

// Component of an input: particle k's is at data + k * stride, naturally aligned. A component that no column of
// KernelSource::i_columns (j_columns) names is not read and may be null. Particles are counted from 0 in the caller's
// set: for a chunk, shift `data`.
struct CudaView {
  std::uint64_t data = 0;
  std::int64_t stride = 0;   // bytes
  std::int64_t element = 0;  // an Element
};

// Component of an output; data = 0: not wanted.
struct CudaOutput {
  std::uint64_t data = 0;
  std::int64_t stride = 0;
  std::int64_t element = 0;
  std::int64_t onto = 0;  // nonzero: combined with what is there by the reduction (not argmin, argmax, at, softmax)
};

struct CudaRun {
  std::uint64_t running =
      0;  // [accumulator][position] doubles between launches over chunks of j; 0 when `first` and `last`
  std::uint64_t partial = 0, arrived = 0;
  std::uint64_t i_list = 0;  // int64 indices of the chosen i, or 0: those from i_begin on
  std::int64_t i_begin = 0;
  std::int64_t ni = 0;  // chosen i of this launch, at least 1
  std::int64_t nj = 0;  // j of this launch, 0 or more: particles [j_begin, j_begin + nj)
  std::int64_t j_begin = 0;
  std::int64_t i_offset = 0, j_offset = 0;  // added to a particle's index to give i_index, j_index
  std::int64_t first = 1;                   // nonzero: sums begin anew; zero: they go on with `running`
  std::int64_t last = 1;  // nonzero: common factors, finish(), results stored; zero: sums are left in `running`
};

}  // namespace nbcc
