// Sums over every periodic image: kept copies, images that are excluded by name, and what is refused.
// what_goes_together_test.cpp compares them with the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "compiler/source/parse.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"

namespace nbcc::test {
namespace {

class GridRandom {
 public:
  explicit GridRandom(std::uint64_t seed) : random_(seed) {}
  double on_grid(double low, double high) {
    return std::round(std::uniform_real_distribution<double>(low, high)(random_) * 64) / 64;
  }

 private:
  std::mt19937_64 random_;
};

// The message of the run's UsageError, or "" if it succeeds.
std::string refusal(SumState& sum) {
  try {
    sum.run();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

// Kept lists: particles that move a little, jump by periods, and cells that change.
TEST(EveryImageOnCpu, KeepsCopiesWithinTheSkin) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(2, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline = parse({"kept.pipe",
                                   "input_i vec3 xi; input_j vec3 xj; input_i real hi; input_j real hj;\n"
                                   "param vec3 a; param vec3 b; param vec3 c;\n"
                                   "output(count) int n; output(sum) real s;\n"
                                   "vec3 d = every_image(xj - xi, a, b, c);\nreal r2 = dot(d, d);\n"
                                   "skip_if(self_pair || sqrt(r2) > hi + hj); n += r2 >= 0.0; s += r2;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  constexpr std::int64_t kCount = 40;
  constexpr double kSkin = 0.5;
  std::vector<double> x(3 * kCount), h(kCount, 0.75), n(kCount), s(kCount);
  std::array<std::array<double, 3>, 3> cell{{{3, 0, 0}, {1, 2.5, 0}, {-0.5, 0.25, 2}}};
  GridRandom random(5);
  for (double& one : x) one = random.on_grid(0, 3);
  SumState kept(kernel);
  const auto bind = [&](SumState& sum) {
    sum.bind("xi", {x.data(), Element::Double, kCount, 24, 8});
    sum.bind("xj", {x.data(), Element::Double, kCount, 24, 8});
    sum.bind("hi", {h.data(), Element::Double, kCount, 8, 8});
    sum.bind("hj", {h.data(), Element::Double, kCount, 8, 8});
    sum.bind("n", {n.data(), Element::Double, kCount, 8, 8});
    sum.bind("s", {s.data(), Element::Double, kCount, 8, 8});
    for (std::size_t k = 0; k < 3; ++k) sum.set_param(std::string(1, "abc"[k]), cell[k]);
    sum.set_pairs(PairChoice::Cutoff);
  };
  bind(kept);
  kept.set_skin(kSkin);
  std::int64_t searches = 0;
  const auto expect_searches = [&](std::int64_t more, int line = __builtin_LINE()) {
    for (std::size_t k = 0; k < 3; ++k) kept.set_param(std::string(1, "abc"[k]), cell[k]);
    kept.run();
    const std::vector<double> n_kept = n, s_kept = s;
    SumState fresh(kernel);
    bind(fresh);
    fresh.run();
    EXPECT_EQ(n_kept, n);
    for (std::size_t k = 0; k < kCount; ++k) EXPECT_NEAR(s_kept[k], s[k], 1e-12 * (1 + s[k]));
    EXPECT_EQ(kept.statistics().searches, searches += more) << "line " << line;
    EXPECT_GT(std::accumulate(n.begin(), n.end(), 0.0), kCount);
  };
  expect_searches(1);
  const std::vector<double> start = x;
  for (int step = 0; step < 5; ++step) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = start[k] + random.on_grid(-0.1, 0.1);
    expect_searches(0);
  }
  x[3] += 0.5 * kSkin + 0.2;
  expect_searches(1);
  expect_searches(0);
  h[7] -= 0.1;
  expect_searches(0);
  h[7] += 1;
  expect_searches(1);
  cell[0][0] = 2.75;
  expect_searches(1);
  for (std::size_t k = 0; k < 3; ++k) x[30 + k] += 2 * cell[1][k];
  expect_searches(0);
}

// Few particles: an image that comes within reach only by the moves since the search has a copy, too.
TEST(EveryImageOnCpu, KeepsCopiesForTheSkin) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"skin.pipe",
             "input_i real xi; input_j real xj; output(count) int n;\n"
             "real d = every_image(xj - xi, 4.0);\nskip_if(self_pair || d * d > 1.0); n += d * d >= 0.0;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  std::vector<double> x{0.125, 3.0}, n(2);  // 1.125 apart, across the end of the cell
  SumState sum(kernel);
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 2, 8, 8});
  sum.bind("n", {n.data(), Element::Double, 2, 8, 8});
  sum.set_pairs(PairChoice::Cutoff);
  sum.set_skin(0.5);
  sum.run();
  EXPECT_EQ(n, (std::vector<double>{0, 0}));
  x = {0.0, 3.125};
  sum.run();
  EXPECT_EQ(n, (std::vector<double>{1, 1}));
  EXPECT_EQ(sum.statistics().searches, 1);
}

// The same image is excluded as by its image_index(); others stay.
TEST(EveryImageOnCpu, ExcludesTheImagesThatAreNamed) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"excluded.pipe",
             "input_i real xi; input_j real xj; param real side; output(sum) real s; output(count) int n;\n"
             "real d = every_image(xj - xi, side);\nskip_if(self_pair || d * d > 9.0); s += d; n += d * d >= 0.0;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  std::vector<double> x{0.25, 5.5}, s(2), n(2);  // the second is two cells away
  SumState sum(kernel);
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 2, 8, 8});
  sum.bind("s", {s.data(), Element::Double, 2, 8, 8});
  sum.bind("n", {n.data(), Element::Double, 2, 8, 8});
  const double side = 2;
  sum.set_param("side", {&side, 1});
  sum.run();
  // i = 0: its own images at +-2; the other at 5.25 - 2k: -2.75, -0.75, 1.25.
  EXPECT_EQ(n, (std::vector<double>{5, 5}));
  EXPECT_DOUBLE_EQ(s[0], -2.25);
  const std::vector<std::int64_t> first{0, 2, 2}, j{1, 0}, images{-2, 0, 0, 1, 0, 0};
  sum.set_exclusions(2, first.data(), 2, j.data(), images.data());
  sum.run();
  EXPECT_EQ(n, (std::vector<double>{3, 5}));
  EXPECT_DOUBLE_EQ(s[0], -2.25 - 1.25 - 2);
  const FoundPairs found = sum.find_pairs();
  EXPECT_EQ(found.first, (std::vector<std::int64_t>{0, 4, 10}));  // the pair of each with itself is found, too
  for (std::int64_t i = 0; i < 2; ++i)
    for (auto p = std::size_t(found.first[std::size_t(i)]); p < std::size_t(found.first[std::size_t(i) + 1]); ++p)
      EXPECT_LE(std::fabs(x[std::size_t(found.j[p])] + found.shifts[p] - x[std::size_t(i)]), 3);
}

// Whole numbers divide and wrap as in kernels: where the host would compute positions otherwise, there is no run.
TEST(EveryImageOnCpu, RefusesArithmeticOfWholeNumbers) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const auto message = [&](const std::string& side, const std::string& reach) -> std::string {
    const Pipeline pipeline =
        parse({"whole.pipe",
               "input_i real xi; input_i int ti; input_j real xj; param int m; output(count) int n;\n"
               "real d = every_image(xj - xi, " +
                   side + ");\nskip_if(d * d > " + reach + " * " + reach + "); n += d * d >= 0.0;\n"});
    const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {}, isa, "")));
    std::vector<double> x{0}, t{3}, n(1);
    SumState sum(kernel);
    const ArrayView view{x.data(), Element::Double, 1, 8, 8};
    sum.bind("xi", view);
    sum.bind("xj", view);
    sum.bind("ti", {t.data(), Element::Double, 1, 8, 8});
    sum.bind("n", {n.data(), Element::Double, 1, 8, 8});
    const double m = 3;
    sum.set_param("m", {&m, 1});
    const std::string message = refusal(sum);
    return message.empty() ? fmt::format("{}", n[0]) : message;
  };
  EXPECT_EQ(message("1.0", "2.5"), "5");
  EXPECT_EQ(message("real(m)", "3.5"), "3");
  EXPECT_NE(message("real(m / 2)", "2.5").find("of real numbers"), std::string::npos);
  EXPECT_NE(message("1.0", "real(m / 2)").find("of real numbers"), std::string::npos);
  EXPECT_NE(message("1.0", "real(ti / 2)").find("of real numbers"), std::string::npos);
}

// A run that fails does not change what later runs of the same sum give.
TEST(EveryImageOnCpu, GivesTheSameAfterAFailedRun) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"failed.pipe",
             "input_i real xi; input_j real xj; param real rc; output(count) int n;\n"
             "real d = every_image(xj - xi, 1.0);\nskip_if(d * d > rc * rc); n += d * d >= 0.0;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  std::vector<double> x{0.25, 0.75, 5.5}, n(3);
  SumState sum(kernel);
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 3, 8, 8});
  sum.bind("n", {n.data(), Element::Double, 3, 8, 8});
  sum.set_skin(0.1);
  const auto run = [&](double rc) {
    sum.set_param("rc", {&rc, 1});
    sum.run();
  };
  run(1.5);
  const std::vector<double> before = n;
  EXPECT_GT(before[0], 3);
  const std::vector<double> start = x;
  for (double& one : x) one += 5;
  EXPECT_THROW(run(1e12), UsageError);
  x = start;
  run(1.5);
  EXPECT_EQ(n, before);
}

TEST(EveryImageOnCpu, RefusesWhatItCannotSum) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"refused.pipe",
             "input_i vec2 xi; input_j vec2 xj; param vec2 box; param real rc; output(sum) real s;\n"
             "vec2 d = every_image(xj - xi, box);\nskip_if(dot(d, d) > rc * rc); s += 1.0;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {}, isa, "")));
  std::vector<double> x{0, 0, 1, 1}, s(2);
  SumState sum(kernel);
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 2, 16, 8});
  sum.bind("s", {s.data(), Element::Double, 2, 8, 8});
  const auto message = [&](std::array<double, 2> box, double rc) -> std::string {
    sum.set_param("box", box);
    sum.set_param("rc", {&rc, 1});
    const std::string message = refusal(sum);
    return message.empty() ? fmt::format("{} {}", s[0], s[1]) : message;
  };
  EXPECT_EQ(message({2, HUGE_VAL}, 1.5), "3 3");
  EXPECT_EQ(message({2, 0}, 1.5), "3 3");
  EXPECT_EQ(message({-2, HUGE_VAL}, 1.5), "3 3");
  EXPECT_THROW(message({2, NAN}, 1.5), UsageError);
  EXPECT_NE(message({1e-6, 1e-6}, 1e3).find("images of j-particle 0 alone may be within the reach 1000"),
            std::string::npos);
  EXPECT_NE(message({2, 2}, HUGE_VAL).find("may be within the reach inf"), std::string::npos);
  const std::vector<std::int64_t> first{0, 1, 1}, j{1};
  sum.set_listed_pairs(2, first.data(), 1, j.data());
  EXPECT_NE(message({2, 2}, 1).find("do not say which images act"), std::string::npos);
}

}  // namespace
}  // namespace nbcc::test
