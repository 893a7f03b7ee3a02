// The search on a GPU, on the shim: sums over what it finds against sums over all pairs by the same device, from arrays
// of the host and of the device, in several orders of blocks and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_run.h"
#include "tests/support/neighbour_cases.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_lists.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

Pipeline neighbour_pipeline(const Metric& metric, const ReachOf& reach, bool is_short = false) {
  return parse({"neighbours.pipe", is_short ? short_text_of(metric, reach) : text_of(metric, reach)});
}

class CudaSearchOnShim : public testing::TestWithParam<std::size_t> {};

TEST_P(CudaSearchOnShim, GivesWhatAllPairsGive) {
  const std::size_t number = GetParam() % std::size(kReaches);
  // Each reach in the open or in a box, in a cell, and between sites.
  const std::size_t metrics[] = {number % 3, 3, 4 + number % 3};
  const Metric& metric = kMetrics[metrics[GetParam() / std::size(kReaches)]];
  const ReachOf& reach = kReaches[number];
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const Options options{.precision = Precision((number + number / 3) % 3)};
  const auto kernel = device.load(build_cuda_kernel(neighbour_pipeline(metric, reach), options, ""));
  const ShimOrder orders[] = {{}, {ShimOrder::Kind::Backward}, {ShimOrder::Kind::Shuffled, 7}};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    NeighbourCase c = random_case(seed * 3 + number % 3);
    if (c.ni == 0) continue;
    SCOPED_TRACE(std::string(metric.name) + ", " + reach.name + ", seed " + std::to_string(seed) + ", " +
                 std::to_string(c.ni) + " x " + std::to_string(c.nj));
    shim.set_block_order(orders[seed % 3]);
    shim.set_thread_order(orders[seed / 3 % 3]);
    const bool one_set = c.ni == c.nj && c.xi == c.xj && c.hi == c.hj;
    DeviceRun run(device, kernel, c, seed % 2 == 0, one_set);
    test::leave_some_out(run.sum(), c.ni, c.nj, seed);
    RunChoice choice;
    if (c.list.empty() && seed % 4 == 1) choice = {.i_begin = c.ni / 3, .i_count = c.ni - c.ni / 2};
    const Columns found = run(PairChoice::Cutoff, choice);
    EXPECT_EQ(run.sum().statistics().searches, c.nj > 0 ? 1 : 0);
    EXPECT_EQ(found, run(PairChoice::All, choice));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaSearchOnShim,
                         testing::ValuesIn(sampled_range(std::size_t(0), 3 * std::size(kReaches), 5)),
                         [](const auto& info) { return std::to_string(info.param); });

// The same on the first GPU of the machine, with many more cases, and with a liquid of 200,000.
// Particles that move a little from run to run, are put back into the box, and change their reaches a little: what a
// search found serves until one has moved by half of the skin.
void expect_kept(const CudaDevice& device, const std::shared_ptr<const Kernel>& kernel, std::int64_t count,
                 std::size_t metric, bool one_reach) {
  const bool periodic = metric == 1 || metric == 3;
  constexpr double kSkin = 0.5, kSide = 30, kWide = 3;  // a long box, whose ends groups see as one copy
  std::mt19937_64 random(17);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  NeighbourCase c;
  c.ni = c.nj = count;
  if (periodic) c.box[0] = kSide;
  c.cell = {{{kSide, 0, 0}, {13, 20, 0}, {6, -7, 20}}};
  c.rc = 1.5;
  for (std::int64_t k = 0; k < 3 * count; ++k)
    c.xi.push_back(uniform(0, k % 3 == 0 ? kSide : kWide)), c.vi.push_back(0);
  for (std::int64_t k = 0; k < count; ++k) c.hi.push_back(uniform(1, 2)), c.ki.push_back(double(k % 13));
  c.xj = c.xi, c.vj = c.vi, c.hj = c.hi, c.kj = c.ki;
  DeviceRun run(device, kernel, c, true, true);
  const std::vector<double> start = c.xi, reaches = c.hi;
  std::int64_t searches = 0;
  const auto expect_searches = [&](std::int64_t more) {
    EXPECT_EQ(run(PairChoice::Cutoff), run(PairChoice::All));
    EXPECT_EQ(run.sum().statistics().searches, searches += more);
  };
  const auto move = [&](double most, double growth) {
    for (std::size_t k = 0; k < std::size_t(count); ++k) {
      const double way = uniform(0, most), angle = uniform(0, 6);
      c.xi[3 * k] = start[3 * k] + way * std::cos(angle);
      c.xi[3 * k + 1] = start[3 * k + 1] + way * std::sin(angle);
      if (periodic) c.xi[3 * k] -= kSide * std::floor(c.xi[3 * k] / kSide);
      c.hi[k] = reaches[k] + uniform(-growth, growth);
    }
    run.put("xi", c.xi);
    run.put("hi", c.hi);
  };
  run.sum().set_skin(kSkin);
  expect_searches(1);
  for (int step = 0; step < 4; ++step) {
    move(0.3 * kSkin, 0.15 * kSkin);
    expect_searches(0);
  }
  if (periodic) {
    // So many lengths farther away that rounding counts.
    const std::vector<double> near = c.xi;
    for (std::size_t k = 0; k < std::size_t(count); k += 2) c.xi[3 * k] += kSide * 4096;
    run.put("xi", c.xi);
    expect_searches(1);
    c.xi = near;
    run.put("xi", c.xi);
    expect_searches(0);
  }
  c.xi[0] += 0.9 * kSkin;
  run.put("xi", c.xi);
  expect_searches(1);
  expect_searches(0);
  const double wider = 1.75;
  run.sum().set_param("rc", {&wider, 1});
  expect_searches(one_reach ? 1 : 0);
  if (periodic) {
    const std::array<double, 3> shrunk{29.5, metric == 1 ? 1e30 : 0, metric == 1 ? 1e30 : 0};
    run.sum().set_param(metric == 1 ? "box" : "la", shrunk);
    expect_searches(1);
  }
  c.hi[1] += 4 * kSkin;  // some formulas take a quarter of it
  run.put("hi", c.hi);
  expect_searches(one_reach ? 0 : 1);
  run.sum().set_skin(0);
  expect_searches(1);
  expect_searches(1);
}

TEST(KeptSearchOnShim, KeepsWhatItFound) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const auto expect = [&](std::size_t metric, std::size_t reach, Precision precision, bool is_short) {
    SCOPED_TRACE(std::string(kMetrics[metric].name) + ", " + kReaches[reach].name + (is_short ? ", short" : ""));
    const Pipeline pipeline = neighbour_pipeline(kMetrics[metric], kReaches[reach], is_short);
    expect_kept(device, device.load(build_cuda_kernel(pipeline, {.precision = precision}, "")), 500, metric,
                reach == 0);
  };
  expect(1, 0, Precision::Single, true);
  expect(0, 3, Precision::Single, true);
  expect(1, 3, Precision::Mixed, false);
  expect(1, 1, Precision::Double, false);
  expect(3, 0, Precision::Single, false);
  expect(3, 4, Precision::Single, false);
}

// What the search makes of unusual sets, with positions that are copied to shared memory.
class UnusualSetsOnShim : public testing::Test {
 protected:
  void expect_all(std::size_t metric, std::size_t reach, NeighbourCase& c, const char* self = "r2 == 0.0",
                  Precision precision = Precision::Single) {
    SCOPED_TRACE(std::string(kMetrics[metric].name) + ", " + kReaches[reach].name);
    c.nj = c.ni = std::int64_t(c.hi.size());
    c.vi.assign(c.xi.size(), 0), c.ki.assign(c.hi.size(), 1);
    c.xj = c.xi, c.vj = c.vi, c.hj = c.hi, c.kj = c.ki;
    c.i_offset = 1000;  // each is told from itself
    std::string text = short_text_of(kMetrics[metric], kReaches[reach]);
    text.replace(text.find("r2 == 0.0"), 9, self);
    const Pipeline pipeline = parse({"unusual.pipe", text});
    run_ = std::make_unique<DeviceRun>(device_, device_.load(build_cuda_kernel(pipeline, {.precision = precision}, "")),
                                       c, true, true);
    EXPECT_EQ((*run_)(PairChoice::Cutoff), (*run_)(PairChoice::All));
  }
  CudaShim shim_;
  CudaDevice device_{shim_.driver(), shim_.compiler(), 0, "", ""};
  std::unique_ptr<DeviceRun> run_;
};

TEST_F(UnusualSetsOnShim, AtTheOrigin) {
  NeighbourCase c;
  c.xi = {0, 0, 0, 0, 0, 0x1p-140, 0, 0, 0x1p-139};
  c.hi = {1, 1, 1};
  expect_all(0, 0, c, "i_index == j_index");
  expect_all(0, 1, c, "i_index == j_index");
}

// Put back into the box by hand they would stand a little elsewhere.
TEST_F(UnusualSetsOnShim, OutsideOfABox) {
  NeighbourCase c;
  c.box = {10.1, 9.7, 11.3};
  c.rc = 2.5;
  std::mt19937_64 random(5);
  c.hi.assign(300, 1);
  // Two at each place, also so far away that rounding leaves nothing of where in the box it is.
  for (const double far : {30.0, 3e10, 1e62}) {
    SCOPED_TRACE(far);
    std::uniform_real_distribution<double> place(-far, far);
    c.xi.clear();
    for (int k = 0; k < 450; ++k) c.xi.push_back(place(random));
    for (int k = 0; k < 450; ++k) c.xi.push_back(c.xi[std::size_t(k)]);
    expect_all(1, 0, c, "i_index == j_index", far < 1e38 ? Precision::Single : Precision::Double);
  }
}

// One whose own reach is nothing has a group to itself, and others reach it from far away.
TEST_F(UnusualSetsOnShim, OfReachesThatDifferByMuch) {
  NeighbourCase c;
  for (int k = 0; k < 65; ++k) {
    c.xi.insert(c.xi.end(), {0.01 * k, 0, 0});
    c.hi.push_back(k == 64 ? 0 : 0.6);
  }
  expect_all(0, 3, c);
  expect_all(0, 5, c);
}

// Six groups of 32 see all j, of which four are summed in slices; with lists that are kept, too.
TEST_F(UnusualSetsOnShim, OfReachesBeyondAllOthers) {
  NeighbourCase c;
  std::mt19937_64 random(14);
  std::uniform_real_distribution<double> place(0, 16);
  constexpr std::size_t kCount = 4200;
  for (std::size_t k = 0; k < 3 * kCount; ++k) c.xi.push_back(place(random));
  c.hi.assign(kCount, 0.5);
  for (std::size_t k = 100; k < kCount; k += 700) c.hi[k] = k == 800 ? 30 : 1e20;
  expect_all(0, 1, c);
  run_->sum().set_skin(0.25);
  for (int n = 0; n < 3; ++n) {
    const Columns found = (*run_)(PairChoice::Cutoff);
    EXPECT_EQ(found, (*run_)(PairChoice::All));
    EXPECT_EQ(run_->sum().statistics().searches, 2);
    for (double& x : c.xi) x += 0.01;
    run_->put("xi", c.xi);
  }
}

// A length of 0 or infinity leaves its axis open.
TEST_F(UnusualSetsOnShim, InABoxThatIsOpen) {
  for (const double length : {0.0, HUGE_VAL}) {
    NeighbourCase c;
    c.box = {40, 40, length};
    for (int k = 0; k < 100; ++k) c.xi.insert(c.xi.end(), {0.4 * (k % 10), 0.4 * (k / 10), 0.1 * k}), c.hi.push_back(1);
    expect_all(1, 0, c);
  }
}

// More clusters are near than a list has room for: it is of larger boxes.
TEST_F(UnusualSetsOnShim, OfLongLists) {
  NeighbourCase c;
  c.rc = 2.5;
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> place(0, 4);
  for (int k = 0; k < 3 * 2600; ++k) c.xi.push_back(place(random));
  c.hi.assign(2600, 1);
  expect_all(0, 0, c);
  c.box = {9, 9, 4};
  expect_all(1, 0, c);
}

// Of 4 multiprocessors: from 4 million pairs on, but not where a launch configuration is chosen or a large share of a
// box is within reach.
TEST_F(UnusualSetsOnShim, AreSearchedWhereThatPays) {
  const auto searches = [&](int count, const LaunchConfig& chosen, double side = 0) {
    NeighbourCase c;
    if (side > 0) c.box = {side, side, side};
    for (int k = 0; k < count; ++k) c.xi.insert(c.xi.end(), {double(k % 13), double(k / 13 % 13), double(k / 169)});
    c.hi.assign(std::size_t(count), 1);
    expect_all(side > 0 ? 1 : 0, 0, c);
    const std::int64_t before = run_->sum().statistics().searches;
    run_->sum().set_launch(chosen);
    (*run_)(PairChoice::Auto);
    return run_->sum().statistics().searches - before;
  };
  EXPECT_EQ(searches(1990, {}), 0);
  EXPECT_EQ(searches(2010, {}), 1);
  EXPECT_EQ(searches(2010, {.threads = 64}), 0);
  EXPECT_EQ(searches(2010, {}, 3.6), 1);
  EXPECT_EQ(searches(2010, {}, 3.4), 0);
}

// At first nobody sees a copy of another, later two do.
TEST_F(UnusualSetsOnShim, OfASkinBesideAnEdge) {
  NeighbourCase c;
  c.box = {10, 10, 10};
  c.rc = 4.6;
  c.xi = {2, 0, 0, 6.7, 0, 0, 4, 0, 0};
  c.hi = {1, 1, 1};
  expect_all(1, 0, c);
  run_->sum().set_skin(0.8);
  (*run_)(PairChoice::Cutoff);
  c.xi[0] -= 0.39, c.xi[3] += 0.39;
  run_->put("xi", c.xi);
  const Columns found = (*run_)(PairChoice::Cutoff);
  EXPECT_EQ(found, (*run_)(PairChoice::All));
}

// What a pair reads of a j-particle is copied to shared memory, and with one reach for all tells its place.
TEST(KeptSearchOnShim, OfPositionsAloneGivesWhatAllPairsGive) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  for (const std::size_t metric : {0, 1}) {
    const Options options{.precision = Precision::Single};
    const auto kernel =
        device.load(build_cuda_kernel(neighbour_pipeline(kMetrics[metric], kReaches[0], true), options, ""));
    for (std::uint64_t seed = 40; seed < 55; ++seed) {
      NeighbourCase c = random_case(seed);
      if (c.ni == 0) continue;
      SCOPED_TRACE(std::string(kMetrics[metric].name) + ", seed " + std::to_string(seed));
      DeviceRun run(device, kernel, c, true, c.ni == c.nj && c.xi == c.xj && c.hi == c.hj);
      EXPECT_EQ(run(PairChoice::Cutoff), run(PairChoice::All));
    }
  }
}

class SearchOnGpu : public OnGpu, public testing::WithParamInterface<std::size_t> {
 protected:
  std::shared_ptr<const Kernel> load(const Pipeline& pipeline, Precision precision) {
    return device_->load(build_cuda_kernel(pipeline, {.precision = precision}, ""));
  }
};

// The parameter is the number of a reach times the number of metrics, plus the number of a metric.
class MetricSearchOnGpu : public SearchOnGpu {};

TEST_P(MetricSearchOnGpu, GivesWhatAllPairsGiveAndKeepsWhatItFound) {
  const std::size_t number = GetParam() / std::size(kMetrics), metric = GetParam() % std::size(kMetrics);
  const ReachOf& reach = kReaches[number];
  const auto kernel = load(neighbour_pipeline(kMetrics[metric], reach), Precision((number + metric) % 3));
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    NeighbourCase c = random_case(seed);
    if (c.ni == 0) continue;
    SCOPED_TRACE(std::string(kMetrics[metric].name) + ", " + reach.name + ", seed " + std::to_string(seed));
    DeviceRun run(*device_, kernel, c, seed % 2 == 0, c.ni == c.nj && c.xi == c.xj && c.hi == c.hj);
    EXPECT_EQ(run(PairChoice::Cutoff), run(PairChoice::All));
  }
  // In the same test, because compiling the kernel takes most of its time.
  if (metric < 4 && metric != 2) expect_kept(*device_, kernel, 5000, metric, number == 0);
}

INSTANTIATE_TEST_SUITE_P(Reaches, MetricSearchOnGpu,
                         testing::Range(std::size_t(0), std::size(kReaches) * std::size(kMetrics)));

TEST_P(SearchOnGpu, KeepsWhatItFound) {
  const std::size_t metric = GetParam() % 2;
  const Pipeline pipeline = neighbour_pipeline(kMetrics[metric], kReaches[GetParam()], true);
  expect_kept(*device_, load(pipeline, Precision::Single), 5000, metric, GetParam() == 0);
}

TEST_P(SearchOnGpu, OfALiquidGivesWhatAllPairsGiveRunForRun) {
  const bool is_short = GetParam() % 2 == 0;
  const auto kernel = load(neighbour_pipeline(kMetrics[1], kReaches[GetParam()], is_short), Precision::Single);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(-60, 120), reach(1.5, 2.5);
  NeighbourCase c;
  c.ni = c.nj = 200000;
  c.box = {60, 61, 62};
  c.rc = 2;
  for (std::int64_t k = 0; k < 3 * c.ni; ++k) c.xi.push_back(place(random)), c.vi.push_back(0);
  for (std::int64_t k = 0; k < c.ni; ++k) c.hi.push_back(reach(random)), c.ki.push_back(double(k % 7));
  c.xj = c.xi, c.vj = c.vi, c.hj = c.hi, c.kj = c.ki;
  DeviceRun run(*device_, kernel, c, true, true);
  const Columns found = run(PairChoice::Cutoff);
  EXPECT_EQ(found, run(PairChoice::Cutoff));
  EXPECT_EQ(found, run(PairChoice::All));
}

INSTANTIATE_TEST_SUITE_P(Reaches, SearchOnGpu, testing::Range(std::size_t(0), std::size(kReaches)));

// Particles of one set that count their neighbours in a periodic box, or in the open, with reaches of their own.
class NeighbourCountsOnShim : public testing::Test {
 protected:
  static constexpr std::size_t kOpen = 0, kBox = 1, kCell = 3;
  DeviceRun& start(NeighbourCase& c, std::size_t number, bool on_device = true) {
    const Metric& metric = kMetrics[number];
    const Options options{.precision = Precision::Single};
    const auto kernel = device_.load(build_cuda_kernel(neighbour_pipeline(metric, kReaches[3]), options, ""));
    c.nj = c.ni;
    c.xj = c.xi, c.vj = c.vi, c.hj = c.hi, c.kj = c.ki;
    run_ = std::make_unique<DeviceRun>(device_, kernel, c, on_device, true);
    return *run_;
  }
  void add(NeighbourCase& c, std::array<double, 3> place, double reach) {
    c.xi.insert(c.xi.end(), place.begin(), place.end());
    c.vi.insert(c.vi.end(), 3, 0.0);
    c.hi.push_back(reach);
    c.ki.push_back(double(c.ni % 11));
    ++c.ni;
  }
  // Pairs tested for each that counts, at most so many.
  void expect_few_tests(DeviceRun& run, double ratio) {
    const Columns found = run(PairChoice::Cutoff);
    const SumStatistics statistics = run.sum().statistics();
    EXPECT_EQ(found, run(PairChoice::All));
    EXPECT_EQ(run.sum().statistics().pairs_within, 0);
    const std::vector<double>& counts = found.at("count");
    const double hits = std::accumulate(counts.begin(), counts.end(), 0.0);
    EXPECT_GT(hits, 0);
    EXPECT_LE(double(statistics.pairs_tested), ratio * hits);
    // Each is within its own reach, too.
    const double within = hits + double(counts.size());
    EXPECT_GE(double(statistics.pairs_within), within);
    EXPECT_LE(double(statistics.pairs_within), 1.2 * within);
    const SumStatistics::Seconds& seconds = statistics.seconds;
    for (const double step : {seconds.locate, seconds.sort, seconds.lists, seconds.sums}) EXPECT_GT(step, 0);
  }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  CudaShim shim_;
  CudaDevice device_{shim_.driver(), shim_.compiler(), 0, "", ""};
  std::unique_ptr<DeviceRun> run_;
  std::mt19937_64 random_{5};
};

// Enough for three levels of boxes, and for columns that are not one.
TEST_F(NeighbourCountsOnShim, OfALiquidTakeFewTests) {
  NeighbourCase c;
  c.box = {21, 22, 23};
  for (int k = 0; k < 9000; ++k) add(c, {uniform(0, 21), uniform(0, 22), uniform(-23, 46)}, uniform(2, 3));
  expect_few_tests(start(c, kBox), 9);
}

// In a cell as wide, given by vectors that hide how short others are.
TEST_F(NeighbourCountsOnShim, OfALiquidInASlantedCellTakeFewTests) {
  NeighbourCase c;
  c.cell = {{{21, 0, 0}, {6, 22, 0}, {-7 + 2 * 6, 5 + 2 * 22, 23}}};
  for (int k = 0; k < 9000; ++k) add(c, {uniform(0, 42), uniform(0, 22), uniform(-23, 46)}, uniform(2, 3));
  expect_few_tests(start(c, kCell), 9);
}

// Clusters of which each is a thousand times as dense as the one before.
TEST_F(NeighbourCountsOnShim, OfClustersTakeFewTests) {
  NeighbourCase c;
  for (int cluster = 0; cluster < 3; ++cluster) {
    const double size = std::pow(10.0, -cluster), at = 5.0 * cluster;
    for (int k = 0; k < 2400; ++k)
      add(c, {at + uniform(0, size), uniform(0, size), at + uniform(0, size)}, 0.2 * size * uniform(0.8, 1.2));
  }
  expect_few_tests(start(c, kOpen), 11);
}

TEST_F(NeighbourCountsOnShim, OfParticlesAtOnePlaceAreAllOfThem) {
  for (const int count : {1, 2, 40}) {
    NeighbourCase c;
    for (int k = 0; k < count; ++k) add(c, {100, -100, 1e6}, 0.5);
    c.i_offset = 1000;  // each is told from itself
    const std::vector<double> counts = start(c, count == 2 ? kBox : kOpen)(PairChoice::Cutoff).at("count");
    EXPECT_EQ(counts, std::vector<double>(std::size_t(count), count));
    EXPECT_EQ(run_->sum().statistics().pairs_within, count * count);
  }
}

// A kernel in single precision rounds coordinates that are given as doubles; so pairs a little beyond the reach count.
TEST_F(NeighbourCountsOnShim, FarFromTheOriginAreThoseOfRoundedPlaces) {
  NeighbourCase c;
  for (int k = 0; k < 800; ++k)
    add(c, {1e6 + uniform(0, 30), 2e6 + uniform(0, 3), 3e6 + uniform(0, 1)}, 0.5 * double(1 + k % 3));
  DeviceRun& run = start(c, kOpen);
  EXPECT_EQ(run(PairChoice::Cutoff), run(PairChoice::All));
}

// Kept j stay as they were packed, though i of the same array are read anew and are elsewhere now.
TEST_F(NeighbourCountsOnShim, OfKeptJAreThoseOfThen) {
  NeighbourCase c;
  for (int k = 0; k < 300; ++k) add(c, {uniform(0, 6), uniform(0, 6), uniform(0, 6)}, 1);
  DeviceRun& run = start(c, kOpen, /*on_device=*/false);
  run.sum().keep_j(true);
  const Columns before = run(PairChoice::Cutoff);
  for (double& x : c.xi) x = 6 - x;
  const Columns found = run(PairChoice::Cutoff);
  EXPECT_NE(found, before);
  EXPECT_EQ(found, run(PairChoice::All));
}

// A captured search sees where particles are when it is replayed.
TEST_F(NeighbourCountsOnShim, OfAGraphAreSearchedAnew) {
  NeighbourCase c;
  c.box = {9, 9, 9};
  for (int k = 0; k < 600; ++k) add(c, {uniform(0, 9), uniform(0, 9), uniform(0, 9)}, uniform(1, 2));
  DeviceRun& run = start(c, kBox);
  run(PairChoice::Cutoff);
  CudaOwnStream stream(device_.gpu());
  const CudaContextGuard guard(device_.gpu());
  CudaStream* const queue = stream.get();
  run.sum().set_pairs(PairChoice::Cutoff);
  shim_.begin_capture(queue);
  run.sum().run({.stream = queue});
  shim_.end_capture(queue);
  for (double& x : c.xi) x += uniform(-1, 1);
  run.put("xi", c.xi);
  const double before = run.sum().statistics().seconds.sums;
  shim_.replay(queue);
  device_.gpu().synchronize(queue);
  EXPECT_GT(run.sum().statistics().seconds.sums, before);
  const Columns replayed = run.results();
  EXPECT_EQ(replayed, run(PairChoice::All));
}

}  // namespace
}  // namespace nbcc::test
