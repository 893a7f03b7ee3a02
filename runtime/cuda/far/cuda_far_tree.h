// Positions in GPU memory -> the tree of a far field in GPU memory: the cells of FarTree (runtime/far/far_tree.h), with
// the same numbers, and the same order of particles. Tested by tests/unit/runtime/cuda/far/cuda_far_tree_test.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/far/cuda_far_program.h"
#include "runtime/cuda/far/cuda_radix_sort.h"
#include "templates/cuda/far/cuda_far_data.h"

namespace nbcc {

class CudaFarTree {
 public:
  // Compiles the code, or finds it in the cache, like `kernel`'s own. `sort` may serve several trees of one stream;
  // it must outlive this object.
  CudaFarTree(const CudaKernel& kernel, int axes, CudaRadixSort& sort);

  // `positions`: address of doubles [particle][axis]. `chosen`: address of the int64 indices of the `count` particles;
  // 0: particles 0 to count - 1. Cells with at most `leaf` particles are not split. Waits for the GPU once, twice if
  // the cells do not fit into the memory. Throws DeviceError if the GPU's memory does not suffice.
  void build(CudaDevicePointer positions, CudaDevicePointer chosen, std::int64_t count, int leaf, CudaStream* stream);
  // Splits the same particles into cells with at most `leaf` particles. Needs no positions.
  void split_again(int leaf, CudaStream* stream);

  // False: some position is not finite, and the tree is arbitrary.
  bool is_finite() const { return is_finite_; }
  int axes() const { return axes_; }
  std::int64_t count() const { return count_; }
  std::int64_t cell_count() const { return level_first_.back(); }
  int levels() const { return int(level_first_.size()) - 1; }
  std::span<const std::int32_t> level_first() const { return level_first_; }  // [level]: its first cell; then all
  // Ascending: floor(log2(radius)) of some cell; -1023 if the radius is 0 or subnormal.
  std::span<const int> exponents() const { return exponents_; }

  // In GPU memory; valid until the next build() or split_again().
  const far_data::FarCell* cells() const { return argument_.cells; }  // [cell]
  CudaDevicePointer order() const { return order_; }                  // int64 [position in the tree]: particle
  far_data::FarColumns coordinates() const { return sorted_; }        // [axis][position in the tree]
  // uint32 [position in the tree]: index of the particle among the chosen ones.
  CudaDevicePointer numbers() const { return reinterpret_cast<std::uintptr_t>(argument_.numbers); }

  std::size_t bytes() const;

 private:
  void reserve_particles();
  void reserve_cells(std::int64_t splits);
  void clear_arrivals(CudaStream* stream);
  void split(int leaf, CudaStream* stream);
  void make_cells(CudaStream* stream);
  void launch(const char* name, std::int64_t blocks, CudaStream* stream, int threads = far_data::kTreeThreads);
  std::int64_t tiles() const;

  const int axes_;
  CudaRadixSort& sort_;
  CudaFarProgram program_;
  const CudaGpu& gpu_;
  CudaBuffer state_, particles_, splits_, cells_;
  CudaPinned report_;  // far_data::FarTreeState
  far_data::FarTreeArgument argument_{};
  bool clean_ = false;  // the counters of arrivals are 0
  // Memory is reserved for this many splits for each `leaf` particles, at first more than most distributions of
  // particles need.
  double splits_per_leaf_ = 2;

  std::int64_t count_ = 0;
  bool is_finite_ = true;
  CudaDevicePointer order_ = 0;
  far_data::FarColumns sorted_{};
  std::vector<std::int32_t> level_first_{0};
  std::vector<int> exponents_;
};

}  // namespace nbcc
