#include "runtime/cuda/driver/choose_launch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace nbcc {
namespace {

constexpr CudaOccupancy kH200{.multiprocessors = 132, .resident_blocks = 4, .rates = {}};

KernelSource kernel(int outputs, int pair_statements, std::vector<LaunchConfig> launches, bool cutoff = false) {
  KernelSource source;
  source.accumulators.resize(std::size_t(outputs));
  source.on_gpu.statements = pair_statements;
  source.variants = {{Frame::AllPairs, "", std::move(launches)}};
  source.on_gpu.cutoff = cutoff;
  return source;
}

// Gravity in single precision.
KernelSource gravity() {
  return kernel(3, 14,
                {{128, 4, 128, 32, 1},
                 {128, 2, 128, 32, 1},
                 {256, 2, 512, 32, 4},
                 {256, 1, 256, 32, 2},
                 {256, 1, 512, 32, 8},
                 {256, 1, 512, 32, 32}});
}

LaunchConfig of_gravity(std::int64_t ni, std::int64_t nj) {
  const KernelSource source = gravity();
  return choose_launch(source, source.first().launches, kH200, ni, nj);
}

// Compute capabilities 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 and 12.0: a multiprocessor has 64 or 128 lanes for floats; doubles
// are as fast as the driver says, here 2, 32, 4, 2, 64, 64 and 2 a clock cycle.
TEST(ChooseLaunch, RatesAreRelativeToThoseOfComputeCapability90) {
  struct Row {
    int capability, ratio;
    double float_slots, double_slots;
  };
  for (const Row& row : {Row{75, 32, 2, 32}, Row{80, 2, 2, 2}, Row{86, 64, 1, 32}, Row{89, 64, 1, 32}, Row{90, 2, 1, 1},
                         Row{100, 2, 1, 1}, Row{120, 64, 1, 32}}) {
    const CudaRates rates = cuda_rates(row.capability, row.ratio);
    EXPECT_EQ(rates.float_slots, row.float_slots) << row.capability;
    EXPECT_EQ(rates.double_slots, row.double_slots) << row.capability;
  }
  KernelSource source = gravity();
  EXPECT_EQ(slots_per_pair(source, cuda_rates(75, 32)), 28);
  source.on_gpu.doubles = 4;
  EXPECT_EQ(slots_per_pair(source, cuda_rates(90, 2)), 14);
  EXPECT_EQ(slots_per_pair(source, cuda_rates(120, 64)), 10 + 4 * 32);
}

TEST(ChooseLaunch, SlowArithmeticIsPredictedToTakeLonger) {
  KernelSource source = gravity();
  source.on_gpu.doubles = source.on_gpu.statements;
  const LaunchConfig config = of_gravity(100'000, 100'000);
  const CudaOccupancy slow{132, 4, cuda_rates(120, 64)};
  const double ratio =
      predict_cycles(source, config, slow, 100'000, 100'000) / predict_cycles(source, config, kH200, 100'000, 100'000);
  EXPECT_GT(ratio, 20);
  EXPECT_LE(ratio, 32);
}

// Slices of a launch keep the GPU as busy as the launch does, and take as long as they may at most, where they can.
TEST(ChooseLaunch, SlicesAreShortAndFillTheGpu) {
  const KernelSource source = gravity();
  constexpr double kHertz = 1.8e9, kLongest = 0.2;
  for (const std::int64_t nj : {1'000, 30'000, 1'000'000, 30'000'000}) {
    for (const std::int64_t ni : {1'000, 300'000, 1'000'000, 30'000'000}) {
      SCOPED_TRACE(std::to_string(ni) + " x " + std::to_string(nj));
      const LaunchConfig config = of_gravity(ni, nj);
      const auto seconds = [&](std::int64_t of_i) { return predict_cycles(source, config, kH200, of_i, nj) / kHertz; };
      const std::int64_t slice = choose_slice(source, config, kH200, ni, nj, kLongest * kHertz);
      ASSERT_GT(slice, 0);
      if (seconds(ni) <= kLongest) {
        EXPECT_EQ(slice, ni);
        continue;
      }
      EXPECT_EQ(slice % config.i_per_block(), 0);
      EXPECT_LE(seconds(slice), nj <= 1'000'000 ? kLongest : 3.0);
      const auto slices = double(ni / slice), rest = double(ni % slice);
      EXPECT_LE(slices * seconds(slice) + (rest > 0 ? seconds(std::int64_t(rest)) : 0),
                1.15 * seconds(ni) + kLongest / 10);
    }
  }
}

struct Row {
  std::int64_t ni, nj;
  int i_per_thread, j_slices;
  int least_splits, most_splits;
};

// Measured: the fastest, or within some per cent of it.
TEST(ChooseLaunch, GravityAsMeasured) {
  for (const Row& row :
       {Row{8, 131072, 1, 32, 64, 256}, Row{64, 131072, 1, 8, 64, 128}, Row{1024, 131072, 2, 4, 16, 64},
        Row{2048, 2048, 1, 2, 8, 8}, Row{8192, 8192, 2, 4, 4, 8}, Row{16384, 16384, 4, 1, 8, 16},
        Row{131072, 131072, 4, 1, 12, 64}, Row{262144, 262144, 4, 1, 8, 64}}) {
    const LaunchConfig config = of_gravity(row.ni, row.nj);
    SCOPED_TRACE(std::to_string(row.ni) + " x " + std::to_string(row.nj) + ": " + std::to_string(config.j_splits));
    EXPECT_EQ(config.i_per_thread, row.i_per_thread);
    EXPECT_EQ(config.j_slices, row.j_slices);
    EXPECT_GE(config.j_splits, row.least_splits);
    EXPECT_LE(config.j_splits, row.most_splits);
  }
}

// Hits lie in few tiles: what keeps all multiprocessors busy to the end are small splits, or as many blocks as are
// resident at once, of short tiles where there are few.
TEST(ChooseLaunch, BehindACutoffAsMeasured) {
  const auto configs = [](int i) {
    return std::vector<LaunchConfig>{{128, i, 256, 32, 1},     {128, i / 2, 256, 32, 1}, {256, i / 2, 512, 32, 4},
                                     {128, i / 2, 128, 32, 1}, {128, i, 128, 32, 1},     {256, 1, 512, 32, 2},
                                     {256, 1, 512, 32, 8},     {256, 1, 512, 32, 32}};
  };
  const KernelSource lennard_jones = kernel(5, 11, configs(2), true), sph_force = kernel(5, 7, configs(4), true);
  const auto expect = [](const KernelSource& source, int resident, std::int64_t n, int i_per_thread, int j_slices,
                         int least_splits) {
    const LaunchConfig config = choose_launch(source, source.first().launches, {132, resident}, n, n);
    SCOPED_TRACE(std::to_string(n) + ": " + std::to_string(config.j_splits));
    EXPECT_EQ(config.i_per_thread, i_per_thread);
    EXPECT_EQ(config.j_slices, j_slices);
    EXPECT_GE(config.j_splits, least_splits);
  };
  expect(lennard_jones, 8, 4096, 1, 2, 8);
  expect(lennard_jones, 8, 13824, 1, 2, 12);
  expect(lennard_jones, 8, 262144, 2, 1, 16);
  expect(sph_force, 4, 4096, 1, 2, 8);
  expect(sph_force, 4, 13824, 4, 1, 12);
  expect(sph_force, 4, 64000, 4, 1, 24);
}

TEST(ChooseLaunch, NothingToShareOutIsOneSplit) {
  EXPECT_EQ(of_gravity(1, 0).j_splits, 1);
  EXPECT_EQ(of_gravity(1, 100).j_splits, 1);
}

// They would need much memory, and bring nothing.
TEST(ChooseLaunch, ManyIAreOneSplit) { EXPECT_EQ(of_gravity(1'000'000'000, 1'000'000).j_splits, 1); }

TEST(ChooseLaunch, NoSplitIsWithoutATile) {
  for (const std::int64_t nj : {0, 1, 127, 128, 129, 1000, 5000}) {
    const LaunchConfig config = of_gravity(10, nj);
    EXPECT_LE(config.j_splits, std::max<std::int64_t>(1, (nj + config.j_tile - 1) / config.j_tile)) << nj;
  }
}

// What is not among the configurations is not chosen.
TEST(ChooseLaunch, OneConfigurationGetsItsSplits) {
  const KernelSource source = gravity();
  const LaunchConfig config = choose_launch(source, {source.first().launches.data(), 1}, kH200, 2048, 2048);
  EXPECT_EQ(config.compiled(), source.first().launches.front());
  EXPECT_GT(config.j_splits, 1);
}

}  // namespace
}  // namespace nbcc
