// Searches of one set that compute each pair once, against sums over all pairs of the same kernel: counts and extremes
// must be equal exactly, in every metric, for every kind of reach, and wherever particles are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"
#include "tests/support/neighbour_cases.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

using namespace test;
using NamedColumns = std::map<std::string, std::vector<double>>;

NamedColumns run_one_set(Sum& sum, const Pipeline& pipeline, NeighbourCase& c) {
  sum.bind("xj", rows(c.xi, 3)).bind("vj", rows(c.vi, 3)).bind("hj", rows(c.hi, 1)).bind("kj", rows(c.ki, 1));
  sum.set("rc", c.rc).set("box", c.box).offsets(c.i_offset, c.i_offset);
  sum.set("la", c.cell[0]).set("lb", c.cell[1]).set("lc", c.cell[2]);
  sum.bind("xi", rows(c.xi, 3)).bind("vi", rows(c.vi, 3)).bind("hi", rows(c.hi, 1)).bind("ki", rows(c.ki, 1));
  NamedColumns results;
  for (const Field& field : pipeline.fields()) {
    if (field.role != NBCC_OUTPUT) continue;
    results[field.name].assign(std::size_t(c.ni), -77);
    sum.bind(field.name, rows(results[field.name], 1));
  }
  sum.run();
  for (auto& [name, values] : results) test::make_comparable(values);
  return results;
}

bool each_pair_was_once(Sum& sum) {
  return std::string(sum.statistics().reason).find("each pair once") != std::string::npos;
}

class HalfLists : public testing::TestWithParam<std::size_t> {};

// Particles that a lattice, a cluster or a box puts anywhere, with and without kept lists.
TEST_P(HalfLists, GiveWhatAllPairsGive) {
  const Metric& metric = kMetrics[GetParam() / std::size(kReaches)];
  const ReachOf& reach = kReaches[GetParam() % std::size(kReaches)];
  int once = 0;
  const auto precisions = test::sampled({NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}, 3, GetParam());
  for (const nbcc_precision precision : precisions) {
    PipelineOptions options;
    options.precision = precision;
    options.math = precision == NBCC_MIXED ? NBCC_PRECISE : NBCC_FAST;
    DeviceOptions threads;
    threads.threads = 1 + int(precision);
    const Device device("cpu", threads);
    const test::Guard& guard = kGuards[(GetParam() + std::size_t(precision)) % std::size(kGuards)];
    std::string text = test::text_without_indices_of(metric, reach, &guard);
    const std::string skip = "skip_if(i_index == j_index);";
    if (GetParam() % 2 == 1) text.erase(text.find(skip), skip.size());  // i is its own neighbour
    const Pipeline pipeline = Pipeline::from_text(device, text, "once", options);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      NeighbourCase c = random_case(seed * 3 + std::uint64_t(precision));
      SCOPED_TRACE(std::string(metric.name) + ", " + reach.name + ", " + guard.name + ", seed " + std::to_string(seed) +
                   ", precision " + std::to_string(int(precision)) + ", " + std::to_string(c.ni));
      Sum all(pipeline), found(pipeline);
      all.pairs(NBCC_PAIRS_ALL).symmetric(NBCC_SYMMETRIC_ALWAYS);  // the same kernel, which rounds alike
      found.pairs(NBCC_PAIRS_CUTOFF).symmetric(NBCC_SYMMETRIC_ALWAYS).skin(seed % 2 == 0 ? 0.1 : 0);
      if (c.ni == 0) continue;
      if (seed % 5 == 3) c.hi[0] = std::numeric_limits<double>::quiet_NaN();
      for (int run = 0; run < 3; ++run) {
        NamedColumns is = run_one_set(found, pipeline, c), expected = run_one_set(all, pipeline, c);
        // The order of the particles decides which of a pair is i; where positions are computed, the difference of j
        // and i is not rounded as that of i and j.
        for (std::size_t k = 0; k < is["least"].size() && metric.name == std::string("moving"); ++k)
          if (std::fabs(is["least"][k] - expected["least"][k]) <= 1e-5 + 1e-4 * std::fabs(expected["least"][k]))
            is["least"][k] = expected["least"][k];
        EXPECT_EQ(is, expected) << found.statistics().reason;
        once += each_pair_was_once(found);
        for (double& x : c.xi) x += run == 0 ? 0.01 : 0;
      }
    }
  }
  EXPECT_GT(once, 20 * int(precisions.size()));
}

INSTANTIATE_TEST_SUITE_P(All, HalfLists,
                         testing::ValuesIn(test::sampled_range(std::size_t(0),
                                                               std::size(kMetrics) * std::size(kReaches), 6)),
                         [](const auto& info) {
                           return std::string(kMetrics[info.param / std::size(kReaches)].name) + "_" +
                                  kReaches[info.param % std::size(kReaches)].name;
                         });

// Statistics are those of all runs, whichever method a run had.
TEST(HalfListSums, CountRunsWithEachPairOnceAndFromBothEnds) {
  NeighbourCase c;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(0, 5);
  c.ni = 600;
  for (std::int64_t k = 0; k < 3 * c.ni; ++k) c.xi.push_back(place(random)), c.vi.push_back(0);
  for (std::int64_t k = 0; k < c.ni; ++k) c.hi.push_back(1), c.ki.push_back(double(k % 7));
  const Device device("cpu");
  const Pipeline pipeline =
      Pipeline::from_text(device, test::text_without_indices_of(kMetrics[0], kReaches[0]), "runs");
  Sum sum(pipeline);
  run_one_set(sum.pairs(NBCC_PAIRS_CUTOFF).symmetric(NBCC_SYMMETRIC_ALWAYS), pipeline, c);
  const std::int64_t once = sum.statistics().pairs_tested, within = sum.statistics().pairs_within;
  EXPECT_EQ(sum.statistics().runs, 1);
  EXPECT_GT(within, c.ni);
  run_one_set(sum.symmetric(NBCC_SYMMETRIC_OFF), pipeline, c);
  EXPECT_EQ(sum.statistics().runs, 2);
  EXPECT_GT(sum.statistics().pairs_tested, 2 * once);
  EXPECT_EQ(sum.statistics().pairs_within, within);
  run_one_set(sum.pairs(NBCC_PAIRS_ALL), pipeline, c);
  EXPECT_EQ(sum.statistics().runs, 2);
  EXPECT_EQ(sum.statistics().pairs_within, 0);
}

// Lists of so many neighbours that a call of the kernel does not take them all, on any number of threads.
TEST(HalfListSums, OfManyNeighboursHaveEachPairOnce) {
  NeighbourCase c;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(0, 5);
  c.ni = 7003;
  c.box = {5, 5, 5};
  c.rc = 2.2;
  for (std::int64_t k = 0; k < 3 * c.ni; ++k)
    c.xi.push_back(std::round(place(random) * 4096) / 4096), c.vi.push_back(0);
  for (std::int64_t k = 0; k < c.ni; ++k) c.hi.push_back(1), c.ki.push_back(double(k % 7));
  NamedColumns expected;
  for (const int threads : {1, 2, 3}) {
    DeviceOptions some;
    some.threads = threads;
    const Device device("cpu", some);
    const Pipeline pipeline =
        Pipeline::from_text(device, test::text_without_indices_of(kMetrics[1], kReaches[0]), "many");
    Sum sum(pipeline);
    if (expected.empty()) expected = run_one_set(sum.pairs(NBCC_PAIRS_ALL).symmetric(NBCC_SYMMETRIC_OFF), pipeline, c);
    EXPECT_EQ(run_one_set(sum.pairs(NBCC_PAIRS_CUTOFF).symmetric(NBCC_SYMMETRIC_AUTO), pipeline, c), expected);
    EXPECT_TRUE(each_pair_was_once(sum)) << sum.statistics().reason;
    EXPECT_LT(sum.statistics().pairs_tested, c.ni * c.ni * 6 / 10);
    std::int64_t within = 0;
    for (const double count : expected.at("count")) within += std::int64_t(count);
    EXPECT_EQ(sum.statistics().pairs_within, within + c.ni);  // an i is within its own reach
  }
}

// In a large box the kernel leaves the minimum image out where a vector's raw coordinates are near; particles may be
// given in any period.
TEST(HalfListSums, FindPairsAcrossTheBoundariesOfALargeBox) {
  const Device device("cpu");
  for (const int periods : {0, 1, 4}) {
    NeighbourCase c;
    std::mt19937_64 random(std::uint64_t(periods) + 7);
    std::uniform_real_distribution<double> place(0, 24);
    std::uniform_int_distribution<int> period(-periods, periods);
    c.ni = 5003;
    c.box = {24, 24, 24};
    c.rc = 2.2;
    for (std::int64_t k = 0; k < 3 * c.ni; ++k) {
      c.xi.push_back(std::round(place(random) * 4096) / 4096 + (k % 4 == 0 ? 24 * period(random) : 0));
      c.vi.push_back(0);
    }
    c.xi[7] = std::numeric_limits<double>::quiet_NaN();
    c.xi[3000] = 24003;
    for (std::int64_t k = 0; k < c.ni; ++k) c.hi.push_back(1), c.ki.push_back(double(k % 7));
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
      PipelineOptions options;
      options.precision = precision;
      const Pipeline pipeline =
          Pipeline::from_text(device, test::text_without_indices_of(kMetrics[1], kReaches[0]), "large", options);
      Sum all(pipeline), found(pipeline);
      all.pairs(NBCC_PAIRS_ALL).symmetric(NBCC_SYMMETRIC_OFF);
      found.pairs(NBCC_PAIRS_CUTOFF).symmetric(NBCC_SYMMETRIC_ALWAYS).skin(0.1);
      // Kept lists, particles that have moved, some of them across a boundary, and a larger box.
      NeighbourCase now = c;
      for (int run = 0; run < 4; ++run) {
        if (run == 2)
          for (std::size_t k = 0; k < now.xi.size(); k += 2) now.xi[k] += k % 3 == 0 ? 0.03125 : -0.03125;
        if (run == 3) now.box = {24.5, 24.5, 24.5};
        EXPECT_EQ(run_one_set(found, pipeline, now), run_one_set(all, pipeline, now)) << periods << ", run " << run;
        EXPECT_TRUE(each_pair_was_once(found)) << found.statistics().reason;
      }
    }
  }
}

}  // namespace
}  // namespace nbcc
