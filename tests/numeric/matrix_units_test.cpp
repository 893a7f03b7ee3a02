// Sums whose products of vectors are computed by matrix instructions, on the CUDA shim, against sums in double
// precision: the error of all i is within the tolerance, at awkward sizes, for every kind of text that has such
// kernels.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/far_trial.h"
#include "tests/support/random_source.h"
#include "tests/support/wide_texts.h"

namespace nbcc::test {
namespace {

// Declarations of outputs and statements, which may use r2 and e.
constexpr const char* kTexts[][2] = {
    {"output(sum) real s;\n", "s += e;\n"},
    {"output(sum) real s;\n", "s += wj / (1.0 + exp(-dot(xi, xj) / {0}));\n"},
    {"output(sum) real s;\n", "if (i_index != j_index) s += e;\n"},
    {"output(sum) real s;\noutput(sum) real t;\n", "s += e;\nt -= wj * sqrt(r2);\n"},
    {"output(logsumexp) real z;\n", "z = logsumexp(z, -r2 / {0});\n"},
    {"output(min) real low;\noutput(max) real high;\n", "low = min(low, r2);\nhigh = max(high, wj * r2);\n"},
    {"output(sum) real s;\noutput(sum) real g[{0}];\n",
     "s += e;\nfor (int k = 0; k < {0}; ++k) g[k] += grad(e, xi[k]);\n"},
    {"input_j real bj[40];\noutput(sum) real g[40];\n", "for (int k = 0; k < 40; ++k) g[k] += e * bj[k];\n"},
};

class MatrixUnits : public testing::Test {
 protected:
  CudaShim shim;
  std::shared_ptr<CudaDevice> device = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  static Source text(std::size_t number, int elements) {
    const char* const* const one = kTexts[number];
    return wide_text(one[0], one[1], elements);
  }
};

TEST_F(MatrixUnits, KeepTheTolerance) {
  RandomSource random(11);
  std::set<std::string> seen;
  for (std::size_t number = 0; number < std::size(kTexts); ++number) {
    const int elements = int(random.between(33, 150));
    SCOPED_TRACE(fmt::format("text {}, {} elements", number, elements));
    FarTrial trial(text(number, elements), Precision::Single, device, "matrix units");
    for (const auto& [ni, nj] : {std::pair{1, 1}, std::pair{5, 300}, std::pair{130, 129}}) {
      for (const double tolerance : {2e-2, 5e-7}) {
        SCOPED_TRACE(fmt::format("{} and {} particles, tolerance {}", ni, nj, tolerance));
        trial.fill("uniform", ni, nj, false, unsigned(ni + 7));
        set_tolerance(trial.sum, tolerance);
        trial.run();
        const SumStatistics found = trial.sum.statistics();
        EXPECT_EQ(found.method, "matrix units") << found.reason;
        seen.insert(std::string(found.far.precision));
        EXPECT_LE(trial.error(), tolerance);
      }
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"half", "two halves"}));
}

// finish() is applied to the sums of matrix instructions, and totals are made of its results; pairs are excluded; some
// i are chosen.
TEST_F(MatrixUnits, SumAsAllPairsDo) {
  const std::string text =
      fmt::format(fmt::runtime(std::string(kWideInputs) + "output(sum) real s;\noutput(total) real all;\n" +
                               kWideDistance + "s += e;\nall += e;\nvoid finish() {{ s = 10.0 + 3.0 * s; }}\n"),
                  70);
  constexpr std::size_t kI = 140, kJ = 70;
  std::vector<double> x(kI * 70), y(kJ * 70), w(kJ);
  RandomSource random(5);
  for (std::vector<double>* const of : {&x, &y, &w})
    for (double& value : *of) value = random.between(-1000, 1000) / 1000.0;
  std::vector<std::int64_t> first{0}, excluded;
  for (std::int64_t i = 0; i < std::int64_t(kI); ++i) {
    if (i % 3 == 0) excluded.insert(excluded.end(), {i % std::int64_t(kJ), (i + 11) % std::int64_t(kJ)});
    first.push_back(std::int64_t(excluded.size()));
  }
  for (const bool excludes : {false, true}) {
    SCOPED_TRACE(excludes);
    std::vector<double> results[2], totals;
    for (const double tolerance : {0.0, 1e-6}) {
      SumState sum(device->load(build_kernel(backend_named("cuda"), Source{"wide.pipe", text}, {}, {}, "")));
      std::vector<double>& s = results[tolerance > 0];
      s.assign(kI, -1);
      double total = 0;
      sum.bind("xi", {x.data(), Element::Double, kI, 8 * 70, 8});
      sum.bind("xj", {y.data(), Element::Double, kJ, 8 * 70, 8});
      sum.bind("wj", {w.data(), Element::Double, kJ, 8, 8});
      sum.bind("s", {s.data(), Element::Double, kI, 8, 8});
      sum.bind("all", {&total, Element::Double, 1, 8, 8});
      if (excludes) sum.set_exclusions(kI, first.data(), std::int64_t(excluded.size()), excluded.data());
      set_tolerance(sum, tolerance);
      sum.run();
      sum.wait();
      EXPECT_EQ(sum.method(), tolerance > 0 ? "matrix units" : "all pairs");
      totals.push_back(total);
      sum.run({.i_begin = 3, .i_count = 100});
      sum.wait();
    }
    for (std::size_t i = 0; i < kI; ++i) EXPECT_NEAR(results[1][i], results[0][i], 1e-4) << i;
    EXPECT_NEAR(totals[1], totals[0], 1e-3);
    EXPECT_NE(totals[1], totals[0]);
  }
}

// A vector with an infinite element is infinitely far from all others; one with a NaN makes NaN.
TEST_F(MatrixUnits, KeepInfinityAndNaN) {
  FarTrial trial(text(0, 40), Precision::Single, device, "matrix units");
  trial.fill("uniform", 20, 30, false, 3);
  trial.arrays["xj"][40 * 7 + 2] = std::numeric_limits<double>::infinity();
  set_tolerance(trial.sum, 1e-2);
  trial.run();
  EXPECT_EQ(trial.sum.method(), "matrix units");
  EXPECT_LE(trial.error(), 1e-2);
  trial.arrays["xi"][40 * 3 + 1] = std::numeric_limits<double>::quiet_NaN();
  trial.run();
  EXPECT_TRUE(std::isnan(trial.arrays["s"][3]));
  EXPECT_FALSE(std::isnan(trial.arrays["s"][4]));
}

// Other arrays of vectors, at the same numbers of particles: points far from their centre, near each other.
TEST_F(MatrixUnits, AreChosenAgainForOtherVectors) {
  FarTrial trial(text(0, 40), Precision::Single, device, "matrix units");
  trial.fill("uniform", 60, 60, false, 3);
  set_tolerance(trial.sum, 2e-3);
  for (int run = 0; run < 4; ++run) trial.run();  // the fifth run measures for no other reason
  EXPECT_EQ(trial.sum.statistics().far.precision, "half");
  for (const char* const name : {"xi", "xj"}) {
    std::vector<double> apart = trial.arrays[name];
    for (std::size_t k = 0; k < apart.size(); ++k) apart[k] += k / 40 % 2 == 0 ? 300 : -300;
    trial.arrays[name] = std::move(apart);
  }
  trial.bind();
  trial.run();
  EXPECT_NE(trial.sum.statistics().far.precision, "half");
  EXPECT_LE(trial.error(), 2e-3);
}

// The memory of packed vectors has room for both runs, in which i and j have exchanged numbers.
TEST_F(MatrixUnits, PackOtherNumbersOfParticles) {
  FarTrial trial(text(0, 40), Precision::Single, device, "matrix units");
  set_tolerance(trial.sum, 1e-2);
  for (const auto& [ni, nj] : {std::pair{400, 130}, std::pair{130, 400}, std::pair{260, 270}}) {
    trial.fill("uniform", ni, nj, false, 3);
    trial.run();
    EXPECT_EQ(trial.sum.method(), "matrix units");
    EXPECT_LE(trial.error(), 1e-2);
  }
}

// Kernels of an output array apply nothing to the sums of others.
TEST_F(MatrixUnits, LeaveFinishBesideAnArrayToLoops) {
  const std::string array = "output(sum) real g[{0}];\n",
                    add = "for (int k = 0; k < {0}; ++k) g[k] += e * (xj[k] - xi[k]);\n";
  for (const std::string& rest :
       {array + "output(logsumexp) real z;\n" + kWideDistance + add + "z = logsumexp(z, e);\n",
        array + "output(sum) real s;\n" + kWideDistance + add + "s += e;\nvoid finish() {{ s = 2.0 * s; }}\n"}) {
    FarTrial trial({"wide.pipe", fmt::format(fmt::runtime(std::string(kWideInputs) + rest), 40)}, Precision::Single,
                   device, "matrix units");
    trial.fill("uniform", 20, 30, false, 3);
    set_tolerance(trial.sum, 1e-2);
    trial.sum.run();
    trial.sum.wait();
    EXPECT_EQ(trial.sum.method(), "all pairs");
  }
}

TEST_F(MatrixUnits, AreRefusedByName) {
  const auto reason = [&](const std::string& statements, const std::string& outputs = "output(sum) real s;\n") {
    FarTrial trial({"wide.pipe", fmt::format(fmt::runtime(std::string(kWideInputs) + outputs + statements), 64)},
                   Precision::Single, device, "matrix units");
    trial.fill("uniform", 50, 50, false, 3);
    set_tolerance(trial.sum, 1e-2);
    trial.run();
    EXPECT_EQ(trial.sum.method(), "all pairs");
    return trial.sum.statistics().reason;
  };
  using testing::HasSubstr;
  EXPECT_THAT(reason("for (int k = 0; k < {0}; ++k) s += wj * abs(xi[k] - xj[k]);\n"),
              HasSubstr("matrix instructions need single precision"));
  const std::string guarded =
      fmt::format(fmt::runtime(std::string(kWideInputs) + "output(sum) real s;\nreal d = dot(xi, xj);\n" +
                               "if (d < 0.5) s += wj;\n"),
                  64);
  const std::string stepped = std::regex_replace(guarded, std::regex("if \\(d < 0.5\\) s"), "s"),
                    floored = std::regex_replace(stepped, std::regex("\\+= wj"), "+= wj * floor(d)");
  for (const std::string& refused : {guarded, floored}) {  // rounding would change the result by steps
    SumState sum(device->load(build_kernel(backend_named("cuda"), Source{"wide.pipe", refused}, {}, {}, "")));
    EXPECT_THROW(set_tolerance(sum, 1e-2), UsageError) << refused;
  }
  // An array of so many elements is added in five passes over all pairs: two halves would take longer than the loops.
  FarTrial many(text(6, 600), Precision::Single, device, "matrix units");
  many.fill("uniform", 20, 20, false, 3);
  set_tolerance(many.sum, 1e-6);
  many.run();
  EXPECT_EQ(many.sum.method(), "all pairs");
  EXPECT_THAT(many.sum.statistics().reason, HasSubstr("products of half have an error of up to"));
  FarTrial trial(text(0, 64), Precision::Single, device, "matrix units");
  trial.fill("uniform", 50, 50, false, 3);
  set_tolerance(trial.sum, 1e-12);
  EXPECT_THROW(trial.run(), UsageError);
}

}  // namespace
}  // namespace nbcc::test
