// Softmax of wide vectors (attention) in two passes by matrix instructions, on the CUDA shim, against sums in double
// precision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

constexpr std::size_t kElements = 40, kValues = 50;
const std::string kSoftmaxInputs =
    "input_i real xi[40];\ninput_j real xj[40];\ninput_j real vj[50];\noutput(softmax) real y[50];\n";
const std::string kLogarithm = "output(logsumexp) real z;\n";
const std::string kMask = "skip_if(j_index >= i_index);\n";
const std::string kMean =
    "real logit = dot(xi, xj) / 4.0;\nfor (int k = 0; k < 50; ++k) y[k] = softmax(y[k], logit, vj[k]);\n";

class MatrixSoftmax : public testing::Test {
 protected:
  CudaShim shim;
  std::shared_ptr<CudaDevice> device = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  std::vector<double> x, v, y, z;

  // i and j are one set.
  SumState sum_of(const std::string& text, std::size_t n, bool has_logarithm) {
    RandomSource random{unsigned(n)};
    x.resize(n * kElements), v.resize(n * kValues), y.assign(n * kValues, -5), z.assign(n, -5);
    for (std::vector<double>* const of : {&x, &v})
      for (double& element : *of) element = random.between(-100, 100) / 100.0;
    SumState sum(device->load(build_kernel(backend_named("cuda"), Source{"mean.pipe", text}, {}, {}, "")));
    const auto bind = [&](const char* name, std::vector<double>& array) {
      sum.bind(name, {array.data(), Element::Double, std::int64_t(n), std::int64_t(array.size() / n * 8), 8});
    };
    bind("xi", x), bind("xj", x), bind("vj", v), bind("y", y);
    if (has_logarithm) bind("z", z);
    return sum;
  }

  void check(std::size_t n, bool is_masked, bool has_logarithm, double tolerance, bool excludes = false) {
    SCOPED_TRACE(fmt::format("{} points, mask {}, logarithm {}, tolerance {}, exclusions {}", n, is_masked,
                             has_logarithm, tolerance, excludes));
    const std::string text = kSoftmaxInputs + (has_logarithm ? kLogarithm : "") + (is_masked ? kMask : "") + kMean +
                             (has_logarithm ? "z = logsumexp(z, logit);\n" : "");
    SumState sum = sum_of(text, n, has_logarithm);
    std::vector<std::int64_t> first{0}, excluded;
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 3 == 0) excluded.push_back(std::int64_t(i / 2));
      first.push_back(std::int64_t(excluded.size()));
    }
    if (excludes) sum.set_exclusions(std::int64_t(n), first.data(), std::int64_t(excluded.size()), excluded.data());
    set_tolerance(sum, tolerance);
    sum.run();
    sum.wait();
    EXPECT_EQ(sum.method(), "matrix units") << sum.statistics().reason;
    EXPECT_LE(sum.statistics().far.error, tolerance);
    for (std::size_t i = 0; i < n; ++i) {
      double all = 0;
      std::vector<double> mean(kValues);
      for (std::size_t j = 0; j < n; ++j) {
        if ((is_masked && j >= i) || (excludes && i % 3 == 0 && j == i / 2)) continue;
        double logit = 0;
        for (std::size_t k = 0; k < kElements; ++k) logit += x[i * kElements + k] * x[j * kElements + k] / 4;
        all += std::exp(logit);
        for (std::size_t k = 0; k < kValues; ++k) mean[k] += std::exp(logit) * v[j * kValues + k];
      }
      if (all == 0) {
        EXPECT_TRUE(std::isnan(y[i * kValues]) && std::isnan(y[i * kValues + kValues - 1])) << i;
        if (has_logarithm) {
          EXPECT_EQ(z[i], -INFINITY);
        }
        continue;
      }
      for (std::size_t k = 0; k < kValues; ++k) EXPECT_NEAR(y[i * kValues + k], mean[k] / all, 4 * tolerance) << i;
      if (has_logarithm) {
        EXPECT_NEAR(z[i], std::log(all), 4 * tolerance) << i;
      }
    }
  }
};

TEST_F(MatrixSoftmax, KeepsTheTolerance) {
  check(1, false, true, 2e-2);
  check(131, true, false, 2e-2);
  check(70, true, true, 4e-6);
  check(90, false, true, 4e-6, true);
}

TEST_F(MatrixSoftmax, LeavesWhatTwoPassesCannotDo) {
  {
    SumState sum = sum_of(kSoftmaxInputs + kMean, 3, false);  // the second point has no pair
    constexpr std::int64_t first[] = {0, 0, 3, 3}, excluded[] = {0, 1, 2};
    sum.set_exclusions(3, first, 3, excluded);
    set_tolerance(sum, 1e-2);
    sum.run();
    sum.wait();
    EXPECT_EQ(sum.method(), "all pairs");
    EXPECT_TRUE(std::isnan(y[kValues]));
  }
  const std::string finished = kSoftmaxInputs + kMean + "void finish() { y[0] = 2.0 * y[0]; }\n",
                    of_two =
                        "output(softmax) real u;\n" + kSoftmaxInputs + kMean + "u = softmax(u, 2.0 * logit, 1.0);\n";
  for (const std::string& text : {finished, of_two}) {
    SumState sum(device->load(build_kernel(backend_named("cuda"), Source{"mean.pipe", text}, {}, {}, "")));
    EXPECT_THROW(set_tolerance(sum, 1e-2), UsageError) << text;
  }
}

}  // namespace
}  // namespace nbcc::test
