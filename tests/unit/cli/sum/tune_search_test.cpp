// The search for the best configuration, over functions of which the best is known.
#include "cli/sum/tune_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace nbcc {
namespace {

const LaunchConfig kStart{128, 4, 128, 16, 1};

// Made for a search: a function of the configuration, and how often it was asked for what.
struct Machine {
  std::function<std::optional<double>(const LaunchConfig&)> rate;
  std::int64_t nj = 65536;
  int patience = 1000000;  // measurements until the time is up
  int asked = 0;
  std::set<LaunchConfig> seen;

  TuneResult tune(std::vector<LaunchConfig> starts = {kStart}) {
    TuneSearch search;
    search.rate = [&](const LaunchConfig& config) {
      ++asked;
      EXPECT_TRUE(seen.insert(config).second) << "measured twice";
      return rate(config);
    };
    search.spent = [&] { return double(asked) / patience; };
    search.starts = std::move(starts);
    search.nj = nj;
    return search_tuning(search);
  }
};

// Falls from 1 with the distance, in octaves, from a best configuration.
double hill(const LaunchConfig& at, const LaunchConfig& top) {
  const auto octaves = [](int a, int b) { return std::abs(std::log2(double(a) / b)); };
  const double distance = octaves(at.threads, top.threads) + octaves(at.i_per_thread, top.i_per_thread) +
                          octaves(at.j_tile, top.j_tile) + octaves(at.unroll, top.unroll) +
                          octaves(at.j_slices, top.j_slices);
  return std::exp2(-0.3 * distance);
}

TEST(TuneSearch, FindsTheTopOfAHill) {
  for (const LaunchConfig top : {LaunchConfig{512, 1, 64, 4, 8}, {64, 8, 128, 32, 1}, {256, 2, 256, 8, 16}}) {
    Machine machine;
    machine.rate = [&](const LaunchConfig& config) { return hill(config, top); };
    const TuneResult found = machine.tune();
    EXPECT_EQ(found.best, top);
    EXPECT_EQ(found.best.j_splits, 0) << "the model's splits, where others bring nothing";
    EXPECT_DOUBLE_EQ(found.rate, 1);
    EXPECT_FALSE(found.out_of_time);
    EXPECT_EQ(found.measured, machine.asked);
    EXPECT_LT(found.measured, 120);
  }
}

TEST(TuneSearch, BeginsBetweenThePlaces) {
  for (const LaunchConfig top : {LaunchConfig{128, 4, 128, 16, 1}, {128, 2, 128, 8, 1}}) {
    Machine machine;
    machine.rate = [&](const LaunchConfig& config) { return hill(config, top); };
    EXPECT_EQ(machine.tune({{128, 3, 128, 12, 1}}).best, top);
  }
}

// Only the product of threads and i per thread counts: neither gets better alone.
TEST(TuneSearch, GoesAlongTwoNumbersAtOnce) {
  Machine machine;
  machine.rate = [](const LaunchConfig& config) {
    return std::exp2(-std::abs(std::log2(config.threads * config.i_per_thread / 512.0))) + 0.02 * config.i_per_thread;
  };
  const TuneResult found = machine.tune({{512, 1, 128, 16, 1}});
  EXPECT_EQ(found.best.threads, 64);
  EXPECT_EQ(found.best.i_per_thread, 8);
}

TEST(TuneSearch, TriesAllSplitsOfTheBestKernels) {
  Machine machine;
  machine.rate = [](const LaunchConfig& config) {
    return hill(config, kStart) * (config.j_splits == 0 ? 1 : config.j_splits == 12 ? 1.3 : 0.5);
  };
  const TuneResult found = machine.tune();
  EXPECT_EQ(found.best, (LaunchConfig{128, 4, 128, 16, 1, 12}));
  EXPECT_DOUBLE_EQ(found.rate, 1.3);
}

TEST(TuneSearch, NoSplitIsWithoutATile) {
  Machine machine;
  machine.nj = 300;
  machine.rate = [&](const LaunchConfig& config) {
    EXPECT_LE(config.j_splits, (machine.nj + config.j_tile - 1) / config.j_tile);
    return hill(config, kStart);
  };
  machine.tune();
}

TEST(TuneSearch, PassesOverWhatIsNotPossible) {
  Machine machine;
  const LaunchConfig top{256, 1, 128, 16, 4};
  machine.rate = [&](const LaunchConfig& config) -> std::optional<double> {
    // A wall right beside the start, in every direction but along two numbers.
    if (config.i_per_thread == 2 || config.j_slices == 2) return {};
    return hill(config, top);
  };
  EXPECT_EQ(machine.tune().best, top);
}

TEST(TuneSearch, PartialSumsDoNotGrow) {
  Machine machine;
  machine.rate = [](const LaunchConfig& config) {
    EXPECT_LE(config.j_tile, 128 * config.j_slices);
    return double(config.j_tile);
  };
  const TuneResult found = machine.tune();
  EXPECT_EQ(found.best.j_tile, 512);
  EXPECT_GE(found.best.j_slices, 4);
}

TEST(TuneSearch, StopsWhenTheTimeIsUp) {
  for (const int patience : {1, 2, 5, 20}) {
    Machine machine;
    machine.patience = patience;
    machine.rate = [](const LaunchConfig& config) { return hill(config, {512, 1, 64, 4, 8}); };
    const TuneResult found = machine.tune();
    EXPECT_LE(found.measured, patience);
    EXPECT_TRUE(found.out_of_time);
    EXPECT_GE(found.rate, hill(kStart, {512, 1, 64, 4, 8}));
  }
}

TEST(TuneSearch, BeginsAtTheBestStart) {
  Machine machine;
  machine.patience = 2;
  const LaunchConfig other{64, 1, 128, 8, 2};
  machine.rate = [&](const LaunchConfig& config) { return config == other ? 2.0 : 1.0; };
  EXPECT_EQ(machine.tune({kStart, other}).best, other);
}

// Two in a thousand up and down: a search that followed it would wander through all of them.
TEST(TuneSearch, NoiseDoesNotLeadIt) {
  Machine machine;
  std::uint64_t state = 1;
  machine.rate = [&](const LaunchConfig&) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 1 + 0.002 * (double(state >> 40) / double(1 << 24) - 0.5);
  };
  EXPECT_EQ(machine.tune().best, kStart);
}

TEST(TuneSearch, WhereNothingIsPossibleNothingIsFound) {
  Machine machine;
  machine.rate = [](const LaunchConfig&) { return std::optional<double>(); };
  EXPECT_EQ(machine.tune().rate, 0);
}

}  // namespace
}  // namespace nbcc
