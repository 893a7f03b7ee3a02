// How wrong a device may be: what the bound must allow, and what it must not.
#include "cli/error_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/emit_cpu.h"
#include "compiler/parse.h"

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
  return expect(pipeline, input, which, options, cpu_target(Isa::Avx2));
}

TEST(ErrorBound, IsAFewRoundingsOfTheTerms) {
  const Expectation e = expected("output(sum) real s;\ns += xj - xi;", {0}, {1, 2, -3});
  EXPECT_EQ(e.values[0][0], 0);
  EXPECT_EQ(e.scale[0][0], 6);
  EXPECT_GE(e.bound[0][0], 6 * kEpsilon);
  EXPECT_LE(e.bound[0][0], 20 * 6 * kEpsilon);
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

}  // namespace
}  // namespace nbcc::test
