// Arrays of 16-bit numbers: in host memory, on a CPU and on a GPU that stages them; in a GPU's memory.
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

// An array of T in a GPU's memory.
template <typename T>
class Resident {
 public:
  Resident(const CudaGpu& gpu, const std::vector<T>& numbers, Element element)
      : count_(numbers.size()), element_(element), memory_(gpu, count_ * sizeof(T)) {
    memory_.put(numbers.data(), count_ * sizeof(T));
  }
  ArrayView view(int components = 1) const {
    const auto size = std::int64_t(sizeof(T));
    return {memory_.data(), element_, std::int64_t(count_) / components, components * size, size};
  }
  std::vector<T> get() const {
    std::vector<T> numbers(count_);
    memory_.get(numbers.data(), count_ * sizeof(T));
    return numbers;
  }

 private:
  std::size_t count_;
  Element element_;
  DeviceArray memory_;
};

template <typename T>
std::vector<T> all_numbers() {
  std::vector<T> numbers(65536);
  for (unsigned bits = 0; bits < 65536; ++bits) numbers[bits].bits = std::uint16_t(bits);
  return numbers;
}

// Every number comes back as it was: it is read as a float, and rounded to itself.
template <typename T>
void expect_every_number(Element element) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  SumState sum(device.load(build_cuda_kernel(products(), {}, "")));
  const Resident a(device.gpu(), all_numbers<T>(), element), s(device.gpu(), std::vector<T>(65536), element);
  const Resident one(device.gpu(), std::vector<float>{1}, Element::Float);
  std::vector<float> read(65536);
  sum.bind("a", a.view()), sum.bind("b", one.view());
  sum.bind("s", view(read, Element::Float));
  sum.run(), sum.wait();
  sum.bind("s", s.view());
  sum.run(), sum.wait();
  const std::vector<T> found = s.get();
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float expected = float(all_numbers<T>()[bits]);
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(read[bits]) : read[bits] == expected) << bits << ": " << read[bits];
    if (expected == 0) continue;  // a sum is never -0
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(float(found[bits])) : found[bits].bits == bits)
        << bits << ": " << found[bits].bits;
  }
}

TEST(SmallFloats, every_number_in_the_memory_of_a_gpu_is_read_and_written) {
  expect_every_number<Half>(Element::Half);
  expect_every_number<BFloat16>(Element::BFloat16);
}

// Rows of vectors, some i, sums that are added to the stored ones, totals, and i and j of one set; each result is
// rounded once, from double precision.
template <typename T>
void expect_rounded_results(Element element) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const Pipeline pipeline = parse({"rows.pipe",
                                   "input_i vec3 x;\ninput_j vec3 y;\noutput(sum) vec3 s;\noutput(total) real all;\n"
                                   "vec3 d = y - x;\ns += dot(d, d) * d / 3.0;\nall += dot(d, d);\n"});
  Options options;
  options.precision = Precision::Double;
  SumState sum(device.load(build_cuda_kernel(pipeline, options, "")));
  constexpr std::int64_t kCount = 50;
  std::vector<T> x(3 * kCount), before(3 * kCount);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = T(std::sin(double(k))), before[k] = T(double(k) / 7);
  const Resident xs(device.gpu(), x, element), s(device.gpu(), before, element),
      all(device.gpu(), std::vector<T>(1), element);
  sum.bind("x", xs.view(3)), sum.bind("y", xs.view(3)), sum.bind("s", s.view(3)), sum.bind("all", all.view());
  RunChoice choice;
  choice.i_begin = 10, choice.i_count = 30, choice.accumulate = true;
  sum.run(choice), sum.wait();
  const std::vector<T> found = s.get();
  double total = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    double expected[3] = {}, magnitude[3] = {};
    for (std::int64_t j = 0; j < kCount; ++j) {
      double d[3], r2 = 0;
      for (int k = 0; k < 3; ++k)
        d[k] = double(float(x[std::size_t(3 * j + k)])) - float(x[std::size_t(3 * i + k)]), r2 += d[k] * d[k];
      for (int k = 0; k < 3; ++k) expected[k] += r2 * d[k] / 3, magnitude[k] += std::fabs(r2 * d[k] / 3);
      if (i >= 10 && i < 40) total += r2;
    }
    for (int k = 0; k < 3; ++k) {
      const auto at = std::size_t(3 * i + k);
      if (i < 10 || i >= 40) {
        EXPECT_EQ(found[at].bits, before[at].bits) << i;
        continue;
      }
      // The sum in double precision is within `error`; rounding is monotonic.
      const double exact = double(float(before[at])) + expected[k], error = 1e-13 * (magnitude[k] + std::fabs(exact));
      EXPECT_GE(float(found[at]), float(T(exact - error))) << i;
      EXPECT_LE(float(found[at]), float(T(exact + error))) << i;
    }
  }
  EXPECT_EQ(all.get()[0].bits, T(total).bits);
}

TEST(SmallFloats, results_in_the_memory_of_a_gpu_are_rounded_once) {
  expect_rounded_results<Half>(Element::Half);
  expect_rounded_results<BFloat16>(Element::BFloat16);
}

TEST(SmallFloats, a_histogram_of_16_bit_numbers_in_the_memory_of_a_gpu_is_refused) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  SumState sum(device.load(build_cuda_kernel(
      parse({"bins.pipe", "input_i real a;\ninput_j real b;\noutput(total) real n[4];\nn[int(b - a)] += 1.0;\n"}), {},
      "")));
  const Resident a(device.gpu(), std::vector<float>{0, 1}, Element::Float);
  const Resident n(device.gpu(), std::vector<Half>(4), Element::Half);
  sum.bind("a", a.view()), sum.bind("b", a.view()), sum.bind("n", n.view(4));
  try {
    sum.run();
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "field 'n' of pipeline 'bins': a histogram in the memory of a GPU has elements of float or double, got "
        "16-bit numbers");
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
