// Sums on the CPU whose squared differences of wide vectors are computed as products, to a tolerance, against sums in
// double precision: the error of all i is within the tolerance, at awkward sizes, for every kind of text that has such
// kernels; and texts that keep their differences, with the reason.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "tests/support/far_trial.h"
#include "tests/support/wide_texts.h"

namespace nbcc::test {
namespace {

// Declarations of outputs and statements, which may use r2 and e.
constexpr const char* kTexts[][2] = {
    {"output(sum) real s;\n", "s += e;\n"},
    {"output(sum) real s;\n", "if (i_index != j_index) s += e / (1.0 + exp(-dot(xi, xj) / {0}));\n"},
    {"output(sum) real s;\noutput(sum) real t;\n", "s += e;\nt -= wj * sqrt(r2);\n"},
    {"output(logsumexp) real z;\n", "z = logsumexp(z, -r2 / {0});\n"},
    {"output(min) real low;\noutput(max) real high;\n", "low = min(low, r2);\nhigh = max(high, wj * r2);\n"},
    {"output(sum) real s;\noutput(sum) real g[{0}];\n",
     "s += e;\nfor (int k = 0; k < {0}; ++k) g[k] += grad(e, xi[k]);\n"},
};

Source text(std::size_t number, int elements) {
  const char* const* const one = kTexts[number];
  return wide_text(one[0], one[1], elements);
}

std::shared_ptr<KernelDevice> cpu(int threads = 1) {
  return std::make_shared<CpuDevice>(threads, detect_isa(), cpu_toolchain(), "", "");
}

class Trial : public FarTrial {
 public:
  Trial(const Source& source, Precision precision, int threads = 1)
      : FarTrial(source, precision, cpu(threads), "matrix units") {}
};

TEST(CentredProductSums, KeepTheTolerance) {
  for (std::size_t number = 0; number < std::size(kTexts); ++number) {
    const int elements = number % 2 == 0 ? 35 : 133;
    SCOPED_TRACE(fmt::format("text {}, {} elements", number, elements));
    Trial trial(text(number, elements), Precision::Single, 1 + int(number % 2));
    for (const auto& [ni, nj] : {std::pair{1, 1}, std::pair{7, 300}, std::pair{395, 129}}) {
      SCOPED_TRACE(fmt::format("{} and {} particles", ni, nj));
      trial.fill("uniform", ni, nj, false, unsigned(ni + 7));
      set_tolerance(trial.sum, 1e-5);
      trial.run();
      const SumStatistics found = trial.sum.statistics();
      EXPECT_EQ(found.method, "matrix units") << found.reason;
      EXPECT_EQ(found.far.precision, "products");
      EXPECT_LE(trial.error(), 1e-5);
    }
  }
}

// All vectors have a large part in common, which the centre takes away.
TEST(CentredProductSums, AreOfVectorsFarFromTheOrigin) {
  Trial trial(text(0, 64), Precision::Single);
  trial.fill("uniform", 200, 150, false, 3);
  for (const char* const name : {"xi", "xj"})
    for (double& x : trial.arrays[name]) x = 300 + double(float(x));
  trial.bind();
  set_tolerance(trial.sum, 1e-4);
  trial.run();
  EXPECT_EQ(trial.sum.statistics().far.precision, "products");
  EXPECT_LE(trial.error(), 1e-4);
}

// Near pairs of two distant clusters are differences of large norms.
TEST(CentredProductSums, LeaveDistantClustersToDifferences) {
  Trial trial(text(0, 64), Precision::Single);
  trial.fill("uniform", 200, 150, false, 3);
  for (const char* const name : {"xi", "xj"}) {
    std::vector<double>& values = trial.arrays[name];
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = float(values[k]) + (k / 64 % 2 == 0 ? 1000 : -1000);
  }
  trial.bind();
  set_tolerance(trial.sum, 1e-4);
  trial.run();
  EXPECT_EQ(trial.sum.method(), "all pairs");
  EXPECT_THAT(trial.sum.statistics().reason, testing::HasSubstr("products in place of differences have an error"));
  EXPECT_LE(trial.error(), 1e-4);
}

// Vectors of 20 clusters, some 1000 from the origin.
void put_in_clusters(Trial& trial, std::size_t elements) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> clusters(20 * elements);
  for (double& x : clusters) x = 1000 * normal(random);
  for (const char* const name : {"xi", "xj"}) {
    std::vector<double>& values = trial.arrays[name];
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = float(clusters[k / elements % 20 * elements + k % elements] + 0.5 * normal(random));
  }
}

// The third run would not measure its error for another reason.
TEST(CentredProductSums, AreMeasuredAgainAfterVectorsHaveMovedAway) {
  Trial trial(text(0, 64), Precision::Single, 2);
  trial.fill("uniform", 700, 600, false, 3);
  set_tolerance(trial.sum, 1e-4);
  for (int run = 0; run < 2; ++run) {
    trial.run();
    EXPECT_EQ(trial.sum.statistics().far.precision, "products");
  }
  put_in_clusters(trial, 64);
  trial.run();
  EXPECT_EQ(trial.sum.method(), "all pairs");
  EXPECT_LE(trial.error(), 1e-4);
}

// One i of many, which a random sample does not have, is near a j and far from the others.
TEST(CentredProductSums, DoNotLoseAFarPair) {
  Trial trial(text(0, 64), Precision::Single, 2);
  trial.fill("uniform", 5000, 100, false, 3);
  for (std::size_t k = 0; k < 64; ++k)
    trial.arrays["xi"][64 * 7 + k] = 1e4, trial.arrays["xj"][64 * 3 + k] = 1e4 + double(k % 2);
  trial.bind();
  set_tolerance(trial.sum, 1e-4);
  trial.run();
  EXPECT_EQ(trial.sum.method(), "all pairs");
  EXPECT_NEAR(trial.arrays["s"][7] / trial.exact["s"][7], 1, 1e-5);
}

// Infinities of one element have a difference that is NaN, unlike products.
TEST(CentredProductSums, AreThoseOfDifferencesForInfiniteElements) {
  for (const std::size_t element : {2, 3}) {
    SCOPED_TRACE(element);
    Trial trial(text(0, 40), Precision::Single);
    trial.fill("uniform", 300, 90, false, 3);
    trial.arrays["xi"][40 * 7 + 3] = INFINITY;
    trial.arrays["xj"][40 * 5 + element] = INFINITY;
    trial.bind();
    set_tolerance(trial.sum, 1e-4);
    trial.run();
    EXPECT_EQ(trial.sum.method(), "all pairs");
    EXPECT_THAT(trial.sum.statistics().reason, testing::HasSubstr("is not a finite number"));
    EXPECT_EQ(std::isnan(trial.exact["s"][7]), element == 3);
    EXPECT_EQ(std::isnan(trial.arrays["s"][7]), element == 3);
    if (element == 3) continue;
    EXPECT_EQ(trial.arrays["s"][7], 0);
    EXPECT_LE(trial.error(), 1e-4);
  }
}

TEST(CentredProductSums, AreRefusedByName) {
  constexpr std::int64_t kI = 50, kJ = 60, kElements = 40;
  const std::vector<double> x(std::size_t(kI * kElements), 0.5), y(std::size_t(kJ * kElements), 0.25),
      w(std::size_t(kJ), 1);
  const auto reason = [&](const std::string& output, const std::string& statements, const Options& options) {
    const std::string all =
        fmt::format(fmt::runtime(kWideInputs + ("output(" + output + " f;\n") + kWideDistance + statements), kElements);
    SumState sum(cpu()->load(build_cpu_kernel(Source{"wide.pipe", all}, options, detect_isa(), "")));
    std::vector<double> f(std::size_t(kI), -1);
    const auto bind = [&](const char* name, const std::vector<double>& values, std::int64_t count, std::int64_t width) {
      sum.bind(name, {const_cast<double*>(values.data()), Element::Double, count, 8 * width, 8});
    };
    bind("xi", x, kI, kElements);
    bind("xj", y, kJ, kElements);
    bind("wj", w, kJ, 1);
    bind("f", f, kI, 1);
    set_tolerance(sum, 1e-2);
    sum.run();
    sum.wait();
    EXPECT_EQ(sum.method(), "all pairs");
    EXPECT_NE(f[0], -1);
    return sum.statistics().reason;
  };
  const auto names_cpu = testing::HasSubstr("on a CPU products take the place of differences");
  const std::string sums = "f += e;\n";
  EXPECT_THAT(reason("argmin) index", "f = argmin(f, r2);\n", {}), names_cpu);
  EXPECT_THAT(reason("softmax) real", "f = softmax(f, -r2, wj);\n", {}), names_cpu);
  EXPECT_THAT(reason("sum) real", sums, {.precision = Precision::Mixed}), names_cpu);
  EXPECT_THAT(reason("sum) real", sums, {.math = Math::Precise}), names_cpu);
  EXPECT_THAT(reason("sum) real", "f += wj * exp(dot(xi, xj) / {0});\n", {}), names_cpu);
  Trial tight(text(0, 64), Precision::Single);
  tight.fill("uniform", 50, 50, false, 3);
  set_tolerance(tight.sum, 1e-12);
  EXPECT_THROW(tight.run(), UsageError);
}

TEST(CentredProductSums, AreInDoublePrecisionToo) {
  Trial trial(text(0, 40), Precision::Double);
  trial.fill("uniform", 70, 90, false, 3);
  set_tolerance(trial.sum, 1e-12);
  trial.run();
  EXPECT_EQ(trial.sum.statistics().far.precision, "products") << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(), 1e-12);
}

}  // namespace
}  // namespace nbcc::test
