// nearest_image(dx, a, b, c) against copies tried one by one: the shortest in cells of every shape, from whichever
// vectors they are given, in every precision, on the CPU and in the CUDA text. And what it says of vectors that are no
// cell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_text_run.h"
#include "tests/support/vector3.h"

namespace nbcc::test {
namespace {

using Vector = Vector3;
using Cell = std::array<Vector, 3>;

double length(const Vector& a) { return std::sqrt(dot(a, a)); }
Vector sum(const Vector& a, double factor, const Vector& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}
double volume(const Cell& c) { return dot(c[0], cross(c[1], c[2])); }
// How many of each vector a difference is.
Vector fractions(const Cell& c, const Vector& d) {
  Vector f{};
  for (std::size_t k = 0; k < 3; ++k) f[k] = dot(d, cross(c[(k + 1) % 3], c[(k + 2) % 3])) / volume(c);
  return f;
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  double number(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  // On a grid, so that whole multiples of vectors are floats, too.
  double on_grid(double low, double high) { return std::round(number(low, high) * 512) / 512; }
  int below(int n) { return int(random_() % unsigned(n)); }

  // Of vectors that are short as they are, so that trying few copies is enough.
  Cell short_cell(int kind) {
    switch (kind) {
      case 0:
        return {Vector{1, 0, 0}, Vector{0, 1.5, 0}, Vector{0, 0, 2}};
      case 1:
        return {Vector{0, 1, 1}, Vector{1, 0, 1}, Vector{1, 1, 0}};  // face-centred: a dodecahedron
      case 2:
        return {Vector{-1, 1, 1}, Vector{1, -1, 1}, Vector{1, 1, -1}};  // body-centred: a truncated octahedron
      case 3:
        return {Vector{1, 0, 0}, Vector{0.5, 0.866, 0}, Vector{0, 0, on_grid(0.3, 3)}};
      default:
        for (;;) {
          Cell c{};
          for (Vector& v : c)
            for (double& x : v) x = on_grid(-1, 1);
          if (std::fabs(volume(c)) > 0.2) return c;
        }
    }
  }
  // The same lattice by longer vectors, of either hand.
  Cell skewed(Cell c) {
    for (int steps = below(8); steps > 0; --steps) {
      const int one = below(3), other = (one + 1 + below(2)) % 3;
      c[std::size_t(one)] = sum(c[std::size_t(one)], below(7) - 3, c[std::size_t(other)]);
    }
    if (below(2)) std::swap(c[0], c[1]);
    return c;
  }

 private:
  std::mt19937 random_;
};

double shortest_of_many(const Cell& c, Vector d) {
  const Vector f = fractions(c, d);
  for (std::size_t k = 0; k < 3; ++k) d = sum(d, -std::round(f[k]), c[k]);
  double shortest = length(d);
  for (int l = -3; l <= 3; ++l)
    for (int m = -3; m <= 3; ++m)
      for (int n = -3; n <= 3; ++n) shortest = std::min(shortest, length(sum(sum(sum(d, l, c[0]), m, c[1]), n, c[2])));
  return shortest;
}

const Pipeline& pipeline() {
  static const Pipeline parsed = parse({"cell.pipe",
                                        "input_i vec3 xi; input_j vec3 xj; param vec3 a; param vec3 b; param vec3 c;\n"
                                        "output(sum) vec3 d; output(min) real least;\n"
                                        "vec3 dx = nearest_image(xj - xi, a, b, c);\n"
                                        "d += dx; least = min(least, dot(dx, dx));"});
  return parsed;
}

using Summed = std::function<Columns(const OracleInput&)>;

// Of a float, or of two.
double kept(double x, Precision precision) { return precision == Precision::Single ? double(float(x)) : x; }

// Many i and one j: every i shows its copy.
void expect_shortest(const Summed& run, Precision precision, unsigned seed) {
  Random random(seed);
  const double epsilon = precision == Precision::Double ? 0x1p-53 : 0x1p-24;
  for (int trial = 0; trial < 40; ++trial) {
    const Cell cell = random.short_cell(trial % 8), given = random.skewed(cell);
    OracleInput input{.ni = 64, .nj = 1, .i = Columns(3, std::vector<double>(64)), .j = {{0}, {0}, {0}}, .params = {}};
    for (const Vector& v : given) input.params.insert(input.params.end(), v.begin(), v.end());
    for (std::size_t i = 0; i < 64; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) input.i[axis][i] = kept(random.number(-4, 4), precision);
    const Columns got = run(input);
    for (std::size_t i = 0; i < 64; ++i) {
      const Vector dx{-input.i[0][i], -input.i[1][i], -input.i[2][i]}, copy{got[0][i], got[1][i], got[2][i]};
      const double shortest = shortest_of_many(cell, dx);
      const Vector multiples = fractions(cell, sum(dx, -1, copy));
      Vector exact = dx;
      double terms = length(dx);
      for (std::size_t k = 0; k < 3; ++k) {
        exact = sum(exact, -std::round(multiples[k]), cell[k]);
        terms += std::abs(std::round(multiples[k])) * length(cell[k]);
      }
      // Three multiples of vectors and a few sums are taken off, none larger than all together, along three axes.
      const double rounding = 24 * epsilon * (terms + 4);
      EXPECT_LE(length(copy), shortest + rounding) << "seed " << seed << ", trial " << trial << ", i " << i;
      EXPECT_NEAR(std::sqrt(got[3][i]), length(copy), rounding);
      // A copy it is, and as exactly as it can be told.
      const double exactly = precision == Precision::Mixed ? 0x1p-23 * length(exact) + 0x1p-41 : rounding;
      EXPECT_NEAR(length(sum(exact, -1, copy)), 0, exactly) << "seed " << seed << ", trial " << trial << ", i " << i;
    }
  }
}

constexpr Precision kPrecisions[] = {Precision::Single, Precision::Mixed, Precision::Double};

TEST(PeriodicCell, ShortestCopiesOnTheCpu) {
  unsigned seed = 1;
  for (const Precision precision : kPrecisions)
    for (const Isa isa : runnable_isas()) {
      const CpuRun run(pipeline(), {.precision = precision, .math = seed % 2 ? Math::Fast : Math::Precise}, isa);
      expect_shortest([&run](const OracleInput& input) { return run(input); }, precision, seed++);
    }
}

TEST(PeriodicCell, ShortestCopiesInTheCudaText) {
  unsigned seed = 20;
  for (const Precision precision : kPrecisions) {
    const Options options{.precision = precision};
    const KernelSource source = emit_cuda(optimize(pipeline(), options, cuda_target()), options);
    CudaShim shim;
    CudaTextRun run(shim, source, {.threads = 8, .i_per_thread = 1, .j_tile = 16, .unroll = 2});
    expect_shortest([&run](const OracleInput& input) { return run(input, {.records = true}); }, precision, seed++);
  }
}

TEST(PeriodicCell, ShortestCopiesOfTheOracle) {
  expect_shortest([](const OracleInput& input) { return interpret(pipeline(), input).values; }, Precision::Double, 40);
}

// What a pair gets does not depend on those beside it, of which some are rounded once and some are tried further.
TEST(PeriodicCell, APairIsItsOwnAffair) {
  Random random(50);
  OracleInput input{.ni = 1, .nj = 500, .i = {{0}, {0}, {0}}, .j = Columns(3), .params = {}};
  for (const Vector& v : random.skewed(random.short_cell(1)))
    input.params.insert(input.params.end(), v.begin(), v.end());
  for (auto& column : input.j)
    for (int j = 0; j < 500; ++j) column.push_back(random.number(-2, 2));
  const CpuRun run(pipeline(), {}, detect_isa());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < 500; ++j) {
    OracleInput one = input;
    one.nj = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) one.j[axis] = {input.j[axis][j]};
    least = std::min(least, run(one)[3][0]);
  }
  EXPECT_EQ(run(input)[3][0], least);
}

// A cell as long as 10^30 is open, as vectors of 0 and infinite ones are; vectors of no volume make no cell.
TEST(PeriodicCell, MayBeOpenOrNone) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto copy = [](const std::vector<double>& cell, const Summed& run) {
    return run({.ni = 1, .nj = 1, .i = {{0}, {0}, {0}}, .j = {{0.9}, {-7}, {1e6}}, .params = cell});
  };
  std::vector<Summed> runs{[](const OracleInput& input) { return interpret(pipeline(), input).values; }};
  for (const Precision precision : kPrecisions) {
    const auto run = std::make_shared<CpuRun>(pipeline(), Options{.precision = precision}, detect_isa());
    runs.emplace_back([run](const OracleInput& input) { return (*run)(input); });
  }
  for (const Summed& run : runs) {
    const Columns slab = copy({1, 0, 0, 0, 1e30, 0, 0, 0, 1e30}, run);
    EXPECT_NEAR(slab[0][0], -0.1, 1e-7);
    EXPECT_EQ(slab[1][0], -7);
    EXPECT_EQ(slab[2][0], 1e6);
    for (const double open : {0.0, inf, -inf}) {
      EXPECT_EQ(copy({1, 0, 0, 0, open, 0, 0, 0, open}, run), slab);
      EXPECT_EQ(copy({0, open, 0, 0, 0, open, 1, 0, 0}, run), slab);
    }
    for (const std::vector<double>& none :
         {std::vector<double>{1, 0, 0, 2, 0, 0, 0, 0, 1}, {1, 0, 0, 2, 0, 0, 0, 0, 0}})
      EXPECT_TRUE(std::isnan(copy(none, run)[0][0])) << none[0] << ' ' << none[4];
  }
}

}  // namespace
}  // namespace nbcc::test
