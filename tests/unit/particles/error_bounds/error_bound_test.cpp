// How wrong a device may be: what the bound must allow, and what it must not.
#include "particles/error_bounds/error_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/source/parse.h"
#include "tests/support/every_pipeline.h"
#include "tests/support/random_pipeline.h"

namespace nbcc::test {
namespace {

constexpr double kEpsilon = 0x1p-23;

Expectation expected(const std::string& body, std::vector<double> xi, std::vector<double> xj,
                     const Options& options = {}) {
  const Pipeline pipeline = parse({"test.pipe", "input_i real xi;\ninput_j real xj;\n" + body});
  OracleInput input;
  input.ni = std::int64_t(xi.size());
  input.nj = std::int64_t(xj.size());
  input.i = {std::move(xi)};
  input.j = {std::move(xj)};
  std::vector<std::int64_t> which;
  for (std::int64_t k = 0; k < input.ni; ++k) which.push_back(k);
  return expect(pipeline, input, which, options, facts(Isa::Avx2).target);
}

TEST(ErrorBound, IsAFewRoundingsOfTheTerms) {
  const Expectation e = expected("output(sum) real s;\ns += xj - xi;", {0}, {1, 2, -3});
  EXPECT_EQ(e.values[0][0], 0);
  EXPECT_EQ(e.scale[0][0], 6);
  EXPECT_GE(e.bound[0][0], 6 * kEpsilon);
  EXPECT_LE(e.bound[0][0], 20 * 6 * kEpsilon);
}

// Across the edge of a periodic box mixed precision is as exact as elsewhere, and the bound says so.
TEST(ErrorBound, IsTightForNearestImagesInMixedPrecision) {
  const std::string body = "param real box = 9.7;\noutput(sum) real s;\ns += nearest_image(xj - xi, box);";
  const Pipeline pipeline = parse({"test.pipe", "input_i real xi;\ninput_j real xj;\n" + body});
  const OracleInput input{.ni = 1, .nj = 1, .i = {{2e-4}}, .j = {{9.6999}}, .params = {9.7}};
  const std::int64_t first = 0;
  const auto bound = [&](Precision precision) {
    return expect(pipeline, input, {&first, 1}, {.precision = precision}, facts(Isa::Avx2).target).bound[0][0];
  };
  EXPECT_LE(bound(Precision::Mixed), 40 * kEpsilon * 3e-4);
  EXPECT_GE(bound(Precision::Single), 4 * kEpsilon);
}

TEST(ErrorBound, IsTightForImagesInACellInMixedPrecision) {
  const std::string body =
      "param vec3 a; param vec3 b; param vec3 c;\noutput(sum) vec3 s;\n"
      "s += nearest_image(xj - xi, a, b, c);";
  const Pipeline pipeline = parse({"test.pipe", "input_i vec3 xi;\ninput_j vec3 xj;\n" + body});
  const OracleInput input{.ni = 1,
                          .nj = 1,
                          .i = {{2e-4}, {0}, {0}},
                          .j = {{3.1 + 9.7 - 1e-4}, {9.4}, {1e-3}},
                          .params = {9.7, 0, 0, 3.1, 9.4, 0, 0.3, -2.2, 9.1}};
  const std::int64_t first = 0;
  const auto bound = [&](Precision precision) {
    return expect(pipeline, input, {&first, 1}, {.precision = precision}, facts(Isa::Avx2).target).bound[0][0];
  };
  EXPECT_LE(bound(Precision::Mixed), 100 * kEpsilon * 1e-3);
  EXPECT_GE(bound(Precision::Single), 4 * kEpsilon);
  EXPECT_LE(bound(Precision::Single), 1000 * kEpsilon);
}

TEST(ErrorBound, GrowsWithTheConditionOfATerm) {
  // exp(-40 x): an error of one rounding in 40 x is 40 in the result.
  const Expectation steep = expected("output(sum) real s;\ns += exp(-40.0 * (xj - xi) * (xj - xi));", {0}, {1});
  EXPECT_GE(steep.bound[0][0], 40 * kEpsilon * steep.scale[0][0]);
  EXPECT_LE(steep.bound[0][0], 1000 * kEpsilon * steep.scale[0][0]);
}

TEST(ErrorBound, CoversCancellationInsideOfATerm) {
  const std::string body = "output(sum) real s;\nreal r = sqrt((xj - xi) * (xj - xi) + 1.0);\ns += r - 1.0;";
  const Expectation e = expected(body, {0}, {0x1p-10});
  EXPECT_GE(e.bound[0][0], kEpsilon);
  EXPECT_LE(e.bound[0][0], 50 * kEpsilon);
}

TEST(ErrorBound, LeavesAPairAtTheCutoffToRounding) {
  const std::string body = "output(sum) real s;\nreal r = sqrt((xj - xi) * (xj - xi));\nif (r < 0.75) s += 1.0;";
  EXPECT_GE(expected(body, {0}, {0.75}).bound[0][0], 1);
  EXPECT_LT(expected(body, {0}, {0.5}).bound[0][0], 1e-4);
}

TEST(ErrorBound, AllowsWhatRoundingTheInputsDoes) {
  const std::string body = "output(sum) real s;\ns += xj - xi;";
  const double off = 1 + 0x1p-30;  // float does not tell it from 1
  EXPECT_GE(expected(body, {1}, {off}).bound[0][0], 0x1p-30);
  Options mixed;
  mixed.precision = Precision::Mixed;
  EXPECT_LT(expected(body, {1}, {off}, mixed).bound[0][0], 0x1p-40);
}

TEST(ErrorBound, IndicesMustBeRightUnlessTwoCandidatesAreAsGood) {
  const std::string body = "output(argmin) index s;\nreal d = (xj - xi) * 1.1;\ns = argmin(s, d * d);";
  const Expectation clear = expected(body, {0}, {3, 1, 2});
  EXPECT_EQ(clear.values[0][0], 1);
  EXPECT_EQ(clear.bound[0][0], 0);
  EXPECT_TRUE(std::isinf(expected(body, {0}, {3, 1, 1 + 0x1p-23}).bound[0][0]));
}

TEST(ErrorBound, PassesThroughFinish) {
  const std::string sum = "output(sum) real s;\ns += xj - xi;\n";
  const Expectation e = expected(sum + "void finish() { s = 1000.0 * s; }", {0}, {1, 2});
  EXPECT_EQ(e.values[0][0], 3000);
  EXPECT_NEAR(e.scale[0][0], 3000, 3);
  EXPECT_GE(e.bound[0][0], 3000 * kEpsilon);
}

TEST(ErrorBound, ABareEstimateIsAllowedMore) {
  Options estimate;
  estimate.root = RootMode::Estimate;
  const std::string body = "output(sum) real s;\ns += rsqrt((xj - xi) * (xj - xi) + 1.0);";
  EXPECT_GT(expected(body, {0}, {1}, estimate).bound[0][0], 20 * expected(body, {0}, {1}).bound[0][0]);
}

// Each is a sign of a bound that was none; what is wrong by a term is beyond it all the same.

TEST(ErrorBound, EqualTermsRoundAllTheSameWay) {
  const std::string body = "output(sum) real s;\nif (xj <= xi) s += 0.1;";
  std::vector<double> xj;
  for (int k = 0; k < 3000; ++k) xj.push_back(k);
  const Expectation e = expected(body, {2999}, xj);
  float lane = 0;
  for (int k = 0; k < 128; ++k) lane += 0.1f;
  EXPECT_GE(e.bound[0][0] / 3000, std::fabs(lane - 12.8) / 128);
  EXPECT_LT(e.bound[0][0], 0.1);
}

TEST(ErrorBound, AConstantIsRounded) {
  const Expectation e = expected("output(min) real s;\ns = min(s, max(xj * xj, 0.01));", {0}, {0, 0.5});
  EXPECT_GE(e.bound[0][0], std::fabs(double(0.01f) - 0.01));
  EXPECT_LT(e.bound[0][0], 1e-8);
}

TEST(ErrorBound, WholeExtremesWithoutACandidateAreTheLastNumbers) {
  const Expectation e = expected("output(min) int s;\noutput(max) index t;\ns = min(s, 1);\nt = max(t, 1);", {0}, {});
  EXPECT_EQ(e.values[0][0], 0x1p63);
  EXPECT_EQ(e.values[1][0], -0x1p63);
}

TEST(ErrorBound, AConditionMayBeWrongTwice) {
  // 3 * 0.3 is above 0.9 in float and below it in double.
  const std::string twice =
      "output(sum) real s;\nreal r = xj * 0.3;\nreal a = r > 0.9 ? 4.0 : 0.0;\nreal b = r > 0.9 ? 5.0 : 0.0;\ns += a * "
      "b;";
  EXPECT_GE(expected(twice, {0}, {3}).bound[0][0], 20);
  EXPECT_LT(expected(twice, {0}, {2}).bound[0][0], 1e-4);
}

TEST(ErrorBound, BothSidesOfAComparisonAreUncertain) {
  const std::string body = "output(sum) real s;\nreal r = xj * 1.1 * 1.1, q = xi * 1.1 * 1.1;\nif (r < q) s += 1.0;";
  EXPECT_GE(expected(body, {1}, {1 + 6 * kEpsilon}).bound[0][0], 1);
}

TEST(ErrorBound, ADivisorMayBeZero) {
  const std::string body = "output(sum) real s;\nreal r = sqrt(xj) * sqrt(xj) - xj;\ns += 1.0 / (r + 1e-9);";
  EXPECT_TRUE(std::isinf(expected(body, {0}, {0.3}).bound[0][0]));
}

// Whether an infinite difference is less than a limit is uncertain, and beyond it the term is no number.
TEST(ErrorBound, ATermThatMayBeThereAndIsNoNumberMakesItInfinite) {
  const Expectation e = expected("output(sum) real s;\nskip_if(xi - xj < -1.0);\ns += sin(xj);", {0}, {0.5, INFINITY});
  EXPECT_EQ(e.values[0][0], std::sin(0.5));
  EXPECT_EQ(e.bound[0][0], INFINITY);
}

// J0 has a zero near 11.79, where the result is small and its error is that of the amplitude, 0.23.
TEST(ErrorBound, OfOscillatingBesselFunctionsIsThatOfTheAmplitude) {
  const auto of = [](double x) { return expected("output(sum) real s;\ns += bessel_j0(xj) * 1.0;", {0}, {x}); };
  const Expectation at_zero = of(double(11.7915344f)), below_6 = of(double(2.4048254f));
  EXPECT_LT(std::fabs(at_zero.values[0][0]), 1e-6);
  EXPECT_GE(at_zero.bound[0][0], 5 * kEpsilon * 0.2);
  EXPECT_LE(at_zero.bound[0][0], 20 * kEpsilon);
  EXPECT_LE(below_6.bound[0][0], 20 * kEpsilon * std::fabs(below_6.values[0][0]));
}

TEST(ErrorBound, AFloatIsOneInDoublePrecision) {
  const Pipeline pipeline = parse({"test.pipe", "input_j float x;\noutput(sum) float s;\ns += x;"});
  const std::vector<std::int64_t> which{0};
  const OracleInput input{.ni = 1, .nj = 2, .i = {}, .j = {{0.1, 0.7}}, .params = {}};
  const Expectation e = expect(pipeline, input, which, {.precision = Precision::Double}, facts(Isa::Avx2).target);
  EXPECT_GE(e.bound[0][0], std::fabs(double(0.1f) + double(0.7f) - e.values[0][0]));
  EXPECT_LT(e.bound[0][0], 1e-6);
}

// Numbers that may be anything, because rounding decides, of those that are finite.
struct Count {
  int undecided = 0, all = 0;
  void add(const Values& values, const Values& bounds) {
    for (const auto& [field, row] : values)
      for (std::size_t k = 0; k < row.size(); ++k) {
        if (!std::isfinite(row[k])) continue;
        ++all;
        undecided += std::isinf(bounds.at(field)[k]);
      }
  }
};

// A bound that is infinite tests nothing: the particles of the tests leave next to none of them.
TEST(ErrorBound, LeavesNextToNothingOfTheLibraryToRounding) {
  Count count;
  for (const std::string& name : library()) {
    const Oracle oracle(name);
    for (const auto& [ni, nj] : {std::pair{129, 129}, {31, 1000}, {1, 1}}) {
      const Particles particles = random_particles(oracle.pipeline(), ni, nj, /*seed=*/7);
      count.add(oracle(particles).values, oracle.bounds(particles, NBCC_SINGLE));
    }
  }
  EXPECT_GT(count.all, 10'000);
  EXPECT_LE(count.undecided, count.all / 1000);
}

TEST(ErrorBound, LeavesFewNumbersOfRandomPipelinesToRounding) {
  Count count;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Pipeline pipeline = parse({"random.pipe", random_pipeline_text(seed)});
    const OracleInput input = random_pipeline_input(pipeline, 5, 37, seed);
    const Expectation e = random_pipeline_expectation(pipeline, input, Precision::Single);
    for (std::size_t c = 0; c < e.values.size(); ++c) count.add({{"", e.values[c]}}, {{"", e.bound[c]}});
  }
  EXPECT_GT(count.all, 2000);
  EXPECT_LE(count.undecided, count.all / 50);
}

// The oracle's doubles make 0 of it.
TEST(ErrorBound, IndicesBeyondDoublesAreUncertain) {
  const std::string body =
      "output(min) index s;\nindex n = index(xj) * 4503599627370496 + 1;\n"
      "s = min(s, n - index(xj) * 4503599627370496);";
  EXPECT_GE(expected(body, {0}, {4}).bound[0][0], 1);
  EXPECT_EQ(expected(body, {0}, {1}).bound[0][0], 0);
}

}  // namespace
}  // namespace nbcc::test
