// Sums of one set whose terms are opposite for both particles of a pair only where a table by two types is symmetric:
// each pair is computed once where it is, from both ends where it is not, and the results are the interpreter's.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_pipeline.h"

namespace nbcc {
namespace {

using namespace test;

const std::string kMixture =
    "input_i vec3 xi; input_i int ti; input_j vec3 xj; input_j int tj; param real rc = 0.7;\n"
    "param vec2 eps[3][3]; output(sum) vec3 f; output(count) int n; vec3 dx = xj - xi;\n"
    "skip_if(i_index == j_index || dot(dx, dx) >= rc * rc); f += eps[ti][tj].x * exp(-eps[ti][tj].y * dot(dx, dx)) * "
    "dx; n += true;";

OracleInput mixture(std::int64_t n, bool is_symmetric) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> any(-1, 1);
  OracleInput input{.ni = n, .nj = n, .i = std::vector<std::vector<double>>(4), .j = {}, .params = {}};
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::size_t axis = 0; axis < 3; ++axis) input.i[axis].push_back(any(random));
    input.i[3].push_back(double(k % 3));
  }
  input.j = input.i;
  input.params = {0.7, 1, 2, 3, 4, 5, 6, 3, 4, 7, 8, 9, 1, 5, 6, 9, is_symmetric ? 1.0 : 2.0, 3, 4};
  return input;
}

// Runs over all pairs, or by a search, each pair once where that is possible. `expected_reason`: a part of the reason
// that the statistics give.
void expect_sums_of_mixture(const std::shared_ptr<const Kernel>& kernel, std::int64_t n, bool is_symmetric,
                            PairChoice pairs, const std::string& method, const std::string& expected_reason,
                            const CudaGpu* arrays_on = nullptr) {
  const OracleInput input = mixture(n, is_symmetric);
  KernelRunChoice how;
  how.arrays_on = arrays_on;
  how.one_set = true;
  how.prepare = [pairs](SumState& sum) {
    sum.set_symmetric(SymmetricChoice::Always);
    sum.set_pairs(pairs);
  };
  how.after = [&](SumState& sum) {
    EXPECT_EQ(sum.method(), method);
    EXPECT_NE(sum.statistics().reason.find(expected_reason), std::string::npos) << sum.statistics().reason;
  };
  const Expectation expected = random_pipeline_expectation(parse({"mixture.pipe", kMixture}), input, Precision::Double);
  EXPECT_EQ(random_pipeline_difference(parse({"mixture.pipe", kMixture}), run_kernel(kernel, input, how), expected),
            "");
}

constexpr const char* kNotSymmetric = "symmetric: param 'eps' is not symmetric: [1][2] is 1, [2][1] is 2";

TEST(SymmetricTablesOnCpu, AreComparedInEachRun) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel =
      device.load(build_cpu_kernel(parse({"mixture.pipe", kMixture}), {Precision::Double}, detect_isa(), ""));
  expect_sums_of_mixture(kernel, 700, true, PairChoice::All, "symmetric", "");
  expect_sums_of_mixture(kernel, 700, false, PairChoice::All, "all pairs", kNotSymmetric);
  expect_sums_of_mixture(kernel, 700, true, PairChoice::Cutoff, "search", "each pair once");
  expect_sums_of_mixture(kernel, 700, false, PairChoice::Cutoff, "search", "");
}

TEST(SymmetricTablesOnShim, AreComparedInEachRun) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const auto kernel = device.load(build_cuda_kernel(parse({"mixture.pipe", kMixture}), {Precision::Double}, ""));
  expect_sums_of_mixture(kernel, 1100, true, PairChoice::All, "symmetric", "");
  expect_sums_of_mixture(kernel, 1100, false, PairChoice::All, "all pairs", kNotSymmetric);
}

class SymmetricTablesOnGpu : public OnGpu {};

TEST_F(SymmetricTablesOnGpu, AreComparedInEachRun) {
  const auto kernel = device_->load(build_cuda_kernel(parse({"mixture.pipe", kMixture}), {Precision::Double}, ""));
  expect_sums_of_mixture(kernel, 5000, true, PairChoice::All, "symmetric", "", &gpu());
  expect_sums_of_mixture(kernel, 5000, false, PairChoice::All, "all pairs", kNotSymmetric, &gpu());
}

}  // namespace
}  // namespace nbcc
