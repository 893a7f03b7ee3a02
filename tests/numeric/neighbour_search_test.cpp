// Sums over the neighbours that a search finds against sums over all pairs: the guard stays in the kernel, so that
// counts, extremes and their indices must be equal exactly, in every metric, for every kind of reach, and wherever
// particles stand.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"
#include "tests/support/neighbour_cases.h"

namespace nbcc {
namespace {

using test::NeighbourCase;
using test::kMetrics;
using test::kReaches;
using test::Metric;
using test::random_case;
using test::ReachOf;
using test::text_of;

using Columns = std::map<std::string, std::vector<double>>;

Columns run(Sum& sum, const Pipeline& pipeline, NeighbourCase& c) {
  sum.offsets(c.i_offset, c.j_offset);
  const auto vectors = [](std::vector<double>& values) { return rows(values, 3); };
  sum.bind("xi", vectors(c.xi)).bind("vi", vectors(c.vi)).bind("hi", rows(c.hi, 1)).bind("ki", rows(c.ki, 1));
  sum.bind("xj", vectors(c.xj)).bind("vj", vectors(c.vj)).bind("hj", rows(c.hj, 1)).bind("kj", rows(c.kj, 1));
  sum.set("rc", c.rc).set("box", c.box);
  Columns results;
  for (const Field& field : pipeline.fields()) {
    if (field.role != NBCC_OUTPUT) continue;
    std::vector<double>& values = results[field.name];
    values.assign(std::size_t(c.ni), -77);
    sum.bind(field.name, rows(values, 1));
  }
  if (c.list.empty())
    sum.run();
  else
    sum.run(c.list);
  for (auto& [name, values] : results) test::make_comparable(values);
  return results;
}

Columns run(const Pipeline& pipeline, NeighbourCase& c, nbcc_pairs pairs) {
  Sum sum(pipeline);
  return run(sum.pairs(pairs), pipeline, c);
}

class NeighbourSearch : public testing::TestWithParam<std::size_t> {};

TEST_P(NeighbourSearch, GivesWhatAllPairsGive) {
  const Metric& metric = kMetrics[GetParam() / std::size(kReaches)];
  const ReachOf& reach = kReaches[GetParam() % std::size(kReaches)];
  const std::string text = text_of(metric, reach);
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    PipelineOptions options;
    options.precision = precision;
    DeviceOptions two;
    two.threads = 2;
    const Device device("cpu", two);
    const Pipeline pipeline = Pipeline::from_text(device, text, "neighbours", options);
    ASSERT_NE(pipeline.neighbours(), "") << pipeline.no_neighbours() << text;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      NeighbourCase one = random_case(seed * 3 + std::uint64_t(precision));
      SCOPED_TRACE(std::string(metric.name) + ", " + reach.name + ", seed " + std::to_string(seed) + ", precision " +
                   std::to_string(int(precision)) + ", " + std::to_string(one.ni) + " x " + std::to_string(one.nj));
      EXPECT_EQ(run(pipeline, one, NBCC_PAIRS_CUTOFF), run(pipeline, one, NBCC_PAIRS_ALL));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NeighbourSearch,
                         testing::Range(std::size_t(0), std::size(kMetrics) * std::size(kReaches)),
                         [](const auto& info) {
                           return std::string(kMetrics[info.param / std::size(kReaches)].name) + "_" +
                                  kReaches[info.param % std::size(kReaches)].name;
                         });

// Particles that walk, in a box that shrinks now and then: what is kept by a skin gives what all pairs give, and is
// sought anew when somebody has moved by half of it, not in every run.
TEST(NeighbourSums, AreKeptByASkin) {
  const Device device("cpu");
  PipelineOptions options;
  options.precision = NBCC_DOUBLE;
  const Pipeline pipeline = Pipeline::from_text(device, text_of(kMetrics[1], kReaches[3]), "kept", options);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> place(0, 6), step(-0.02, 0.02);
  NeighbourCase c;
  c.ni = c.nj = 500;
  c.box = {6, 6, 6};
  for (std::int64_t k = 0; k < 3 * c.ni; ++k) c.xi.push_back(place(random)), c.vi.push_back(0);
  for (std::int64_t k = 0; k < c.ni; ++k) c.hi.push_back(0.5 + 0.1 * place(random)), c.ki.push_back(double(k % 7));
  c.xj = c.xi, c.vj = c.vi, c.hj = c.hi, c.kj = c.ki;
  Sum kept(pipeline);
  kept.pairs(NBCC_PAIRS_CUTOFF).skin(0.4);
  constexpr int kRuns = 60;
  for (int n = 0; n < kRuns; ++n) {
    SCOPED_TRACE(n);
    EXPECT_EQ(run(kept, pipeline, c), run(pipeline, c, NBCC_PAIRS_ALL));
    for (double& x : c.xi) x += step(random);
    if (n == 20) c.box = {5.9, 6, 5.8};
    if (n == 30) c.xi[0] += 3, c.xi[1] -= 2 * 6;  // one jumps, by a length of the box along one axis
    if (n == 40) c.hi[7] *= 3;
    if (n == 50) c.hi[9] /= 3;
    c.xj = c.xi, c.hj = c.hi;
  }
  EXPECT_GE(kept.statistics().searches, 4);
  EXPECT_LE(kept.statistics().searches, kRuns / 3);
  EXPECT_GT(kept.statistics().pairs_tested, 0);
}

TEST(NeighbourSums, AreRefusedWhereNothingIsProved) {
  const Device device("cpu");
  const Pipeline pipeline =
      Pipeline::from_text(device, "input_i real xi; input_j real xj; output(sum) real o; o += xj * xi;");
  EXPECT_THROW(Sum(pipeline).pairs(NBCC_PAIRS_CUTOFF), Error);
  EXPECT_THROW(Sum(pipeline).skin(0.1), Error);
}

}  // namespace
}  // namespace nbcc
