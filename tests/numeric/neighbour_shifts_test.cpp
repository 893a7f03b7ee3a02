// The shifts of listed pairs (find_pairs) and the count of pairs within reach, in random lattices, against a search of
// all near images: each pair is listed with its minimum image, in skewed cells too.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"

namespace nbcc::test {
namespace {

using ShiftCell = std::array<std::array<double, 3>, 3>;

double length_of_row(const std::array<double, 3>& row) { return std::hypot(row[0], row[1], row[2]); }

// The length of the shortest image of `d`, or with `of_lattice` of the shortest lattice vector, by trial of 7^3 images.
double shortest_by_trial(const ShiftCell& cell, const std::array<double, 3>& d, bool of_lattice = false) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int l = -3; l <= 3; ++l)
    for (int m = -3; m <= 3; ++m)
      for (int n = -3; n <= 3; ++n) {
        if (of_lattice && l == 0 && m == 0 && n == 0) continue;
        std::array<double, 3> image{};
        for (std::size_t c = 0; c < 3; ++c) image[c] = d[c] + l * cell[0][c] + m * cell[1][c] + n * cell[2][c];
        shortest = std::min(shortest, length_of_row(image));
      }
  return shortest;
}

// Hexagonal and close-packed lattices, lattices near them, and random vectors; none is so flat that trial fails.
ShiftCell random_lattice(int kind, std::mt19937_64& random) {
  std::uniform_real_distribution<double> number(-1, 1);
  const double root = std::sqrt(0.75);
  for (;;) {
    ShiftCell cell = kind == 0   ? ShiftCell{{{1, 0, 0}, {0.5, root, 0}, {0, 0, 1}}}
                     : kind == 1 ? ShiftCell{{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}}
                     : kind == 2 ? ShiftCell{{{-1, 1, 1}, {1, -1, 1}, {1, 1, -1}}}
                                 : ShiftCell{};
    const double change = kind < 3 ? 0.1 * double(random() % 3) : 1;
    for (auto& vector : cell)
      for (double& x : vector) x += change * number(random);
    const auto& [a, b, c] = cell;
    const double volume =
        a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    if (std::fabs(volume) > 0.3 * length_of_row(a) * length_of_row(b) * length_of_row(c)) return cell;
  }
}

TEST(NeighbourShifts, AreThoseOfTheMinimumImageInRandomLattices) {
  constexpr std::size_t kCount = 40;
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"shifts.pipe",
             "input_i vec3 xi; input_j vec3 xj; param vec3 a; param vec3 b; param vec3 c; param real rc;\n"
             "output(count) int n;\nvec3 d = nearest_image(xj - xi, a, b, c);\n"
             "skip_if(dot(d, d) >= rc * rc); n += true;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  std::mt19937_64 random(62);
  std::uniform_real_distribution<double> fraction(-0.6, 1.6), part(0.3, 0.9);
  std::int64_t images = 0;
  for (int trial = 0; trial < 90; ++trial) {
    SCOPED_TRACE(trial);
    const ShiftCell cell = random_lattice(trial % 4, random);
    const double rc = part(random) * shortest_by_trial(cell, {}, true);
    std::vector<double> x, n(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::array<double, 3> f{fraction(random), fraction(random), fraction(random)};
      for (std::size_t c = 0; c < 3; ++c) x.push_back(f[0] * cell[0][c] + f[1] * cell[1][c] + f[2] * cell[2][c]);
    }
    SumState sum(kernel);
    for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, kCount, 24, 8});
    sum.bind("n", {n.data(), Element::Double, kCount, 8, 8});
    for (std::size_t k = 0; k < 3; ++k) sum.set_param(std::array{"a", "b", "c"}[k], cell[k]);
    sum.set_param("rc", {&rc, 1});
    sum.set_pairs(PairChoice::Cutoff);
    sum.run();
    const std::int64_t counted = sum.statistics().pairs_within;
    const FoundPairs found = sum.find_pairs();
    std::size_t within = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(double(found.first[i + 1] - found.first[i]), n[i]);
      for (std::size_t j = 0; j < kCount; ++j) {
        std::array<double, 3> d{};
        for (std::size_t c = 0; c < 3; ++c) d[c] = x[3 * j + c] - x[3 * i + c];
        within += shortest_by_trial(cell, d) < rc;
      }
      for (auto p = std::size_t(found.first[i]); p < std::size_t(found.first[i + 1]); ++p) {
        std::array<double, 3> d{}, image{};
        for (std::size_t c = 0; c < 3; ++c) {
          d[c] = x[3 * std::size_t(found.j[p]) + c] - x[3 * i + c];
          image[c] = d[c] + found.shifts[3 * p + c];
        }
        EXPECT_NEAR(length_of_row(image), shortest_by_trial(cell, d), 1e-13) << "i " << i << ", j " << found.j[p];
        images += length_of_row(image) < length_of_row(d);
      }
    }
    EXPECT_EQ(found.j.size(), within);
    EXPECT_EQ(counted, std::int64_t(within));
  }
  EXPECT_GT(images, 5000);
}

}  // namespace
}  // namespace nbcc::test
