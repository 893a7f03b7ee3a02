// Histograms of totals: elements that pairs name, against the oracle: integers and real numbers, guards, elements out
// of range, several statements, all pairs, searches, lists, parts, chosen i; exact sums of real numbers, which have the
// same bits for any number of threads and on any device; on the CPU, on the shim and on a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/run/histograms.h"
#include "tests/support/asked.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/histogram_trial.h"
#include "tests/support/on_gpu.h"

namespace nbcc {
namespace {

const std::string kHistograms = R"(
input_i vec3 xi; input_i real mi; input_i int ki;
input_j vec3 xj; input_j real mj; input_j int kj;
param real rc = 1e9;
output(sum) vec3 force;
output(total) index n[40];
output(total) real g[40];
output(total) double kinds[2000];
output(total, count) int near[3];
output(total) real energy;
output(total) real moments[2];
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
force += mj * dx;
int bin = int(floor(dx.x * 16.0)) + 10;
n[bin] += 1;
g[bin] += mi * mj;
if (kj > 2) { n[39] += ki; n[kj] -= 2; }
kinds[ki * 40 + kj] += double(mj);
near[ki % 4] += mj > 0.5;
energy += mi * mj;
moments[0] += mi; moments[1] += mj;
void finish() { energy += 1; }
)";

const Pipeline& pipeline() {
  static const Pipeline parsed = parse({"histograms.pipe", kHistograms});
  return parsed;
}

// Pairs outside of the array, and what no integer is.
constexpr char kSmall[] =
    "input_i real x; input_j real y; input_j real w; output(total) index n[4]; output(total) real g[4];\n"
    "int bin = int(x + y); n[bin] += 1; g[bin] += w;";

struct SmallSum {
  explicit SmallSum(const std::shared_ptr<const Kernel>& kernel, std::size_t ni = 1) : x(ni, 0.0), sum(kernel) {
    sum.bind("x", {x.data(), Element::Double, std::int64_t(ni), 8, 8});
    sum.bind("y", {y.data(), Element::Double, std::int64_t(y.size()), 8, 8});
    sum.bind("w", {w.data(), Element::Double, std::int64_t(w.size()), 8, 8});
    sum.bind("n", {n, Element::Int64, 1, 0, 8});
    sum.bind("g", {g, Element::Double, 1, 0, 16});
  }
  std::vector<double> x;
  std::vector<double> y{-0.5, 3.5, 4, -1, 1e30, -1e30, HUGE_VAL, std::nan(""), 2, 2, 1},
      w{1, 2, 4, 8, 16, 32, 64, 128, 0x1p-149, -0x1p100, 0.1};
  std::int64_t n[4] = {-1, -1, -1, -1};
  double g[8] = {7, 7, 7, 7, 7, 7, 7, 7};
  SumState sum;
};

std::shared_ptr<const Kernel> small_kernel(Precision precision = Precision::Single) {
  CpuDevice device(2, detect_isa(), test::cpu_toolchain(), "", "");
  return device.load(build_cpu_kernel(parse({"small.pipe", kSmall}), {.precision = precision}, detect_isa(), ""));
}

TEST(Histogram, ElementsOutOfRange) {
  SmallSum small(small_kernel());
  small.sum.run();
  EXPECT_THAT(small.n, testing::ElementsAre(1, 1, 2, 1));
  EXPECT_THAT(small.g, testing::ElementsAre(1, 7, double(0.1f), 7, 0x1p-149 - 0x1p100, 7, 2, 7));
  small.sum.run({.accumulate = true});
  EXPECT_THAT(small.n, testing::ElementsAre(2, 2, 4, 2));
  EXPECT_EQ(small.g[6], 4);
  EXPECT_EQ(small.sum.statistics().terms_outside, 12);
}

TEST(Histogram, SpecialValues) {
  SmallSum small(small_kernel());
  small.y = {0, 0, 1, 1, 2, 3, 3};
  small.w = {HUGE_VAL, 1, HUGE_VAL, -HUGE_VAL, std::nan(""), -HUGE_VAL, 3};
  small.sum.bind("y", {small.y.data(), Element::Double, 7, 8, 8});
  small.sum.bind("w", {small.w.data(), Element::Double, 7, 8, 8});
  small.sum.run();
  EXPECT_EQ(small.g[0], HUGE_VAL);
  EXPECT_TRUE(std::isnan(small.g[2]));
  EXPECT_TRUE(std::isnan(small.g[4]));
  EXPECT_EQ(small.g[6], -HUGE_VAL);
}

// Exact: a sum in any order of doubles would lose the small terms.
TEST(Histogram, ExactSums) {
  SmallSum small(small_kernel(Precision::Double));
  small.y.assign(7, 0);
  small.w = {1e300, 1, -1e300, 0x1p-1074, 1e-300, -1, -1e-300};
  small.sum.bind("y", {small.y.data(), Element::Double, 7, 8, 8});
  small.sum.bind("w", {small.w.data(), Element::Double, 7, 8, 8});
  small.sum.run();
  EXPECT_EQ(small.g[0], 0x1p-1074);
  small.w = {-0x1.fffffffffffffp1023, 1, 0, 0, 0, 0, 0};
  small.sum.run();
  EXPECT_EQ(small.g[0], -0x1.fffffffffffffp1023);
  // Rounded once: just above, and just below, the middle of two doubles.
  small.w = {1, 0x1p-53, 0x1p-1074, 0, 0, 0, 0};
  small.sum.run();
  EXPECT_EQ(small.g[0], 1 + 0x1p-52);
  small.w = {-1 - 0x1p-52, -0x1p-53, 0x1p-1074, 0, 0, 0, 0};
  small.sum.run();
  EXPECT_EQ(small.g[0], -1 - 0x1p-52);
}

// Rounded once: what is far below half of a unit in the last place decides a tie, and the bits between are not rounded
// first.
TEST(Histogram, SumsAreRoundedOnce) {
  SmallSum small(small_kernel(Precision::Double));
  const auto sum_of = [&](std::vector<double> terms) {
    small.w = std::move(terms);
    small.y.assign(small.w.size(), 0);
    const auto count = std::int64_t(small.w.size());
    small.sum.bind("y", {small.y.data(), Element::Double, count, 8, 8});
    small.sum.bind("w", {small.w.data(), Element::Double, count, 8, 8});
    small.sum.run();
    return small.g[0];
  };
  EXPECT_EQ(sum_of({1, 0x1p-53, 0x1p-200}), 1 + 0x1p-52);
  EXPECT_EQ(sum_of({1, 0x1p-53, -0x1p-200}), 1);
  EXPECT_EQ(sum_of({1, 0x1p-53}), 1);
  EXPECT_EQ(sum_of({-1, -0x1p-53, -0x1p-1074}), -1 - 0x1p-52);
  EXPECT_EQ(sum_of({1 + 0x1p-52, 0x1p-53, -0x1p-300}), 1 + 0x1p-52);
  EXPECT_EQ(sum_of({0x1p-1074, 0x1p-1022, -0x1p-1074, 0x1p-1074}), 0x1p-1022 + 0x1p-1074);
  EXPECT_EQ(sum_of({0x1.fffffffffffffp1023, 0x1p970}), HUGE_VAL);
  EXPECT_EQ(sum_of({0x1.fffffffffffffp1023, 0x1p970, -0x1p-1074}), 0x1.fffffffffffffp1023);
  EXPECT_EQ(sum_of({0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023}), 0x1.fffffffffffffp1023);
  EXPECT_FALSE(std::signbit(sum_of({-0.0, -0.0})));
}

// As many terms as make the words of a digit pass 64 bits if they are not carried.
TEST(Histogram, WordsAreCarriedInTime) {
  const auto kernel = small_kernel(Precision::Double);
  HistogramsOfThreads histograms(kernel->source);
  HistogramWords sum(kernel->source);
  histograms.begin(&sum);
  const int h = kernel->source.histograms[0].element == Element::Double ? 0 : 1;
  const HistogramLayout& layout = kernel->source.histograms[std::size_t(h)];
  // A kernel adds the largest digit for each of 2^33 pairs.
  constexpr double kPairs = 0x1p33, kTimes = 64;
  const auto digit = (std::int64_t(1) << layout.digit) - 1;
  for (int k = 0; k < int(kTimes); ++k) {
    std::int64_t* const word = histograms.here(kPairs)[h] + layout.words;
    ASSERT_LT(*word, std::numeric_limits<std::int64_t>::max() - std::int64_t(kPairs) * digit);
    *word += std::int64_t(kPairs) * digit;
  }
  histograms.end();
  EXPECT_EQ(sum.real(std::size_t(h), 0, 0), std::ldexp(kPairs * kTimes * double(digit), -1074));
  histograms.begin(&sum);  // nothing is left
  histograms.end();
  EXPECT_EQ(sum.real(std::size_t(h), 0, 0), std::ldexp(kPairs * kTimes * double(digit), -1074));
}

// ---- GPUs

// The kernel of a text, as if words could take no more than these terms.
std::shared_ptr<const Kernel> kernel_with_limit(CudaDevice& device, const Pipeline& of, double most_terms) {
  KernelSource source = build_cuda_kernel(of, {}, "");
  for (HistogramLayout& layout : source.histograms) layout.most_terms = most_terms;
  return device.load(source);
}

// Runs with more pairs than words can take have the same results; what cannot be summed for some i at a time is
// refused.
void expect_limited_runs(CudaDevice& device) {
  const OracleInput input = test::weighted_particles(pipeline(), 131, 300);
  const auto whole = device.load(build_cuda_kernel(pipeline(), {}, ""));
  const auto limited = kernel_with_limit(device, pipeline(), 5000);
  for (const CudaGpu* gpu : {static_cast<const CudaGpu*>(nullptr), &device.gpu()})
    for (const std::int64_t begin : {0, 7}) {
      const test::KernelRunChoice choice{.begin = begin, .count = 131 - 2 * begin, .arrays_on = gpu};
      EXPECT_EQ(test::run_kernel(limited, input, choice), test::run_kernel(whole, input, choice));
    }
  const auto refused = testing::ThrowsMessage<DeviceError>(testing::HasSubstr("take the terms of at most 5e+03 pairs"));
  EXPECT_THAT([&] { test::run_kernel(limited, input, {.parts = {{0, 150}, {150, 300}}}); }, refused);
  const auto in_one_batch = [](SumState& sum) {
    sum.set_batches(1, 131, std::vector<std::int64_t>(131).data(), 300, std::vector<std::int64_t>(300).data());
  };
  EXPECT_THAT([&] { test::run_kernel(limited, input, {.prepare = in_one_batch}); }, refused);
}

TEST(Histogram, RunsOfMorePairsThanWordsTake) {
  test::CudaShim shim;
  shim.set_device({.multiprocessors = 2, .clock_kilohertz = 1});  // every launch is predicted to take long
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_limited_runs(device);
  // 100 i and 11 j, 4 i at a time: one progress for all; then some of the i again.
  SmallSum small(kernel_with_limit(device, parse({"small.pipe", kSmall}), 50), 100);
  test::Asked asked;
  small.sum.run({.progress = &asked.progress});
  EXPECT_THAT(small.n, testing::ElementsAre(100, 100, 200, 100));
  EXPECT_EQ(small.g[6], 200);
  ASSERT_GT(asked.fractions.size(), 10u);
  EXPECT_TRUE(std::ranges::is_sorted(asked.fractions));
  EXPECT_LT(asked.fractions[asked.fractions.size() / 2], 0.75);
  const std::vector<std::int64_t> list{99, 0, 3, 5, 7, 8, 13};
  small.sum.run({.i_count = 7, .i_list = list.data(), .accumulate = true});
  EXPECT_THAT(small.n, testing::ElementsAre(107, 107, 214, 107));
  EXPECT_EQ(small.g[6], 214);
}

class HistogramOnGpu : public test::OnGpu {};

TEST_F(HistogramOnGpu, RunsOfMorePairsThanWordsTake) { expect_limited_runs(*device_); }

}  // namespace
}  // namespace nbcc
