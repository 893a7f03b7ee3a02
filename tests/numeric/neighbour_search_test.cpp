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

namespace nbcc {
namespace {

struct Metric {
  const char* name;
  const char* difference;
};
constexpr Metric kMetrics[] = {{"open", "xj - xi"},
                               {"periodic", "nearest_image(xj - xi, box)"},
                               {"moving", "nearest_image((xj + 0.5 * vj) - (xi + 0.5 * vi), box)"},
                               {"cell", "nearest_image(xj - xi, la, lb, lc)"}};
struct ReachOf {
  const char* name;
  const char* bound;
};
constexpr ReachOf kReaches[] = {
    {"uniform", "rc"},         {"of_i", "hi"}, {"of_j", "hj"}, {"larger", "max(hi, hj)"}, {"smaller", "min(hi, hj)"},
    {"sum", "0.5 * (hi + hj)"}};

std::string text_of(const Metric& metric, const ReachOf& reach) {
  return std::string(R"(
input_i vec3 xi; input_i vec3 vi; input_i real hi; input_i int ki;
input_j vec3 xj; input_j vec3 vj; input_j real hj; input_j int kj;
param real rc = 1.0; param vec3 box = vec3(1e30);
param vec3 la = vec3(1e30, 0, 0); param vec3 lb = vec3(0, 1e30, 0); param vec3 lc = vec3(0, 0, 1e30);
output(sum) real count; output(sum) real weight; output(min) real least; output(argmin) index nearest;
output(argmax) index heaviest;
output(max) int most; output(sum) real gaps;
vec3 dx = )") +
         metric.difference + ";\nreal r2 = dot(dx, dx);\nreal reach = " + reach.bound + R"(;
skip_if(i_index == j_index || r2 >= reach * reach);
count += 1.0; weight += real(kj); least = min(least, r2); nearest = argmin(nearest, r2);
heaviest = argmax(heaviest, real(kj)); most = max(most, kj + ki); gaps += real(j_index % 7 - i_index % 5);
)";
}

using Columns = std::map<std::string, std::vector<double>>;

struct Case {
  std::int64_t ni = 0, nj = 0;  // ni = nj: one set
  std::array<double, 3> box{1e30, 1e30, 1e30};
  std::array<std::array<double, 3>, 3> cell{};
  double rc = 1;
  std::vector<double> xi, vi, hi, ki, xj, vj, hj, kj;
  std::vector<std::int64_t> list;  // the chosen i; empty: all
  std::int64_t i_offset = 0, j_offset = 0;
};

Columns run(Sum& sum, const Pipeline& pipeline, Case& c) {
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
  return results;
}

Columns run(const Pipeline& pipeline, Case& c, nbcc_pairs pairs) {
  Sum sum(pipeline);
  return run(sum.pairs(pairs), pipeline, c);
}

// Three lattice vectors: those of the box, skewed a little or by so much that they hide how short others are, small
// beside any reach, or open along one direction. Of numbers that floats hold, and so are the skewed ones.
std::array<std::array<double, 3>, 3> random_cell(std::uint64_t seed, double side) {
  std::mt19937_64 random(seed ^ 0xce11);
  const auto number = [&](double low, double high) {
    return std::round(std::uniform_real_distribution<double>(low, high)(random) * 64) / 64;
  };
  const std::uint64_t kind = random() % 5;
  const double size = kind == 3 ? 0.15 * side : side;
  std::array<std::array<double, 3>, 3> cell{};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t c = 0; c < 3; ++c) cell[k][c] = kind == 0 || kind == 4 ? 0 : number(-0.4, 0.4) * size;
    cell[k][k] = number(0.6, 1.4) * size;
  }
  if (kind == 4) cell[2] = {0, 0, 1e30};
  if (kind == 4)
    cell[0] = {number(0.6, 1.4) * size, 0, 0}, cell[1] = {number(-1, 1) * size, number(0.6, 1.4) * size, 0};
  for (int step = 0; kind == 2 && step < 4; ++step) {
    const std::size_t one = random() % 3, other = (one + 1 + random() % 2) % 3;
    const double times = double(random() % 9) - 4;
    for (std::size_t c = 0; c < 3; ++c) cell[one][c] += times * cell[other][c];
  }
  if (random() % 2) std::swap(cell[0], cell[1]);  // of the other hand
  return cell;
}

// Uniform, on a lattice (distances of exactly the reach, faces and corners of the box), or in clusters of very
// different sizes; moved by whole boxes where these are given.
Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Case c;
  c.ni = std::int64_t(uniform(0, 1) * uniform(0, 1) * 900);
  c.nj = random() % 3 == 0 ? c.ni : std::int64_t(uniform(0, 1) * 900);
  const double side = 8;
  for (double& length : c.box) length = random() % 4 == 0 ? 1e30 : uniform(0.6, 1.4) * side;
  c.cell = random_cell(seed, side);
  c.rc = std::array{0.5, 1.0, 2.0, 5.0}[random() % 4];
  const std::uint64_t kind = random() % 3;
  const auto place = [&] {
    std::array<double, 3> x{};
    const double size = std::pow(10.0, -double(random() % 4));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      x[axis] = kind == 0   ? uniform(0, side)
                : kind == 1 ? std::floor(uniform(0, 2 * side)) / 2
                            : 3 + uniform(-1, 1) * size;
      if (c.box[axis] < 1e29 && random() % 3 == 0) x[axis] += c.box[axis] * double(std::int64_t(random() % 7) - 3);
    }
    return x;
  };
  const auto fill = [&](std::int64_t n, auto& x, auto& v, auto& h, auto& k) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (const double one : place()) x.push_back(one);
      for (int axis = 0; axis < 3; ++axis) v.push_back(kind == 1 ? double(random() % 3) / 2 : uniform(-1, 1));
      h.push_back(c.rc * std::pow(10.0, uniform(-2, 0.3)));
      k.push_back(double(random() % 50));
    }
  };
  fill(c.nj, c.xj, c.vj, c.hj, c.kj);
  if (c.ni == c.nj) {
    c.xi = c.xj, c.vi = c.vj, c.hi = c.hj, c.ki = c.kj;
  } else {
    fill(c.ni, c.xi, c.vi, c.hi, c.ki);
    c.i_offset = std::int64_t(random() % 100) - 50;
    c.j_offset = std::int64_t(random() % 100);
  }
  // One that reaches everybody.
  if (c.nj > 0 && random() % 3 == 0) c.hj[random() % c.hj.size()] = 1e20;
  if (c.ni > 0 && c.ni != c.nj && random() % 3 == 0) c.hi[random() % c.hi.size()] = 1e20;
  if (random() % 3 == 0)
    for (std::int64_t i = 0; i < c.ni; ++i)
      if (random() % 2) c.list.push_back(i);
  return c;
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
      Case one = random_case(seed * 3 + std::uint64_t(precision));
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

// Skewed cells of which the reach is more than half, and which shrink while lists are kept; somebody leaves the cell.
TEST(NeighbourSums, AreKeptByASkinInACell) {
  const Device device("cpu");
  PipelineOptions options;
  options.precision = NBCC_DOUBLE;
  const Pipeline pipeline = Pipeline::from_text(device, text_of(kMetrics[3], kReaches[0]), "kept", options);
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> place(0, 5), step(-0.01, 0.01);
  Case c;
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
  Case c;
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
