// The kernels of grids on the simulated GPU against runtime/far/far_grids.h.
#include "runtime/cuda/far/cuda_far_grids.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/far/far_backend.h"
#include "runtime/far/far_grids.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/far_grids_on_gpu.h"

namespace nbcc {
namespace {

class CudaFarGridsTest : public testing::TestWithParam<test::GridCase> {
 protected:
  CudaFarGridsTest() : device_(shim_.driver(), shim_.compiler(), 0, "", ""), any_(device_.load(test::no_kernel())) {}
  const CudaGpu& gpu() const { return device_.gpu(); }
  CudaFarGrids grids(const test::GridCase& of) {
    return CudaFarGrids(dynamic_cast<const CudaKernel&>(*any_), of.axes, of.order);
  }

  test::CudaShim shim_;
  CudaDevice device_;
  std::shared_ptr<const Kernel> any_;
};

TEST_P(CudaFarGridsTest, GivesTheResultsOfTheHost) {
  test::expect_results_of_far_grids(dynamic_cast<const CudaKernel&>(*any_), GetParam());
}

TEST_P(CudaFarGridsTest, BitsDoNotDependOnTheOrderOfBlocks) {
  const test::GridCase& of = GetParam();
  const test::TwoTrees trees(gpu(), of);
  CudaFarGrids grids_now = grids(of);
  grids_now.set_tree(trees.gpu(), nullptr);
  const auto run = [&](test::ShimOrder::Kind kind, std::uint64_t seed) {
    shim_.set_block_order({kind, seed});
    shim_.set_thread_order({kind, seed + 1});
    const test::GpuColumns weights(gpu(), test::random_columns(of.up, grids_now.points(), -1, 2));
    grids_now.go_up(weights.get(), of.up, grids_now.all_positions(), nullptr);
    const test::GpuColumns sums(gpu(), test::random_columns(of.down, grids_now.points(), -1, 3));
    grids_now.go_down(sums.get(), of.down, grids_now.all_positions(), nullptr);
    return std::pair(weights.read(), sums.read());
  };
  const auto first = run(test::ShimOrder::Kind::Forward, 0);
  EXPECT_EQ(run(test::ShimOrder::Kind::Backward, 0), first);
  EXPECT_EQ(run(test::ShimOrder::Kind::Shuffled, 5), first);
}

// Ranges of positions whose borders lie between cells, within leaves, and, of OneCell, beside each other.
TEST_P(CudaFarGridsTest, GoUpInRangesAsTheWholeTree) {
  const test::GridCase& of = GetParam();
  const test::TwoTrees trees(gpu(), of);
  CudaFarGrids made = grids(of);
  made.set_tree(trees.gpu(), nullptr);
  const test::Columns particles = test::random_columns(of.up, made.points(), -1, 2);
  const test::GpuColumns whole(gpu(), particles);
  made.go_up(whole.get(), of.up, made.all_positions(), nullptr);
  const test::Columns expected = whole.read();
  for (const int ranges : {2, 3, 7}) {
    SCOPED_TRACE(ranges);
    const auto range = [&](std::int64_t k) {
      const FarShare share{k, ranges};
      return far_data::FarPositions{share.begin(of.particles), share.end(of.particles)};
    };
    std::vector<std::unique_ptr<test::GpuColumns>> values;
    for (int k = 0; k < ranges; ++k) {
      values.push_back(std::make_unique<test::GpuColumns>(gpu(), particles));
      made.go_up(values.back()->get(), of.up, range(k), nullptr);
    }
    for (const auto& own : values) {
      for (int k = 0; k < ranges; ++k)
        if (values[std::size_t(k)] != own)
          made.copy_grids(values[std::size_t(k)]->get(), of.up, range(k), own->get(), nullptr);
      made.go_up_across(own->get(), of.up, ranges, nullptr);
      ASSERT_EQ(own->read(), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CudaFarGridsTest,
    testing::Values(test::GridCase{"Order4", 3, 4, 16, 500, 1, 4},
                    test::GridCase{"LargeLeaves", 3, 3, 300, 1000, 2, 5, true},
                    test::GridCase{"Order7", 3, 7, 60, 300, 2, 3}, test::GridCase{"Order13", 3, 13, 100, 300, 1, 2},
                    test::GridCase{"OneCell", 3, 4, 16, 5, 1, 1}, test::GridCase{"Plane", 2, 6, 20, 400, 1, 3},
                    test::GridCase{"Line", 1, 2, 10, 333, 3, 6}, test::GridCase{"LineOrder13", 1, 13, 200, 700, 1, 1}),
    [](const auto& info) { return info.param.name; });

class CudaFarGridsColumns : public CudaFarGridsTest {};

const test::GridCase kFarGridsCase{"Order4", 3, 4, 16, 500, 1, 4};

TEST_F(CudaFarGridsColumns, GoDownToSomeParticles) {
  const test::TwoTrees trees(gpu(), kFarGridsCase);
  const FarGrids expected(trees.host, kFarGridsCase.order, FarShape::Cube);
  CudaFarGrids got = grids(kFarGridsCase);
  got.set_tree(trees.gpu(), nullptr);
  const std::int32_t particle = 123;
  std::vector<char> wanted;
  for (const FarCell& cell : trees.host.cells())
    wanted.push_back(char(cell.begin <= particle && particle < cell.end ? 1 : 0));
  const test::Columns given = test::random_columns(2, expected.points(), -1, 3);
  test::Columns sums = given;
  const test::GpuColumns gpu_sums(gpu(), sums);
  expected.go_down(test::spans(sums), wanted, test::kInOrder);
  got.go_down(gpu_sums.get(), 2, {particle, particle + 1}, nullptr);
  const double size = test::largest(sums);
  test::Columns result = gpu_sums.read();
  for (test::Columns* columns : {&result, &sums})
    for (std::vector<double>& column : *columns) column.resize(std::size_t(kFarGridsCase.particles));
  test::expect_close(result, sums, size, "wanted");
  EXPECT_NE(result[0][std::size_t(particle)], given[0][std::size_t(particle)]);
  EXPECT_EQ(result[0][0], given[0][0]);
}

TEST_F(CudaFarGridsColumns, AreCollectedInTheOrderOfTheTree) {
  const test::TwoTrees trees(gpu(), kFarGridsCase);
  CudaFarGrids got = grids(kFarGridsCase);
  got.set_tree(trees.gpu(), nullptr);
  const test::Columns from =
      test::random_columns(3, kFarGridsCase.particles + 2, 0, 4);  // two particles are not in the tree
  const test::GpuColumns gpu_from(gpu(), from), gpu_to(gpu(), test::random_columns(3, got.points(), 0, 5));
  got.collect(gpu_from.get(), 3, gpu_to.get(), nullptr);
  const test::Columns to = gpu_to.read();
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 0; k < std::size_t(kFarGridsCase.particles); ++k)
      ASSERT_EQ(to[c][k], from[c][std::size_t(trees.host.order()[k])]);
}

// More outputs and parts than one launch adds; some outputs have no part.
TEST_F(CudaFarGridsColumns, PartsAreAddedInTheirOrder) {
  const test::TwoTrees trees(gpu(), kFarGridsCase);
  CudaFarGrids got = grids(kFarGridsCase);
  got.set_tree(trees.gpu(), nullptr);
  constexpr int kOutputs = 70, kFactors = 3, kSums = 4;
  std::mt19937_64 random(6);
  std::vector<FarPart> parts;
  for (int k = 0; k < 500; ++k)
    parts.push_back(
        {int(random() % 3 == 0 ? 5 : random() % 35 * 2), int(random() % (kFactors + 1)) - 1, int(random() % kSums)});
  const std::int64_t n = kFarGridsCase.particles;
  const test::Columns factors = test::random_columns(kFactors, n, -1, 7),
                      near = test::random_columns(kOutputs, n, -1, 8);
  const test::Columns sums = test::random_columns(kSums, n, -1, 9), totals = test::random_columns(kOutputs, n, -1, 10);
  const test::GpuColumns gpu_factors(gpu(), factors), gpu_near(gpu(), near), gpu_sums(gpu(), sums);
  for (const bool has_near : {false, true})
    for (const bool has_factors : {false, true}) {
      const test::GpuColumns gpu_totals(gpu(), totals);
      CudaFarGrids::Addition addition{gpu_totals.get(), gpu_factors.get(), gpu_near.get(),
                                      gpu_sums.get(),   kOutputs,          got.all_positions()};
      if (!has_near) addition.near = {};
      if (!has_factors) addition.factors = {};
      got.add_up(parts, addition, nullptr);
      test::Columns expected = totals;
      for (std::size_t k = 0; k < std::size_t(n); ++k) {
        const auto i = std::size_t(trees.host.order()[k]);
        if (has_near)
          for (std::size_t output = 0; output < kOutputs; ++output) expected[output][i] = near[output][k];
        for (const FarPart& part : parts) {
          const double sum = sums[std::size_t(part.sum)][k];
          expected[std::size_t(part.output)][i] +=
              part.factor >= 0 && has_factors ? factors[std::size_t(part.factor)][i] * sum : sum;
        }
      }
      ASSERT_EQ(gpu_totals.read(), expected) << has_near << has_factors;
    }
}

TEST_F(CudaFarGridsColumns, PartsAreAddedThroughRows) {
  const test::TwoTrees trees(gpu(), kFarGridsCase);
  CudaFarGrids got = grids(kFarGridsCase);
  got.set_tree(trees.gpu(), nullptr);
  constexpr int kFactors = 2, kSums = 3;
  const std::int64_t n = kFarGridsCase.particles;
  std::mt19937_64 random(11);
  const test::GpuColumns factors(gpu(), test::random_columns(kFactors, n, -1, 12)),
      sums(gpu(), test::random_columns(kSums, n, -1, 13));
  for (const int outputs : {1, 2, 3, 4, 5, 20}) {
    std::vector<FarPart> parts;
    for (int k = 0; k < 3 * outputs; ++k)
      parts.push_back(
          {int(random() % std::uint64_t(outputs)), int(random() % (kFactors + 1)) - 1, int(random() % kSums)});
    const test::GpuColumns near(gpu(), test::random_columns(outputs, n, -1, 14));
    const auto totals = [&](bool with_rows) {
      const test::GpuColumns to(gpu(), test::random_columns(outputs, n, -1, 15)),
          rows(gpu(), test::random_columns(1, CudaFarGrids::rows_of(outputs, n), -1, 16));
      shim_.forget_calls();
      got.add_up(parts,
                 {.totals = to.get(),
                  .factors = factors.get(),
                  .near = near.get(),
                  .sums = sums.get(),
                  .outputs = outputs,
                  .positions = got.all_positions(),
                  .rows = with_rows ? rows.get().data : nullptr},
                 nullptr);
      EXPECT_EQ(shim_.calls("launch_kernel"), with_rows && outputs > 1 ? 2 : 1);
      return to.read();
    };
    ASSERT_EQ(totals(true), totals(false)) << outputs;
  }
}

TEST_F(CudaFarGridsColumns, ALargerTreeGetsMoreMemory) {
  CudaFarGrids got = grids(kFarGridsCase);
  for (const std::int64_t particles : {100, 500, 200}) {
    test::GridCase of = kFarGridsCase;
    of.particles = particles;
    const test::TwoTrees trees(gpu(), of);
    const FarGrids expected(trees.host, of.order, FarShape::Cube);
    got.set_tree(trees.gpu(), nullptr);
    test::Columns weights = test::random_columns(1, expected.points(), 0.5, 2);
    const test::GpuColumns gpu_weights(gpu(), weights);
    expected.go_up(test::spans(weights), test::kInOrder);
    got.go_up(gpu_weights.get(), 1, got.all_positions(), nullptr);
    test::expect_close(gpu_weights.read(), weights, double(particles), "up");
  }
  test::GridCase huge = kFarGridsCase;
  const test::TwoTrees trees(gpu(), huge);
  CudaFarGrids::Tree tree = trees.gpu();
  tree.cell_count = std::int64_t(1) << 40;
  EXPECT_THROW(got.set_tree(tree, nullptr), DeviceError);
}

}  // namespace
}  // namespace nbcc
