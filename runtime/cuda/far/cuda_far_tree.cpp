// Memory and launches of the kernels that build a tree (templates/cuda/far/cuda_far_tree.cu.in). Interface:
// CudaFarTree.
#include "runtime/cuda/far/cuda_far_tree.h"

#include <algorithm>
#include <cstring>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/round_up.h"

namespace nbcc {
namespace {

using namespace far_data;

constexpr std::int64_t kArrivals = 3;  // counters of FarTreeArgument::arrivals
constexpr const char* kNoRoom = "out of memory of the GPU: there is no room for the tree of a far field";

// Hands out consecutive arrays of one buffer. With the base 0 it only adds up their bytes.
class Arrays {
 public:
  explicit Arrays(CudaDevicePointer base) : base_(base) {}
  template <typename T>
  void take(T*& array, std::int64_t count) {
    array = reinterpret_cast<T*>(base_ + std::uint64_t(bytes_));
    bytes_ += round_up(count * std::int64_t(sizeof(T)), std::int64_t(256));
  }
  std::size_t bytes() const { return std::size_t(bytes_); }

 private:
  CudaDevicePointer base_;
  std::int64_t bytes_ = 0;
};

CudaDevicePointer address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

CudaFarTree::CudaFarTree(const CudaKernel& kernel, int axes, CudaRadixSort& sort)
    : axes_(axes),
      sort_(sort),
      program_(kernel, far_tree_source(axes)),
      gpu_(kernel.gpu()),
      state_(gpu_),
      particles_(gpu_),
      splits_(gpu_),
      cells_(gpu_),
      report_(gpu_) {}

std::int64_t CudaFarTree::tiles() const { return ceil_div(count_, std::int64_t(kTreeTile)); }

std::size_t CudaFarTree::bytes() const {
  return state_.bytes() + particles_.bytes() + splits_.bytes() + cells_.bytes();
}

void CudaFarTree::reserve_particles() {
  FarTreeArgument& t = argument_;
  for (const bool measures : {true, false}) {
    Arrays arrays(measures ? 0 : particles_.data());
    arrays.take(t.keys, count_);
    arrays.take(t.numbers, count_);
    arrays.take(t.order, count_);
    t.sorted.stride = round_up(count_, std::int64_t(32));
    arrays.take(t.sorted.data, t.sorted.stride * axes_);
    arrays.take(t.links, count_);
    arrays.take(t.split_mask, tiles() * kTreeWords);
    arrays.take(t.tile_splits, tiles());
    if (measures && !particles_.reserve(arrays.bytes())) throw DeviceError(kNoRoom);
  }
  for (const bool measures : {true, false}) {
    Arrays arrays(measures ? 0 : state_.data());
    arrays.take(t.state, 1);
    arrays.take(t.arrivals, kArrivals);
    arrays.take(t.extents, kTreeExtentBlocks * (2 * axes_ + 1));
    if (state_.bytes() == 0) clean_ = false;
    if (measures && !state_.reserve(arrays.bytes())) throw DeviceError(kNoRoom);
  }
  report_.reserve(sizeof(FarTreeState));
}

void CudaFarTree::reserve_cells(std::int64_t splits) {
  FarTreeArgument& t = argument_;
  t.capacity = int(splits);
  const std::int64_t blocks = ceil_div(splits, std::int64_t(kTreeThreads));
  for (const bool measures : {true, false}) {
    Arrays arrays(measures ? 0 : splits_.data());
    arrays.take(t.splits, splits);
    arrays.take(t.ranks, splits);
    arrays.take(t.parents, splits);
    arrays.take(t.arrived, splits);
    arrays.take(t.level_splits, blocks * kTreeSplitLevels);
    if (measures && !splits_.reserve(arrays.bytes())) throw DeviceError(kNoRoom);
  }
  if (!cells_.reserve(std::size_t(1 + 2 * splits) * sizeof(FarCell))) throw DeviceError(kNoRoom);
  t.cells = reinterpret_cast<FarCell*>(cells_.data());
}

void CudaFarTree::launch(const char* name, std::int64_t blocks, CudaStream* stream, int threads) {
  program_.launch(name, blocks, threads, {&argument_}, stream);
}

void CudaFarTree::build(CudaDevicePointer positions, CudaDevicePointer chosen, std::int64_t count, int leaf,
                        CudaStream* stream) {
  if (count > CudaRadixSort::kMaxCount) throw DeviceError("a far field has too many particles for one GPU");
  const CudaContextGuard guard(gpu_);
  count_ = count;
  if (count == 0) {
    is_finite_ = true;
    level_first_.assign(1, 0);
    exponents_.clear();
    return;
  }
  argument_.positions = reinterpret_cast<const double*>(positions);
  argument_.chosen = reinterpret_cast<const long long*>(chosen);
  argument_.count = int(count);
  reserve_particles();
  clear_arrivals(stream);
  const std::int64_t blocks = ceil_div(count, std::int64_t(kTreeThreads));
  launch("nbcc_far_extent", std::min(blocks, std::min<std::int64_t>(kTreeExtentBlocks, 4 * gpu_.multiprocessors())),
         stream);
  launch("nbcc_far_make_keys", blocks, stream);
  const CudaDevicePointer keys = address_of(argument_.keys), numbers = address_of(argument_.numbers);
  // An even number of digits, so that the sorted keys are where the keys were.
  static_assert((3 * 21 + 7) / 8 == 8 && (2 * 31 + 7) / 8 == 8 && (31 + 7) / 8 == 4);
  sort_.sort(keys, numbers, count, 0, axes_ == 3 ? 63 : 31 * axes_, stream);
  launch("nbcc_far_arrange", blocks, stream);
  order_ = address_of(argument_.order);
  sorted_ = argument_.sorted;
  split(leaf, stream);
}

void CudaFarTree::split_again(int leaf, CudaStream* stream) {
  if (count_ == 0) return;
  const CudaContextGuard guard(gpu_);
  clear_arrivals(stream);
  split(leaf, stream);
}

// The kernels leave the counters at 0, unless a launch has failed. The state is cleared too, because the kernels do not
// write all of it.
void CudaFarTree::clear_arrivals(CudaStream* stream) {
  const CudaDevicePointer begin = address_of(argument_.state), end = address_of(argument_.arrivals + kArrivals);
  if (!clean_)
    gpu_.require(gpu_.driver().memset_d32_async(begin, 0, (end - begin) / 4, stream), "clearing memory of the GPU");
  clean_ = false;
}

void CudaFarTree::split(int leaf, CudaStream* stream) {
  argument_.leaf = int(std::clamp<std::int64_t>(leaf, 1, count_));
  const double leaves = double(count_) / argument_.leaf;
  reserve_cells(std::min(count_, std::int64_t(leaves * splits_per_leaf_) + 256));
  launch("nbcc_far_mark_splits", tiles(), stream);
  make_cells(stream);
  const auto* const state = reinterpret_cast<const FarTreeState*>(report_.data());
  if (state->splits > argument_.capacity) {
    splits_per_leaf_ = std::max(splits_per_leaf_, 1.125 * state->splits / leaves);
    reserve_cells(state->splits);
    make_cells(stream);
  }
  clean_ = true;
  is_finite_ = state->finite != 0;
  level_first_.assign(state->level_first, state->level_first + state->levels + 1);
  exponents_.clear();
  for (int k = 0; k < 32 * kTreeExponentWords; ++k)
    if ((state->exponents[k / 32] >> k % 32 & 1) != 0) exponents_.push_back(k - kTreeExponentBias);
}

// Launches what follows the count of the splits, and waits. Makes nothing if there are more splits than the capacity.
void CudaFarTree::make_cells(CudaStream* stream) {
  const std::int64_t blocks = ceil_div(std::int64_t(argument_.capacity), std::int64_t(kTreeThreads));
  launch("nbcc_far_find_splits", tiles(), stream, kTreeWords);
  for (const char* const name : {"nbcc_far_find_levels", "nbcc_far_write_cells", "nbcc_far_link_cells"})
    launch(name, blocks, stream);
  launch("nbcc_far_bound_cells", ceil_div(1 + 2 * std::int64_t(argument_.capacity), std::int64_t(kTreeThreads)),
         stream);
  gpu_.fetch(report_.data(), address_of(argument_.state), sizeof(FarTreeState), stream);
  gpu_.synchronize(stream);
}

}  // namespace nbcc
