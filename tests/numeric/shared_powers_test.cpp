// Powers that share one pow(), at bases where powers overflow, underflow, or have no steps to one another: against C's
// pow().
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/on_gpu.h"

namespace nbcc {
namespace {

using namespace test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Pipeline three_powers() {
  return parse({"three.pipe",
                "input_i real a; input_j real x; param real n; output(max) real low; output(max) real mid; output(max) "
                "real high;\n"
                "skip_if(i_index != j_index);\n"
                "low = max(low, pow(x, n - 1.0) + 0.0 * a); mid = max(mid, pow(x, n + 1.0) + 0.0 * a);\n"
                "high = max(high, pow(x, n + 2.0) + 0.0 * a);"});
}

void expect_powers_of_all_bases(const std::shared_ptr<const Kernel>& kernel, const CudaGpu* arrays_on = nullptr) {
  const std::vector<double> bases = {0, 1e-18, 1e-12, 1e-9, 0.7, 1, 3, -2, 1e9, 1e12, 1e18, kInfinity};
  for (const double n : {-4.0, -3.0, -2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 3.0}) {
    OracleInput input;
    input.ni = input.nj = std::int64_t(bases.size());
    input.i.assign(1, std::vector<double>(bases.size(), 1.0));
    input.j.assign(1, bases);
    input.params = {n};
    KernelRunChoice how;
    how.arrays_on = arrays_on;
    const CpuRun::Columns got = run_kernel(kernel, input, how);
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t b = 0; b < bases.size(); ++b) {
        const double exponent = n + std::vector{-1.0, 1.0, 2.0}[k];
        const bool are_of_both_signs = n < 1 && n > -2;  // the exponents of all three
        if (std::isinf(bases[b]) && are_of_both_signs) continue;
        if (bases[b] < 0 && exponent != std::trunc(exponent)) continue;
        const double expected = std::pow(bases[b], exponent), value = got[k][b];
        if (std::fabs(expected) > 3e38)
          EXPECT_GT(std::fabs(value), 3e38) << bases[b] << "^" << exponent;
        else
          EXPECT_NEAR(value, expected, 24 * 0x1p-23 * std::fabs(expected) + 2e-38) << bases[b] << "^" << exponent;
      }
  }
}

TEST(SharedPowersOfKernels, have_the_range_of_separate_ones) {
  for (const Isa isa : runnable_isas()) {
    CpuDevice device(1, isa, cpu_toolchain(), "", "");
    expect_powers_of_all_bases(device.load(build_cpu_kernel(three_powers(), {}, isa, "")));
  }
}

TEST(SharedPowersOfKernels, have_the_range_of_separate_ones_on_the_shim) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_powers_of_all_bases(device.load(build_cuda_kernel(three_powers(), {}, "")));
}

class SharedPowersOnGpu : public OnGpu {};

TEST_F(SharedPowersOnGpu, have_the_range_of_separate_ones) {
  expect_powers_of_all_bases(device_->load(build_cuda_kernel(three_powers(), {}, "")), &gpu());
}

}  // namespace
}  // namespace nbcc
