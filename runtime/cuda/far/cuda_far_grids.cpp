// Trees, columns -> launches of the kernels of grids. Interface: CudaFarGrids. Copies nothing to the host.
#include "runtime/cuda/far/cuda_far_grids.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/far/chebyshev.h"
#include "runtime/round_up.h"

namespace nbcc {
namespace {

using namespace far_data;

constexpr std::int64_t kAlignment = 256;  // bytes; alignment of arrays

}  // namespace

CudaFarGrids::CudaFarGrids(const CudaKernel& any, int axes, int order)
    : program_(any, far_grids_source(axes, order), false), gpu_(any.gpu()), order_(order), memory_(any.gpu()) {
  for (int axis = 0; axis < axes; ++axis) points_per_cell_ *= order;
  const Chebyshev chebyshev(order);
  for (int k = 0; k < order; ++k) {
    chebyshev_.point[k] = chebyshev.point(k);
    for (int m = 0; m < order; ++m) chebyshev_.coefficient[m * order + k] = chebyshev.coefficient(m, k);
  }
}

FarGridTree CudaFarGrids::argument() const {
  FarGridTree tree{};
  tree.cells = tree_.cells;
  tree.cell_count = tree_.cell_count;
  tree.particles = tree_.particles;
  tree.coordinates = tree_.coordinates;
  CudaDevicePointer at = memory_.data();
  const auto take = [&]<typename T>(T*& array) {
    array = reinterpret_cast<T*>(at);
    at += std::uint64_t(round_up(cell_capacity_ * std::int64_t(sizeof(T)), kAlignment));
  };
  take(tree.parents);
  take(tree.arrived);
  take(tree.done);
  tree.ticket = reinterpret_cast<unsigned*>(at);
  return tree;
}

void CudaFarGrids::set_tree(const Tree& tree, CudaStream* stream) {
  const CudaContextGuard guard(gpu_);
  if (tree.cell_count > cell_capacity_) {
    cell_capacity_ = 0;
    const std::int64_t capacity = tree.cell_count + tree.cell_count / 4;
    const auto bytes = std::size_t(3 * round_up(capacity * 4, kAlignment) + kAlignment);
    // Launches of the last tree may still use the memory.
    if (memory_.bytes() > 0) gpu_.synchronize(stream);
    if (!memory_.reserve(bytes))
      throw DeviceError(fmt::format("out of memory of the GPU: {} bytes for the cells of a far field", bytes));
    gpu_.require(gpu_.driver().memset_d32_async(memory_.data(), 0, bytes / 4, stream), "clearing memory of the GPU");
    cell_capacity_ = capacity;
    epoch_ = 0;
  }
  tree_ = tree;
  const FarGridTree argument = this->argument();
  program_.launch("nbcc_far_parents", ceil_div(tree.cell_count, kGridThreads), kGridThreads, {&argument}, stream);
}

void CudaFarGrids::locate(FarColumns coordinates, CudaStream* stream) const {
  const CudaContextGuard guard(gpu_);
  const FarGridTree tree = argument();
  program_.launch("nbcc_far_locate", ceil_div(points(), kGridThreads), kGridThreads, {&tree, &chebyshev_, &coordinates},
                  stream);
}

void CudaFarGrids::collect(FarColumns from, int columns, FarColumns to, CudaStream* stream) const {
  const CudaContextGuard guard(gpu_);
  const long long count = tree_.particles;
  program_.launch("nbcc_far_collect", ceil_div(count, kGridThreads), kGridThreads,
                  {&from, &tree_.order, &count, &columns, &to}, stream);
}

void CudaFarGrids::go_up(FarColumns values, int columns, const FarPositions& own, CudaStream* stream) const {
  const CudaContextGuard guard(gpu_);
  const FarGridTree tree = argument();
  const int ranges = 0;
  program_.launch("nbcc_far_go_up", tree_.cell_count, threads_of_grid(points_per_cell_),
                  {&tree, &chebyshev_, &values, &columns, &own, &ranges}, stream);
}

void CudaFarGrids::go_up_across(FarColumns values, int columns, int ranges, CudaStream* stream) const {
  const CudaContextGuard guard(gpu_);
  const FarGridTree tree = argument();
  const FarPositions none{};
  program_.launch("nbcc_far_go_up", ranges - 1, threads_of_grid(points_per_cell_),
                  {&tree, &chebyshev_, &values, &columns, &none, &ranges}, stream);
}

void CudaFarGrids::copy_grids(FarColumns from, int columns, const FarPositions& range, FarColumns values,
                              CudaStream* stream) const {
  const CudaContextGuard guard(gpu_);
  const FarGridTree tree = argument();
  program_.launch("nbcc_far_copy_grids", ceil_div(tree_.cell_count * points_per_cell_, kGridThreads), kGridThreads,
                  {&tree, &from, &columns, &range, &values}, stream);
}

void CudaFarGrids::go_down(FarColumns sums, int columns, const FarPositions& positions, CudaStream* stream) {
  const CudaContextGuard guard(gpu_);
  const FarGridTree tree = argument();
  if (++epoch_ == 0) ++epoch_;  // marks of cells begin as 0
  program_.launch("nbcc_far_go_down", tree_.cell_count, threads_of_grid(points_per_cell_),
                  {&tree, &chebyshev_, &sums, &columns, &positions, &epoch_}, stream);
}

std::int64_t CudaFarGrids::rows_of(int outputs, std::int64_t particles) {
  return round_up(std::int64_t(outputs), std::int64_t(kTotalsAtOnce)) * particles;
}

// One launch if the outputs and parts fit into its argument, as they do for all but a few pipelines.
bool CudaFarGrids::adds_rows(int outputs, std::size_t parts) {
  return outputs > 1 && outputs <= kMaxAddedOutputs && parts <= std::size_t(kMaxAddedParts);
}

void CudaFarGrids::add_up(std::span<const FarPart> parts, const Addition& addition, CudaStream* stream) const {
  const CudaContextGuard guard(gpu_);
  std::vector<FarPart> sorted(parts.begin(), parts.end());
  std::ranges::stable_sort(sorted, {}, &FarPart::output);
  const FarPositions& positions = addition.positions;
  const std::int64_t count = positions.end - positions.first;
  FarAddition next{};
  const auto begin = [&](int output, bool continues) {
    next = {};
    next.totals = addition.totals;
    next.factors = addition.factors;
    next.near = addition.near;
    next.sums = addition.sums;
    next.first_output = output;
    next.continues = continues ? 1 : 0;
    next.in_order = addition.in_order ? 1 : 0;
  };
  const bool is_all = positions.first == 0 && positions.end == tree_.particles;
  const bool has_rows =
      addition.rows && addition.near.data && is_all && !addition.in_order && adds_rows(addition.outputs, sorted.size());
  const auto finish = [&] {
    if (has_rows) {
      next.rows = addition.rows;
      next.row = rows_of(next.outputs, 1);
      program_.launch("nbcc_far_add_rows", ceil_div(count, kGridThreads), kGridThreads,
                      {&next, &tree_.order, &positions}, stream);
      const long long particles = count;
      program_.launch("nbcc_far_write_totals", ceil_div(count, kGridThreads), kGridThreads, {&next, &particles},
                      stream);
      return;
    }
    if (next.outputs > 0)
      program_.launch("nbcc_far_add_up", ceil_div(count, kGridThreads), kGridThreads, {&next, &tree_.order, &positions},
                      stream);
  };
  begin(0, false);
  int in_launch = 0;
  auto part = sorted.begin();
  for (int output = 0; output < addition.outputs; ++output) {
    if (next.outputs == kMaxAddedOutputs || next.continues != 0) {
      finish();
      begin(output, false);
      in_launch = 0;
    }
    ++next.outputs;
    for (; part != sorted.end() && part->output == output; ++part) {
      if (in_launch == kMaxAddedParts) {
        next.part_end[next.outputs - 1] = in_launch;
        finish();
        begin(output, true);
        next.outputs = 1;
        in_launch = 0;
      }
      next.factor[in_launch] = addition.factors.data ? part->factor : -1;
      next.sum[in_launch++] = part->sum;
    }
    next.part_end[next.outputs - 1] = in_launch;
  }
  finish();
}

}  // namespace nbcc
