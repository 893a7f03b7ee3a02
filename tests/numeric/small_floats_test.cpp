// Arrays of 16-bit numbers in host memory, on a CPU and on a GPU that stages them; in a GPU's memory they are refused.
#include "runtime/sum/request/small_floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"

namespace nbcc::test {
namespace {

template <typename T>
ArrayView view(std::vector<T>& numbers, Element element) {
  return {numbers.data(), element, std::int64_t(numbers.size()), sizeof(T), 0};
}

Pipeline products() {
  return parse({"small.pipe", "input_i real a;\ninput_j real b;\noutput(sum) real s;\ns += a * b;\n"});
}

std::vector<Half> halves() {
  std::vector<Half> numbers;
  for (int k = -40; k < 40; ++k) numbers.emplace_back(k / 16.0);
  return numbers;
}

void expect_products(const std::shared_ptr<const Kernel>& kernel) {
  std::vector<Half> a = halves();
  std::vector<BFloat16> b{BFloat16(1.5), BFloat16(-0.25)}, rounded(a.size());
  std::vector<float> exact(a.size());
  SumState sum(kernel);
  sum.bind("a", view(a, Element::Half)), sum.bind("b", view(b, Element::BFloat16));
  sum.bind("s", view(exact, Element::Float));
  sum.run(), sum.wait();
  sum.bind("s", view(rounded, Element::BFloat16));
  sum.run(), sum.wait();
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(exact[k], 1.25f * float(a[k])) << k;
    EXPECT_EQ(rounded[k].bits, BFloat16(exact[k]).bits) << k;
  }
}

TEST(SmallFloats, host_arrays_are_read_and_written_on_every_device) {
  for (const Isa isa : runnable_isas()) {
    CpuDevice device(1, isa, cpu_toolchain(), "", "");
    expect_products(device.load(build_cpu_kernel(products(), {}, isa, "")));
  }
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_products(device.load(build_cuda_kernel(products(), {}, "")));
}

TEST(SmallFloats, arrays_in_the_memory_of_a_gpu_are_refused) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  SumState sum(device.load(build_cuda_kernel(products(), {}, "")));
  std::vector<Half> a = halves();
  std::vector<float> b{1, 2}, s(a.size());
  DeviceArray there(device.gpu(), sizeof(Half) * a.size());
  there.put(a.data(), sizeof(Half) * a.size());
  sum.bind("a", {there.data(), Element::Half, std::int64_t(a.size()), sizeof(Half), 0});
  sum.bind("b", view(b, Element::Float)), sum.bind("s", view(s, Element::Float));
  try {
    sum.run();
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("field 'a' of pipeline 'small': arrays of 16-bit numbers are read in host "
                        "memory only; on a GPU expected float or double"),
              std::string::npos)
        << error.what();
  }
}

TEST(SmallFloats, numbers_are_rounded_to_the_nearest_even) {
  const auto half = [](double x) { return int(Half(x).bits); };
  EXPECT_EQ(half(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(half(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(half(1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(half(65519.999), 0x7bff);
  EXPECT_EQ(half(65520), 0x7c00);
  EXPECT_EQ(half(0x1p-25), 0);
  EXPECT_EQ(half(-0x1.8p-25), 0x8001);
  EXPECT_EQ(half(0x1.ffffp-15), 0x400);
  const auto brain = [](double x) { return int(BFloat16(x).bits); };
  EXPECT_EQ(brain(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(brain(1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(brain(3.4e38), 0x7f80);
  EXPECT_EQ(brain(3.38e38), 0x7f7e);
  EXPECT_TRUE(std::isnan(float(BFloat16(NAN))) && std::isnan(float(Half(NAN))));
}

}  // namespace
}  // namespace nbcc::test
