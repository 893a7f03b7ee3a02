// Trees and columns in the memory of a GPU, and what CudaFarGrids computes compared with FarGrids. Entry point:
// expect_results_of_far_grids().
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/far/cuda_far_grids.h"
#include "runtime/far/far_grids.h"
#include "tests/support/device_array.h"

namespace nbcc::test {

using Columns = std::vector<std::vector<double>>;

inline const ForEach kInOrder = [](std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t k = 0; k < count; ++k) body(k);
};

// An array in the memory of the GPU.
template <typename T>
class OnGpuArray {
 public:
  OnGpuArray(const CudaGpu& gpu, std::span<const T> values)
      : count_(values.size()), array_(std::make_unique<DeviceArray>(gpu, values.size_bytes())) {
    array_->put(values.data(), values.size_bytes());
  }
  T* data() const { return static_cast<T*>(array_->data()); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    array_->get(values.data(), count_ * sizeof(T));
    return values;
  }

 private:
  std::size_t count_;
  std::unique_ptr<DeviceArray> array_;
};

inline std::vector<double> joined(const Columns& columns) {
  std::vector<double> all;
  for (const std::vector<double>& column : columns) all.insert(all.end(), column.begin(), column.end());
  return all;
}

class GpuColumns {
 public:
  GpuColumns(const CudaGpu& gpu, const Columns& columns) : rows_(columns.at(0).size()), array_(gpu, joined(columns)) {}
  far_data::FarColumns get() const { return {array_.data(), static_cast<long long>(rows_)}; }
  Columns read() const {
    const std::vector<double> all = array_.read();
    Columns columns;
    for (auto at = all.begin(); at != all.end(); at += std::ptrdiff_t(rows_))
      columns.emplace_back(at, at + std::ptrdiff_t(rows_));
    return columns;
  }

 private:
  std::size_t rows_;
  OnGpuArray<double> array_;
};

inline std::vector<std::span<double>> spans(Columns& columns) { return {columns.begin(), columns.end()}; }

inline Columns random_columns(int columns, std::int64_t rows, double low, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> between(low, 1);
  Columns result{std::size_t(columns), std::vector<double>(std::size_t(rows))};
  for (std::vector<double>& column : result)
    for (double& value : column) value = between(random);
  return result;
}

// Rounding errors are relative to the largest terms.
inline void expect_close(const Columns& got, const Columns& expected, double size, const char* what) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t c = 0; c < got.size(); ++c) {
    ASSERT_EQ(got[c].size(), expected[c].size());
    for (std::size_t k = 0; k < got[c].size(); ++k)
      ASSERT_NEAR(got[c][k], expected[c][k], 1e-13 * size) << what << ", column " << c << ", point " << k;
  }
}

inline double largest(const Columns& columns) {
  double most = 0;
  for (const std::vector<double>& column : columns)
    for (const double value : column) most = std::max(most, std::fabs(value));
  return most;
}

struct GridCase {
  std::string name;
  int axes, order, leaf;
  std::int64_t particles;
  int up, down;            // columns
  bool clustered = false;  // a third of the particles have one position, so that a leaf has more than `leaf`
};
inline void PrintTo(const GridCase& grid_case, std::ostream* out) { *out << grid_case.name; }

inline FarTree tree_of(const GridCase& of) {
  std::mt19937_64 random(77);
  std::normal_distribution<double> normal;
  std::vector<double> positions(std::size_t(of.particles * of.axes));
  for (double& x : positions) x = normal(random) + 3;
  if (of.clustered)
    std::fill_n(positions.begin(), positions.size() / 3 / std::size_t(of.axes) * std::size_t(of.axes), 3.25);
  FarTree tree;
  tree.build(positions, of.axes, {}, of.leaf, kInOrder);
  return tree;
}

inline std::vector<far_data::FarCell> cells_of(const FarTree& tree) {
  std::vector<far_data::FarCell> cells;
  for (const FarCell& cell : tree.cells())
    cells.push_back({cell.begin,
                     cell.end,
                     cell.child,
                     cell.level,
                     {cell.centre[0], cell.centre[1], cell.centre[2]},
                     {cell.half[0], cell.half[1], cell.half[2]},
                     cell.radius});
  return cells;
}

inline Columns coordinates_of(const FarTree& tree) {
  Columns coordinates;
  for (int axis = 0; axis < tree.axes(); ++axis)
    coordinates.emplace_back(tree.coordinates(axis).begin(), tree.coordinates(axis).end());
  return coordinates;
}

inline std::vector<long long> order_of(const FarTree& tree) { return {tree.order().begin(), tree.order().end()}; }

inline KernelSource no_kernel() {
  KernelSource source;
  source.pipeline = "nothing";
  source.target = "cuda";
  source.variants.push_back(
      {Frame::AllPairs, "extern \"C\" __global__ void nbcc_interact() {}\n", {{32, 1, 32, 1, 1}}});
  return source;
}

// A tree on the host and a copy on the GPU.
struct TwoTrees {
  TwoTrees(const CudaGpu& gpu, const GridCase& of)
      : host(tree_of(of)),
        cells(gpu, cells_of(host)),
        order(gpu, order_of(host)),
        coordinates(gpu, coordinates_of(host)) {}
  CudaFarGrids::Tree gpu() const {
    return {cells.data(), std::int64_t(host.cells().size()), host.count(), order.data(), coordinates.get()};
  }
  FarTree host;
  OnGpuArray<far_data::FarCell> cells;
  OnGpuArray<long long> order;
  GpuColumns coordinates;
};

// Compares all that FarGrids computes.
inline void expect_results_of_far_grids(const CudaKernel& any, const GridCase& of) {
  const CudaGpu& gpu = any.gpu();
  const TwoTrees trees(gpu, of);
  const FarGrids expected(trees.host, of.order, FarShape::Cube);
  CudaFarGrids got(any, of.axes, of.order);
  got.set_tree(trees.gpu(), nullptr);
  ASSERT_EQ(got.points(), expected.points());
  ASSERT_EQ(got.first_point(1), expected.first_point(1));

  Columns points = random_columns(of.axes, expected.points(), 0, 1);
  const GpuColumns gpu_points(gpu, points);
  expected.locate(spans(points), kInOrder);
  got.locate(gpu_points.get(), nullptr);
  expect_close(gpu_points.read(), points, largest(points), "locate");

  // Twice: the counters must be as they were.
  for (int run = 0; run < 2; ++run) {
    Columns weights = random_columns(of.up, expected.points(), 0.5, 2);
    const GpuColumns gpu_weights(gpu, weights);
    expected.go_up(spans(weights), kInOrder);
    got.go_up(gpu_weights.get(), of.up, got.all_positions(), nullptr);
    expect_close(gpu_weights.read(), weights, double(of.particles), "up");
    const Columns given = random_columns(of.down, expected.points(), -1, 3);
    Columns sums = given;
    const GpuColumns gpu_sums(gpu, sums);
    expected.go_down(spans(sums), {}, kInOrder);
    got.go_down(gpu_sums.get(), of.down, got.all_positions(), nullptr);
    const double size = largest(sums);
    Columns result = gpu_sums.read();
    for (Columns* columns : {&result, &sums})
      for (std::vector<double>& column : *columns) column.resize(std::size_t(of.particles));
    expect_close(result, sums, size, "down");
  }
}

}  // namespace nbcc::test
