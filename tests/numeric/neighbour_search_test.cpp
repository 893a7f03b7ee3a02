// Sums over the neighbours that a search finds against sums over all pairs: the guard stays in the kernel, so that
// counts, extremes and their indices must be equal exactly, in every metric, for every kind of reach, and wherever
// particles stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"
#include "tests/support/neighbour_cases.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

using test::kGuards;
using test::kMetrics;
using test::kReaches;
using test::Metric;
using test::NeighbourCase;
using test::random_case;
using test::ReachOf;
using test::text_of;

using Columns = std::map<std::string, std::vector<double>>;

// Of every third case some pairs are left out.
void leave_some_out(Sum& sum, const NeighbourCase& c) {
  if ((c.ni + c.nj) % 3 != 1) return;
  std::mt19937_64 random(5);
  std::vector<std::int64_t> first{0}, j;
  for (std::int64_t i = 0; i < c.ni; ++i) {
    for (std::uint64_t k = random() % 12; k > 0 && c.nj > 0; --k)
      j.push_back(std::int64_t(random() % std::uint64_t(c.nj)));
    first.push_back(std::int64_t(j.size()));
  }
  sum.exclusions(first, j);
}

Columns run(Sum& sum, const Pipeline& pipeline, NeighbourCase& c) {
  sum.offsets(c.i_offset, c.j_offset);
  const auto vectors = [](std::vector<double>& values) { return rows(values, 3); };
  sum.bind("xi", vectors(c.xi)).bind("vi", vectors(c.vi)).bind("hi", rows(c.hi, 1)).bind("ki", rows(c.ki, 1));
  sum.bind("xj", vectors(c.xj)).bind("vj", vectors(c.vj)).bind("hj", rows(c.hj, 1)).bind("kj", rows(c.kj, 1));
  sum.set("rc", c.rc).set("box", c.box);
  sum.set("la", c.cell[0]).set("lb", c.cell[1]).set("lc", c.cell[2]);
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

Columns run_but_some(const Pipeline& pipeline, NeighbourCase& c, nbcc_pairs pairs) {
  Sum sum(pipeline);
  leave_some_out(sum, c);
  return run(sum.pairs(pairs), pipeline, c);
}

class NeighbourSearch : public testing::TestWithParam<std::size_t> {};

TEST_P(NeighbourSearch, GivesWhatAllPairsGive) {
  const Metric& metric = kMetrics[GetParam() / std::size(kReaches)];
  const ReachOf& reach = kReaches[GetParam() % std::size(kReaches)];
  const std::string text = text_of(metric, reach);
  for (const nbcc_precision precision : test::sampled({NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}, 3, GetParam())) {
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
      EXPECT_EQ(run_but_some(pipeline, one, NBCC_PAIRS_CUTOFF), run_but_some(pipeline, one, NBCC_PAIRS_ALL));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NeighbourSearch,
                         testing::ValuesIn(test::sampled_range(std::size_t(0),
                                                               std::size(kMetrics) * std::size(kReaches), 4)),
                         [](const auto& info) {
                           return std::string(kMetrics[info.param / std::size(kReaches)].name) + "_" +
                                  kReaches[info.param % std::size(kReaches)].name;
                         });

// What is handed over of a case, as sums over it: what all pairs must give.
Columns sums_over_found(Sum& sum, const NeighbourCase& c) {
  const NeighbourList found = sum.neighbours();
  Columns sums;
  for (const char* name : {"count", "weight", "gaps"}) sums[name].assign(std::size_t(c.ni), 0);
  for (std::size_t i = 0; i < std::size_t(c.ni); ++i)
    for (std::int64_t k = found.first[i]; k < found.first[i + 1]; ++k) {
      const std::int64_t j = found.j[std::size_t(k)];
      sums["count"][i] += 1;
      sums["weight"][i] += c.kj[std::size_t(j)];
      sums["gaps"][i] += double((j + c.j_offset) % 7 - (std::int64_t(i) + c.i_offset) % 5);
    }
  return sums;
}

class NeighbourLists : public testing::TestWithParam<std::size_t> {};

// The pairs handed over are those that the text's own comparison passes, in the arithmetic of its sums: all pairs are
// the oracle. Here many stand exactly at the cutoff.
TEST_P(NeighbourLists, AreThePairsThatActAmongAll) {
  const Metric& metric = kMetrics[GetParam() / std::size(kGuards)];
  const std::size_t number = GetParam() % std::size(kGuards) + GetParam() / std::size(kGuards);
  const test::Guard& guard = kGuards[GetParam() % std::size(kGuards)];
  const ReachOf& reach = kReaches[number % std::size(kReaches)];
  PipelineOptions options;
  options.precision = std::array{NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}[number % 3];
  options.math = GetParam() % 2 == 0 ? NBCC_FAST : NBCC_PRECISE;
  const Device device("cpu");
  const Pipeline pipeline = Pipeline::from_text(device, text_of(metric, reach, &guard), "lists", options);
  ASSERT_NE(pipeline.neighbours(), "") << pipeline.no_neighbours();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    NeighbourCase c = seed % 4 == 3 ? random_case(seed) : test::lattice_case(seed);
    c.list.clear();
    c.i_offset = 100000;
    if (c.ni == 0 || c.nj == 0) continue;
    SCOPED_TRACE(std::string(metric.name) + ", " + reach.name + ", " + guard.name + ", seed " + std::to_string(seed) +
                 ", precision " + std::to_string(int(options.precision)));
    Sum sum(pipeline);
    sum.pairs(NBCC_PAIRS_ALL);
    if (seed % 5 == 2) leave_some_out(sum, c);
    const Columns all = run(sum, pipeline, c);
    EXPECT_EQ(run(sum.pairs(NBCC_PAIRS_CUTOFF), pipeline, c), all);
    Columns expected;
    for (const char* name : {"count", "weight", "gaps"}) {
      expected[name] = all.at(name);
      for (double& one : expected[name])
        if (one > 1e98) one = 0;  // NaN, of an i that is nowhere
    }
    try {
      EXPECT_EQ(sums_over_found(sum, c), expected);
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("no particle has a finite position"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NeighbourLists,
                         testing::ValuesIn(test::sampled_range(std::size_t(0), std::size(kMetrics) * std::size(kGuards),
                                                               4)),
                         [](const auto& info) {
                           return std::string(kMetrics[info.param / std::size(kGuards)].name) + "_" +
                                  kGuards[info.param % std::size(kGuards)].name;
                         });

// Skewed cells of which the reach is more than half, and which shrink while lists are kept; somebody leaves the cell.
TEST(NeighbourSums, AreKeptByASkinInACell) {
  const Device device("cpu");
  PipelineOptions options;
  options.precision = NBCC_DOUBLE;
  const Pipeline pipeline = Pipeline::from_text(device, text_of(kMetrics[3], kReaches[0]), "kept", options);
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> place(0, 5), step(-0.01, 0.01);
  NeighbourCase c;
  c.ni = c.nj = 400;
  c.cell = {{{5, 0, 0}, {2, 5, 0}, {-7, 1, 4}}};
  c.rc = 0.9;
  for (std::int64_t k = 0; k < 3 * c.ni; ++k) c.xi.push_back(place(random)), c.vi.push_back(0);
  for (std::int64_t k = 0; k < c.ni; ++k) c.hi.push_back(1), c.ki.push_back(double(k % 7));
  c.xj = c.xi, c.vj = c.vi, c.hj = c.hi, c.kj = c.ki;
  Sum kept(pipeline);
  kept.pairs(NBCC_PAIRS_CUTOFF).skin(0.4);
  constexpr int kRuns = 40;
  for (int n = 0; n < kRuns; ++n) {
    SCOPED_TRACE(n);
    EXPECT_EQ(run(kept, pipeline, c), run(pipeline, c, NBCC_PAIRS_ALL));
    for (double& x : c.xi) x += step(random);
    if (n == 8)
      for (std::size_t axis = 0; axis < 3; ++axis) c.xi[axis] += 2 * c.cell[2][axis];  // the same place
    if (n == 15) c.cell[2] = {-6.8, 1, 3.9};
    if (n == 20) c.cell = {{{2.5, 0, 0}, {1, 2, 0}, {0, 1, 2}}}, c.rc = 1.3;
    if (n == 30) c.xi[0] += 1;
    c.xj = c.xi;
  }
  EXPECT_GE(kept.statistics().searches, 4);
  EXPECT_LE(kept.statistics().searches, kRuns / 3);
}

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

// A box that breathes in every step, as under constant pressure, takes a part of the skin, more for particles that are
// several lengths apart.
TEST(NeighbourSums, AreKeptByASkinInABoxThatChangesInEveryStep) {
  const Device device("cpu");
  PipelineOptions options;
  options.precision = NBCC_DOUBLE;
  const Pipeline pipeline = Pipeline::from_text(device, text_of(kMetrics[1], kReaches[0]), "kept", options);
  for (const int lengths_apart : {0, 1, 40}) {
    std::mt19937_64 random(13);
    std::uniform_real_distribution<double> place(0, 6), step(-0.004, 0.004);
    NeighbourCase c;
    c.ni = c.nj = 500;
    c.box = {6, 6, 6};
    c.rc = 1;
    for (std::int64_t k = 0; k < 3 * c.ni; ++k)
      c.xi.push_back(place(random) + (k % 2 == 0 ? 6 * lengths_apart : 0)), c.vi.push_back(0);
    for (std::int64_t k = 0; k < c.ni; ++k) c.hi.push_back(1), c.ki.push_back(double(k % 7));
    c.xj = c.xi, c.vj = c.vi, c.hj = c.hi, c.kj = c.ki;
    Sum kept(pipeline);
    kept.pairs(NBCC_PAIRS_CUTOFF).skin(0.3);
    constexpr int kRuns = 60;
    for (int n = 0; n < kRuns; ++n) {
      SCOPED_TRACE(n);
      EXPECT_EQ(run(kept, pipeline, c), run(pipeline, c, NBCC_PAIRS_ALL)) << lengths_apart;
      const double scale = n < 35 ? 1.0008 : 1 / 1.0008;
      for (double& length : c.box) length *= scale;
      for (double& x : c.xi) x = x * (lengths_apart == 0 ? scale : 1) + step(random);
      c.xj = c.xi;
    }
    if (lengths_apart == 40)
      EXPECT_GE(kept.statistics().searches, kRuns / 3);
    else
      EXPECT_LE(kept.statistics().searches, kRuns / 4) << lengths_apart;
    EXPECT_GE(kept.statistics().searches, 2);
  }
}

// The kernel itself counts the pairs within reach, of all chosen i; so must the statistics, of lists that are new and
// of lists that a skin has kept.
TEST(NeighbourSums, HaveStatistics) {
  const Device device("cpu");
  PipelineOptions options;
  options.precision = NBCC_DOUBLE;
  for (const ReachOf& reach : kReaches) {
    SCOPED_TRACE(reach.name);
    const Pipeline pipeline = Pipeline::from_text(device, text_of(kMetrics[1], reach), "statistics", options);
    std::uint64_t seed = 0;
    NeighbourCase c = random_case(seed);
    while (std::min(c.ni, c.nj) < 100) c = random_case(++seed);
    // Each i is told from each j, so that no pair but a distant one is left out.
    c.i_offset = 100000;
    Sum sum(pipeline);
    sum.pairs(NBCC_PAIRS_CUTOFF).skin(0.5);
    EXPECT_EQ(sum.statistics().pairs_within, 0);
    std::int64_t tested = 0;
    for (int n = 0; n < 2; ++n) {
      const Columns results = run(sum, pipeline, c);
      const std::vector<double>& count = results.at("count");
      double expected = 0;
      for (const double one : count) expected += one == -77 || one > 1e9 ? 0 : one;  // not chosen, or nowhere
      const nbcc_statistics now = sum.statistics();
      // With min(hi, hj) of unknown signs the reach that is proved is the larger one of their magnitudes.
      if (reach.name == std::string("smaller"))
        EXPECT_GT(double(now.pairs_within), expected);
      else
        EXPECT_EQ(double(now.pairs_within), expected);
      EXPECT_GT(expected, 100);
      EXPECT_GE(now.pairs_tested, tested + now.pairs_within);
      EXPECT_EQ(now.runs, n + 1);
      EXPECT_EQ(now.searches, 1);
      for (const double seconds : {now.seconds_locate, now.seconds_sort, now.seconds_lists, now.seconds_sums})
        EXPECT_GT(seconds, 0);
      tested = now.pairs_tested;
      for (double& x : c.xi) x += 0.1;
    }
    run(sum.pairs(NBCC_PAIRS_ALL), pipeline, c);
    EXPECT_EQ(sum.statistics().pairs_within, 0);
    EXPECT_EQ(sum.statistics().pairs_tested, tested);
  }
}

// Terms that are rounded, so that another order of additions would show.
constexpr const char* kRounded = R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 1.0; param vec3 box = vec3(7, 7, 7);
output(sum) vec3 force; output(sum) real energy; output(argmin) index nearest;
vec3 dx = nearest_image(xj - xi, box);
real r2 = dot(dx, dx);
skip_if(i_index == j_index || r2 >= rc * rc);
force += dx * rsqrt(r2); energy += exp(-r2); nearest = argmin(nearest, r2);
)";

// Some of the i in an order of their own, in runs between which all walk: with a skin the first search is kept for a
// while and then is not.
std::vector<double> bits_of(int threads, nbcc_precision precision, double skin) {
  constexpr std::size_t kCount = 3000;
  DeviceOptions options;
  options.threads = threads;
  const Device device("cpu", options);
  PipelineOptions arithmetic;
  arithmetic.precision = precision;
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> place(-4, 10), step(-0.03, 0.03);
  std::vector<double> x(3 * kCount), force(3 * kCount), energy(kCount), nearest(kCount), all;
  for (double& one : x) one = place(random);
  std::vector<std::int64_t> list;
  for (std::int64_t i = kCount - 1; i >= 0; i -= 1 + std::int64_t(random() % 3)) list.push_back(i);
  Sum sum(Pipeline::from_text(device, kRounded, "rounded", arithmetic));
  sum.pairs(NBCC_PAIRS_CUTOFF).skin(skin);
  sum.bind("xi", x).bind("xj", x).bind("force", force).bind("energy", energy).bind("nearest", nearest);
  for (int n = 0; n < 6; ++n) {
    n % 2 == 0 ? sum.run(list) : sum.run();
    for (const auto* values : {&force, &energy, &nearest}) all.insert(all.end(), values->begin(), values->end());
    for (double& one : x) one += step(random);
  }
  const nbcc_statistics found = sum.statistics();
  EXPECT_EQ(found.runs, 6);
  all.push_back(double(found.pairs_tested));
  all.push_back(double(found.searches));
  return all;
}

TEST(NeighbourSums, HaveTheSameBitsForAnyNumberOfThreads) {
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    for (const double skin : {0.0, 0.3}) {
      SCOPED_TRACE("precision " + std::to_string(int(precision)) + ", skin " + std::to_string(skin));
      const std::vector<double> one = bits_of(1, precision, skin);
      EXPECT_GT(std::ranges::count_if(one, [](double number) { return number != 0; }), 50000);
      for (const int threads : {2, 5}) EXPECT_TRUE(bits_of(threads, precision, skin) == one) << threads;
    }
  }
}

// A caller that was compiled when the struct was shorter.
TEST(NeighbourSums, FillAsMuchOfTheStatisticsAsThereIs) {
  const Device device("cpu");
  Sum sum(Pipeline::from_text(device, text_of(kMetrics[0], kReaches[0]), "statistics"));
  nbcc_statistics short_one{};
  short_one.size = offsetof(nbcc_statistics, runs);
  short_one.runs = -5;
  ASSERT_EQ(nbcc_sum_get_statistics(sum.get(), &short_one, nullptr), NBCC_OK);
  EXPECT_EQ(short_one.runs, -5);
  EXPECT_EQ(short_one.searches, 0);
}

// A kernel in single precision sees images and estimated roots a little off: pairs that it counts although they stand
// beyond the reach by that much must have been found. On lattices many pairs stand at one such distance.
int differing_counts(const Pipeline& pipeline, Columns particles, double rc, double box) {
  std::vector<double> found(particles.at("xi").size()), all = found;
  Sum sum(pipeline);
  sum.set("rc", rc).set("box", box).bind("xi", rows(particles["xi"], 1)).bind("xj", rows(particles["xj"], 1));
  for (const Field& field : pipeline.fields())
    if (field.role == NBCC_OUTPUT && field.name != "n") sum.ignore(field.name);
  sum.bind("n", rows(found, 1)).pairs(NBCC_PAIRS_CUTOFF).run();
  sum.bind("n", rows(all, 1)).pairs(NBCC_PAIRS_ALL).run();
  int count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) count += found[i] != all[i];
  return count;
}

TEST(NeighbourSums, ForgiveTheRoundingOfImages) {
  const Pipeline pipeline =
      Pipeline::from_text(Device("cpu"),
                          "input_i real xi; input_j real xj; param real rc; param real box; output(sum) real n;\n"
                          "real dx = nearest_image(xj - xi, box);\nskip_if(abs(dx) >= rc);\nn += 1.0;");
  Columns particles;
  for (int k = 0; k < 2000; ++k) {
    particles["xi"].push_back(0.25 * k);
    particles["xj"].push_back(0.25 * k + 3 * 1000.1);
  }
  for (int step = -20; step <= 20; ++step)
    EXPECT_EQ(differing_counts(pipeline, particles, 10 + 2.5e-5 * step, 1000.1), 0) << step;
}

TEST(NeighbourSums, ForgiveEstimatesOfRoots) {
  PipelineOptions options;
  options.root = NBCC_ROOT_ESTIMATE;
  const Pipeline pipeline = Pipeline::from_text(
      Device("cpu"),
      "input_i real xi; input_j real xj; param real rc; param real box; output(sum) real n; output(sum) real e;\n"
      "real dx = nearest_image(xj - xi, box);\nreal y = 1.0 / sqrt(dx * dx);\n"
      "skip_if(i_index == j_index || y * y <= 1.0 / (rc * rc));\nn += 1.0;\ne += y;",
      "roots", options);
  for (int number = 0; number < 60; ++number) {
    const double spacing = 0.2 + 0.0037 * number;
    Columns particles;  // few, so that what is forgiven of coordinates is nothing beside the reach
    for (int k = 0; k < 80; ++k) particles["xi"].push_back(spacing * k);
    particles["xj"] = particles["xi"];
    for (const double less : {3e-5, 6e-5, 1e-4, 2e-4, 3e-4})
      EXPECT_EQ(differing_counts(pipeline, particles, 10 * spacing * (1 - less), 1e30), 0) << spacing << ", " << less;
  }
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
