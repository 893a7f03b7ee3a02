// The tree of a GPU against the tree of the host.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "runtime/cuda/far/cuda_far_tree.h"
#include "runtime/far/far_tree.h"
#include "tests/support/far_device.h"

namespace nbcc::test {

// A ForEach without threads.
inline void in_order(std::int64_t count, const std::function<void(std::int64_t)>& work) {
  for (std::int64_t k = 0; k < count; ++k) work(k);
}

// Expects the same cells in the same order, the same order of particles, and boxes that are equal up to rounding.
inline void expect_far_tree(const CudaGpu& gpu, const CudaFarTree& tree, const FarTree& expected) {
  const auto count = std::size_t(expected.count());
  ASSERT_EQ(tree.count(), expected.count());
  ASSERT_EQ(tree.cell_count(), std::int64_t(expected.cells().size()));
  EXPECT_EQ(std::vector(tree.level_first().begin(), tree.level_first().end()),
            std::vector(expected.level_first().begin(), expected.level_first().end()));
  if (count == 0) return;
  EXPECT_EQ(fetch<std::int64_t>(gpu, tree.order(), count),
            std::vector(expected.order().begin(), expected.order().end()));
  for (int axis = 0; axis < tree.axes(); ++axis) {
    const far_data::FarColumns columns = tree.coordinates();
    const auto from = CudaDevicePointer(reinterpret_cast<std::uintptr_t>(columns.data + axis * columns.stride));
    EXPECT_EQ(fetch<double>(gpu, from, count),
              std::vector(expected.coordinates(axis).begin(), expected.coordinates(axis).end()));
  }
  std::set<int> exponents;
  const auto cells =
      fetch<far_data::FarCell>(gpu, reinterpret_cast<std::uintptr_t>(tree.cells()), expected.cells().size());
  for (std::size_t k = 0; k < cells.size(); ++k) {
    SCOPED_TRACE("cell " + std::to_string(k));
    const FarCell& cell = expected.cells()[k];
    ASSERT_EQ(cells[k].begin, cell.begin);
    ASSERT_EQ(cells[k].end, cell.end);
    ASSERT_EQ(cells[k].child, cell.child);
    ASSERT_EQ(cells[k].level, cell.level);
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = std::size_t(axis);
      EXPECT_NEAR(cells[k].centre[axis], cell.centre[a], 1e-14 * std::fabs(cell.centre[a]));
      EXPECT_NEAR(cells[k].half[axis], cell.half[a], 1e-14 * cell.half[a]);
    }
    EXPECT_NEAR(cells[k].radius, cell.radius, 1e-14 * cell.radius);
    exponents.insert(cells[k].radius == 0 ? -1023 : int(std::floor(std::log2(cells[k].radius))));
  }
  EXPECT_EQ(std::vector(tree.exponents().begin(), tree.exponents().end()),
            std::vector(exponents.begin(), exponents.end()));
}

}  // namespace nbcc::test
