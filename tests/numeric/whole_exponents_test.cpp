// Powers whose exponents are params or elements of tables: in vectors whose exponents all are whole numbers, and in
// vectors with others among them, against C's pow().
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/on_gpu.h"

namespace nbcc {
namespace {

using namespace test;

constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                 kNotANumber = std::numeric_limits<double>::quiet_NaN();

Pipeline powers_of(std::size_t exponents) {
  return parse(
      {"powers.pipe",
       "input_i real a; input_j real xj; input_j int tj; param real n; param real t[" + std::to_string(exponents) +
           "]; output(max) real of_table; output(max) real of_param; skip_if(i_index != j_index);\n"
           "of_table = max(of_table, pow(xj, t[tj]) + 0.0 * a); of_param = max(of_param, pow(xj, n) + 0.0 * a);"});
}

// Particle j has base j and the exponent of its type; i reads the power of its equal.
std::vector<double> powers(const std::shared_ptr<const Kernel>& kernel, const std::vector<double>& bases,
                           const std::vector<double>& exponents, const CudaGpu* arrays_on) {
  std::vector<double> results;
  for (const double n : exponents) {
    OracleInput input;
    input.ni = input.nj = std::int64_t(bases.size() * exponents.size());
    input.i.assign(1, std::vector<double>(std::size_t(input.ni), 1.0));
    input.j.resize(2);
    for (const double base : bases)
      for (std::size_t k = 0; k < exponents.size(); ++k) {
        input.j[0].push_back(base);
        input.j[1].push_back(double(k));
      }
    input.params = {n};
    input.params.insert(input.params.end(), exponents.begin(), exponents.end());
    KernelRunChoice how;
    how.arrays_on = arrays_on;
    const CpuRun::Columns got = run_kernel(kernel, input, how);
    if (results.empty()) results = got[0];
    // One exponent for all lanes.
    for (std::size_t b = 0; b < bases.size(); ++b) results.push_back(got[1][b * exponents.size()]);
  }
  return results;
}

void expect_powers(const std::shared_ptr<const Kernel>& kernel, Precision precision, const std::vector<double>& bases,
                   const std::vector<double>& exponents, const CudaGpu* arrays_on = nullptr) {
  std::vector<double> expected;
  for (const double base : bases)
    for (const double exponent : exponents) expected.push_back(std::pow(base, exponent));
  for (const double exponent : exponents)
    for (const double base : bases) expected.push_back(std::pow(base, exponent));
  const std::vector<double> got = powers(kernel, bases, exponents, arrays_on);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double bound = precision == Precision::Double ? 16 * 0x1p-52 : 16 * 0x1p-23;
    if (std::isnan(expected[k])) {
      EXPECT_TRUE(std::isnan(got[k])) << k << ": " << got[k];
    } else if (std::isinf(expected[k]) || std::fabs(expected[k]) > 3e38) {
      EXPECT_TRUE(std::fabs(got[k]) > 3e38 && std::signbit(got[k]) == std::signbit(expected[k])) << k << got[k];
    } else {
      EXPECT_NEAR(got[k], expected[k], bound * std::fabs(expected[k]) + 1e-37) << k;
    }
  }
}

struct PowerCase {
  std::vector<double> bases, exponents;
};
const PowerCase kPowerCases[] = {
    // Bases whose powers are within the range of float are exact in float.
    {{1, 1.25, 0.75, -1.5, 0.9375, -1, 1.0625, 0.5}, {0, 1, 2, 3, 6, 7, 12, 14, 31, 32, -1, -2, -7, -14, -32}},
    {{0, kInfinity, -kInfinity, kNotANumber, 1, -1}, {0, 1, 2, 3, 13, -1, -2, -3}},
    // Exponents that are not all whole numbers.
    {{1, 1.25, 0.75, 2, 0.9375, -1}, {0.5, 2, 33, 1.5, -7, 40, -0.25, 6, kInfinity, 3}},
};

TEST(WholeExponents, ArePowersOnCpu) {
  for (const auto& [bases, exponents] : kPowerCases)
    for (const Isa isa : runnable_isas())
      for (const Precision precision : {Precision::Single, Precision::Double})
        for (const Math math : {Math::Fast, Math::Precise}) {
          CpuDevice device(1, isa, cpu_toolchain(), "", "");
          const KernelSource source = build_cpu_kernel(powers_of(exponents.size()), {precision, math}, isa, "");
          EXPECT_EQ(source.first().source.find("math::power(") != std::string::npos, math == Math::Fast);
          expect_powers(device.load(source), precision, bases, exponents);
        }
}

void expect_powers_of_cuda(CudaDevice& device, const CudaGpu* arrays_on) {
  for (const auto& [bases, exponents] : kPowerCases)
    for (const Precision precision : {Precision::Single, Precision::Double}) {
      const KernelSource source = build_cuda_kernel(powers_of(exponents.size()), {precision}, "");
      EXPECT_NE(source.first().source.find(" power(t"), std::string::npos);
      expect_powers(device.load(source), precision, bases, exponents, arrays_on);
    }
}

TEST(WholeExponentsOnShim, ArePowers) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_powers_of_cuda(device, nullptr);
}

class WholeExponentsOnGpu : public OnGpu {};

TEST_F(WholeExponentsOnGpu, ArePowers) { expect_powers_of_cuda(*device_, &gpu()); }

}  // namespace
}  // namespace nbcc
