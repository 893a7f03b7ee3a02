// The tree of the simulated GPU against the tree of the host.
#include "runtime/cuda/far/cuda_far_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/far/cuda_far_source.h"
#include "runtime/error.h"
#include "runtime/far/far_tree.h"
#include "tests/support/expect_far_tree.h"
#include "tests/support/far_device.h"
#include "tests/support/installed_nvrtc.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CudaFarTreeTest : public testing::Test {
 protected:
  std::vector<double> uniform(std::int64_t count, int axes) {
    std::uniform_real_distribution<double> distribution(-1, 3);
    std::vector<double> positions(std::size_t(count * axes));
    for (double& x : positions) x = distribution(random_);
    return positions;
  }
  // Many close to the origin, few far away: a deep tree.
  std::vector<double> clustered(std::int64_t count, int axes) {
    std::vector<double> positions = uniform(count, axes);
    for (double& x : positions) x = std::copysign(std::pow(std::fabs(x), 9), x);
    return positions;
  }

  // Builds both trees with the first leaf size, then splits again with the others.
  void compare(const std::vector<double>& positions, int axes, const std::vector<std::int64_t>& chosen,
               const std::vector<int>& leaves) {
    const auto device_positions = send(here_.gpu(), positions);
    const auto device_chosen = send(here_.gpu(), chosen);
    const std::int64_t count = chosen.empty() ? std::int64_t(positions.size()) / axes : std::int64_t(chosen.size());
    CudaFarTree& tree = trees_[axes - 1];
    FarTree expected;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      SCOPED_TRACE("leaf " + std::to_string(leaves[k]));
      if (k == 0) {
        tree.build(address_of(device_positions), chosen.empty() ? 0 : address_of(device_chosen), count, leaves[k],
                   nullptr);
        expected.build(positions, axes, chosen, leaves[k], in_order);
      } else {
        tree.split_again(leaves[k], nullptr);
        expected.split_again(leaves[k], in_order);
      }
      EXPECT_TRUE(tree.is_finite());
      expect_far_tree(here_.gpu(), tree, expected);
    }
  }

  FarDevice here_;
  CudaRadixSort sort_{here_.kernel()};
  CudaFarTree trees_[3] = {{here_.kernel(), 1, sort_}, {here_.kernel(), 2, sort_}, {here_.kernel(), 3, sort_}};
  std::mt19937_64 random_{7};
};

TEST_F(CudaFarTreeTest, IsTheTreeOfTheHost) {
  int seed = 0;
  for (const int axes : {1, 2, 3}) {
    for (const std::int64_t count : {1, 33, 2049, 5003}) {
      SCOPED_TRACE(std::to_string(axes) + " axes, " + std::to_string(count) + " particles");
      const ShimOrder::Kind kinds[] = {ShimOrder::Kind::Forward, ShimOrder::Kind::Backward, ShimOrder::Kind::Shuffled};
      here_.shim.set_block_order({kinds[seed % 3], std::uint64_t(seed)});
      here_.shim.set_thread_order({kinds[seed / 3 % 3], std::uint64_t(seed)});
      ++seed;
      compare(uniform(count, axes), axes, {}, {32});
      compare(clustered(count, axes), axes, {}, {100, 7});
    }
  }
}

TEST_F(CudaFarTreeTest, SplitsDownToOneParticle) {
  // More cells than the first guess of their number: one particle more in each cell than `leaf` allows.
  std::vector<double> positions;
  for (int k = 0; k < 1500; ++k) positions.push_back(k);
  compare(positions, 1, {}, {1, 0, 2, 5000, 1});
  compare(clustered(1500, 3), 3, {}, {1, 3});
}

TEST_F(CudaFarTreeTest, TakesMoreMemoryForMoreCellsThanExpected) {
  // Cells of 65 particles and chains of cells that split off one particle each.
  std::vector<double> positions;
  for (int group = 0; group < 64; ++group) {
    for (int k = 0; k < 60; ++k) positions.push_back(group);
    for (int k = 1; k < 23; ++k) positions.push_back(group + std::ldexp(0.75, -k));
  }
  const auto on_device = send(here_.gpu(), positions);
  const auto waits = [&] {
    here_.shim.forget_calls();
    trees_[0].build(address_of(on_device), 0, std::int64_t(positions.size()), 62, nullptr);
    return here_.shim.calls("stream_synchronize");
  };
  EXPECT_EQ(waits(), 2);
  EXPECT_EQ(waits(), 1);
  compare(positions, 1, {}, {62});
}

TEST_F(CudaFarTreeTest, ParticlesOfOnePositionAreOneLeaf) {
  std::vector<double> positions(3 * 700, 0.5);
  compare(positions, 3, {}, {16});
  std::fill(positions.begin(), positions.end(), 0.0);
  compare(positions, 3, {}, {16});
  for (std::size_t k = 0; k < positions.size() / 2; ++k) positions[k] = double(k % 3);
  compare(positions, 3, {}, {16, 1});
  const std::vector<double> line(4000, 2.0);
  compare(line, 2, {}, {8});
}

TEST_F(CudaFarTreeTest, TakesChosenParticles) {
  const std::vector<double> positions = uniform(4000, 3);
  std::vector<std::int64_t> chosen(4000);
  std::iota(chosen.begin(), chosen.end(), 0);
  std::ranges::shuffle(chosen, random_);
  for (const std::size_t count : {1, 2100, 4000}) {
    chosen.resize(count);
    compare(positions, 3, chosen, {20});
    chosen.resize(4000);
  }
  // A non-finite position of another particle is no matter.
  std::vector<double> others = positions;
  others[0] = std::numeric_limits<double>::quiet_NaN();
  compare(others, 3, {5, 3, 9, 3, 100}, {1});
}

TEST_F(CudaFarTreeTest, NonFinitePositionsAreReported) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  CudaFarTree& tree = trees_[2];
  for (const double value : {kInfinite, -kInfinite, std::numeric_limits<double>::quiet_NaN()}) {
    for (const bool all : {false, true}) {
      std::vector<double> positions = uniform(3000, 3);
      if (all) std::fill(positions.begin(), positions.end(), value);
      positions[4567] = value;
      const auto on_device = send(here_.gpu(), positions);
      tree.build(address_of(on_device), 0, 3000, 32, nullptr);
      EXPECT_FALSE(tree.is_finite());
    }
  }
  // The positions are finite, but their difference overflows: one cell, as on the host.
  const auto on_device = send(here_.gpu(), std::vector<double>{-1e308, 0, 0, 1e308, 0, 0});
  tree.build(address_of(on_device), 0, 2, 1, nullptr);
  EXPECT_TRUE(tree.is_finite());
  EXPECT_EQ(tree.cell_count(), 1);
}

TEST_F(CudaFarTreeTest, RunsAreEqualAndWaitOnce) {
  here_.shim.set_lazy(true);
  const std::vector<double> positions = clustered(6000, 3);
  const auto on_device = send(here_.gpu(), positions);
  CudaFarTree& tree = trees_[2];
  tree.build(address_of(on_device), 0, 6000, 40, nullptr);
  const auto bytes_of = [&] {
    return fetch<char>(here_.gpu(), reinterpret_cast<std::uintptr_t>(tree.cells()),
                       std::size_t(tree.cell_count()) * sizeof(far_data::FarCell));
  };
  const std::vector<char> first = bytes_of();
  here_.shim.set_block_order({ShimOrder::Kind::Shuffled, 5});
  here_.shim.set_thread_order({ShimOrder::Kind::Shuffled, 6});
  here_.shim.forget_calls();
  tree.build(address_of(on_device), 0, 6000, 40, nullptr);
  EXPECT_EQ(here_.shim.calls("stream_synchronize"), 1);
  EXPECT_EQ(here_.shim.calls("memset_d32_async"), 0);
  EXPECT_EQ(here_.shim.calls("mem_alloc"), 0);
  EXPECT_EQ(bytes_of(), first);
}

TEST_F(CudaFarTreeTest, TellsThatMemoryDoesNotSuffice) {
  const auto on_device = send(here_.gpu(), uniform(3000, 3));
  for (int k = 1; k <= 3; ++k) {
    CudaFarTree tree(here_.kernel(), 3, sort_);
    here_.shim.fail_from("mem_alloc", k, kCudaOutOfMemory);
    EXPECT_THROW(tree.build(address_of(on_device), 0, 3000, 32, nullptr), DeviceError);
    here_.shim.succeed("mem_alloc");
    tree.build(address_of(on_device), 0, 3000, 32, nullptr);
    EXPECT_GT(tree.cell_count(), 100);
  }
}

TEST(CudaFarSource, IsCompiledWithoutWarningsAndSpilledRegisters) {
  NBCC_NEEDS_NVRTC();
  std::vector<KernelSource> sources{
      cuda_far_source("sort", "", {"cuda_far_blocks.cuh", "cuda_onesweep.cuh", "cuda_radix_sort.cu"})};
  for (const char* axes : {"#define NBCC_AXES 1\n", "#define NBCC_AXES 3\n"})
    sources.push_back(cuda_far_source("tree", axes, {"cuda_far_blocks.cuh", "cuda_far_tree.cu"}));
  sources.push_back(cuda_far_source("grids", "#define NBCC_AXES 3\n#define NBCC_ORDER 6\n", {"cuda_far_grids.cu"}));
  // NVRTC is slow: of the tree, one architecture for each number of axes.
  for (const auto& [k, architecture] : {std::pair{std::size_t(0), "sm_75"},
                                        {std::size_t(0), "sm_90"},
                                        {std::size_t(1), "sm_75"},
                                        {std::size_t(2), "sm_90"},
                                        {std::size_t(3), "sm_90"}}) {
    const CudaCode code = installed_nvrtc()->compile(sources[k].first().source, architecture, {});
    EXPECT_THAT(code.log, HasSubstr("bytes spill stores"));
    EXPECT_FALSE(std::regex_search(code.log, std::regex("[1-9][0-9]* bytes spill"))) << code.log;
    EXPECT_THAT(code.log, Not(HasSubstr("warning")));
  }
}

}  // namespace
}  // namespace nbcc::test
