// The search for the best cut, over functions of which the best is known.
#include "cli/tune_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace nbcc {
namespace {

const CudaTuning kStart{{128, 4, 128, 16, 1}, 0};

// Made for a search: a function of the cut, and how often it was asked for what.
struct Machine {
  std::function<std::optional<double>(const CudaTuning&)> rate;
  std::int64_t nj = 65536;
  int patience = 1000000;  // measurements until the time is up
  int asked = 0;
  std::set<CudaTuning> cuts;

  TuneFound tune(std::vector<CudaTuning> starts = {kStart}) {
    TuneSearch search;
    search.rate = [&](const CudaTuning& cut) {
      ++asked;
      EXPECT_TRUE(cuts.insert(cut).second) << "measured twice: " << describe(cut);
      return rate(cut);
    };
    search.spent = [&] { return double(asked) / patience; };
    search.starts = std::move(starts);
    search.nj = nj;
    return search_tuning(search);
  }
};

// Falls from 1 with the distance, in octaves, from a best shape.
double hill(const CudaShape& shape, const CudaShape& top) {
  const auto octaves = [](int a, int b) { return std::abs(std::log2(double(a) / b)); };
  const double distance = octaves(shape.threads, top.threads) + octaves(shape.i_per_thread, top.i_per_thread) +
                          octaves(shape.j_tile, top.j_tile) + octaves(shape.unroll, top.unroll) +
                          octaves(shape.lanes, top.lanes);
  return std::exp2(-0.3 * distance);
}

TEST(TuneSearch, FindsTheTopOfAHill) {
  for (const CudaShape top : {CudaShape{512, 1, 64, 4, 8}, {64, 8, 128, 32, 1}, {256, 2, 256, 8, 16}}) {
    Machine machine;
    machine.rate = [&](const CudaTuning& cut) { return hill(cut.shape, top); };
    const TuneFound found = machine.tune();
    EXPECT_EQ(found.best.shape, top);
    EXPECT_EQ(found.best.parts, 0) << "the model's parts, where others bring nothing";
    EXPECT_DOUBLE_EQ(found.rate, 1);
    EXPECT_FALSE(found.out_of_time);
    EXPECT_EQ(found.measured, machine.asked);
    EXPECT_LT(found.measured, 120);
  }
}

TEST(TuneSearch, BeginsBetweenThePlaces) {
  for (const CudaShape top : {CudaShape{128, 4, 128, 16, 1}, {128, 2, 128, 8, 1}}) {
    Machine machine;
    machine.rate = [&](const CudaTuning& cut) { return hill(cut.shape, top); };
    EXPECT_EQ(machine.tune({{{128, 3, 128, 12, 1}, 0}}).best.shape, top);
  }
}

// Only the product of threads and i per thread counts: neither gets better alone.
TEST(TuneSearch, GoesAlongTwoNumbersAtOnce) {
  Machine machine;
  machine.rate = [](const CudaTuning& cut) {
    const CudaShape& s = cut.shape;
    return std::exp2(-std::abs(std::log2(s.threads * s.i_per_thread / 512.0))) + 0.02 * s.i_per_thread;
  };
  const TuneFound found = machine.tune({{{512, 1, 128, 16, 1}, 0}});
  EXPECT_EQ(found.best.shape.threads, 64);
  EXPECT_EQ(found.best.shape.i_per_thread, 8);
}

TEST(TuneSearch, TriesAllPartsOfTheBestShapes) {
  Machine machine;
  machine.rate = [](const CudaTuning& cut) {
    return hill(cut.shape, kStart.shape) * (cut.parts == 0 ? 1 : cut.parts == 12 ? 1.3 : 0.5);
  };
  const TuneFound found = machine.tune();
  EXPECT_EQ(found.best, (CudaTuning{kStart.shape, 12}));
  EXPECT_DOUBLE_EQ(found.rate, 1.3);
}

TEST(TuneSearch, NoPartIsWithoutATile) {
  Machine machine;
  machine.nj = 300;
  machine.rate = [&](const CudaTuning& cut) {
    EXPECT_LE(cut.parts, (machine.nj + cut.shape.j_tile - 1) / cut.shape.j_tile);
    return hill(cut.shape, kStart.shape);
  };
  machine.tune();
}

TEST(TuneSearch, PassesOverWhatIsNotPossible) {
  Machine machine;
  const CudaShape top{256, 1, 128, 16, 4};
  machine.rate = [&](const CudaTuning& cut) -> std::optional<double> {
    // A wall right beside the start, in every direction but along two numbers.
    if (cut.shape.i_per_thread == 2 || cut.shape.lanes == 2) return {};
    return hill(cut.shape, top);
  };
  EXPECT_EQ(machine.tune().best.shape, top);
}

TEST(TuneSearch, PartialSumsDoNotGrow) {
  Machine machine;
  machine.rate = [](const CudaTuning& cut) {
    EXPECT_LE(cut.shape.j_tile, 128 * cut.shape.lanes);
    return double(cut.shape.j_tile);
  };
  const TuneFound found = machine.tune();
  EXPECT_EQ(found.best.shape.j_tile, 512);
  EXPECT_GE(found.best.shape.lanes, 4);
}

TEST(TuneSearch, StopsWhenTheTimeIsUp) {
  for (const int patience : {1, 2, 5, 20}) {
    Machine machine;
    machine.patience = patience;
    machine.rate = [](const CudaTuning& cut) { return hill(cut.shape, {512, 1, 64, 4, 8}); };
    const TuneFound found = machine.tune();
    EXPECT_LE(found.measured, patience);
    EXPECT_TRUE(found.out_of_time);
    EXPECT_GE(found.rate, hill(kStart.shape, {512, 1, 64, 4, 8}));
  }
}

TEST(TuneSearch, BeginsAtTheBestStart) {
  Machine machine;
  machine.patience = 2;
  const CudaTuning other{{64, 1, 128, 8, 2}, 0};
  machine.rate = [&](const CudaTuning& cut) { return cut == other ? 2.0 : 1.0; };
  EXPECT_EQ(machine.tune({kStart, other}).best, other);
}

// Two in a thousand up and down: a search that followed it would wander through all shapes.
TEST(TuneSearch, NoiseDoesNotLeadIt) {
  Machine machine;
  std::uint64_t state = 1;
  machine.rate = [&](const CudaTuning&) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 1 + 0.002 * (double(state >> 40) / double(1 << 24) - 0.5);
  };
  EXPECT_EQ(machine.tune().best, kStart);
}

TEST(TuneSearch, WhereNothingIsPossibleNothingIsFound) {
  Machine machine;
  machine.rate = [](const CudaTuning&) { return std::optional<double>(); };
  EXPECT_EQ(machine.tune().rate, 0);
}

}  // namespace
}  // namespace nbcc
