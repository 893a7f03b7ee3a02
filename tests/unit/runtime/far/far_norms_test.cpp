// Changes of weights that one factor explains, and others.
#include "runtime/far/far_norms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace nbcc {
namespace {

constexpr std::int64_t kNormed = 3000;

// Weights of two components, and what is kept of them.
struct Weights {
  std::vector<std::vector<double>> columns{std::vector<double>(kNormed), std::vector<double>(kNormed)};
  std::vector<std::int64_t> order = std::vector<std::int64_t>(kNormed);
  std::vector<FarNorms> norms;

  explicit Weights(unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (std::vector<double>& column : columns)
      for (double& w : column) w = normal(random);
    keep();
  }
  std::vector<std::span<double>> spans() { return {columns.begin(), columns.end()}; }
  void keep() {
    std::iota(order.begin(), order.end(), 0);
    norms = norms_of(spans(), order);
  }
  FarChange change() { return change_of(norms_of(spans(), order), norms); }
};

TEST(FarNorms, BlocksHaveNearlyTheSameNumberOfParticles) {
  for (const std::int64_t n : {0, 1, 511, 512, 1023, 1024, 3000}) {
    const FarBlocks blocks{n};
    EXPECT_EQ(blocks.first(0), 0);
    EXPECT_EQ(blocks.first(blocks.count()), n);
    for (std::int64_t block = 0; block < blocks.count(); ++block)
      EXPECT_GE(blocks.first(block + 1) - blocks.first(block), std::min<std::int64_t>(n, FarBlocks::kLeast));
  }
}

TEST(FarNorms, OneFactorIsARescaling) {
  Weights weights(1);
  EXPECT_TRUE(weights.change().is_rescaling(1, true));
  for (std::vector<double>& column : weights.columns)
    for (double& w : column) w *= 1e-9;
  EXPECT_TRUE(weights.change().is_rescaling(1, false));
  EXPECT_FALSE(weights.change().is_rescaling(2, true));
  for (double& w : weights.columns[1]) w *= 1.5;  // one component alone
  EXPECT_FALSE(weights.change().is_rescaling(1.4, false));
  EXPECT_TRUE(weights.change().is_rescaling(1.6, false));
}

TEST(FarNorms, OtherDrawsOfOneDistributionAreARescaling) {
  Weights weights(1);
  weights.columns = Weights(2).columns;
  EXPECT_TRUE(weights.change().is_rescaling(1.4, false));
}

TEST(FarNorms, AreOfBlocks) {
  Weights weights(1);
  for (std::size_t j = 0; j < 600; ++j) weights.columns[0][j] *= 3;
  EXPECT_FALSE(weights.change().is_rescaling(2, false));
}

TEST(FarNorms, OneHeavyWeightIsNone) {
  Weights weights(1);
  for (std::vector<double>& column : weights.columns) std::ranges::fill(column, 1);
  weights.keep();
  for (std::vector<double>& column : weights.columns) std::ranges::fill(column, 1e-12);
  weights.columns[0][7] = 1;
  EXPECT_FALSE(weights.change().is_rescaling(2, false));
  // The sums of |w| are those of before; a few weights have all of them.
  std::ranges::fill(weights.columns[1], 1);
  for (std::size_t j = 0; j < kNormed; ++j) weights.columns[0][j] = j % 100 == 0 ? 100 : 0;
  EXPECT_FALSE(weights.change().is_rescaling(2, false));
}

TEST(FarNorms, SignsAreSeen) {
  Weights weights(1);
  std::mt19937_64 random(2);
  for (std::vector<double>& column : weights.columns) std::ranges::fill(column, 1);
  weights.keep();
  for (double& w : weights.columns[0]) w = (random() & 1) != 0 ? 1 : -1;
  EXPECT_FALSE(weights.change().is_rescaling(2, false));
}

TEST(FarNorms, ZeroAndTinyWeights) {
  Weights weights(1);
  for (std::vector<double>& column : weights.columns) std::ranges::fill(column, 0);
  EXPECT_TRUE(weights.change().is_rescaling(1, false));  // the sums are exactly 0
  weights.keep();
  EXPECT_TRUE(weights.change().is_rescaling(1, true));
  weights.columns[1][5] = 1;
  EXPECT_FALSE(weights.change().is_rescaling(2, false));
  std::ranges::fill(weights.columns[1], 1e-200);  // the squares are 0
  weights.keep();
  weights.columns[1][5] = 1e-190;
  EXPECT_FALSE(weights.change().is_rescaling(2, false));
}

}  // namespace
}  // namespace nbcc
