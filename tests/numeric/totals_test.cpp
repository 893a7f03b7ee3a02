// Totals: the arrays that hold them, chosen i, accumulation and saturation, and totals of many components, which are
// summed for some i at a time; on the CPU, on the shim and on a GPU. what_goes_together_test.cpp compares totals with
// the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/histogram_trial.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_source.h"

namespace nbcc {
namespace {

using namespace test;

// A sum of one small total whose arrays a test chooses.
constexpr char kSmall[] =
    "input_i real x; input_j real y; output(total) real s; output(total, max) real m;\n"
    "s += x * y; m = max(m, x + y);";

struct SmallSum {
  explicit SmallSum(const std::shared_ptr<const Kernel>& kernel) : sum(kernel) {
    sum.bind("x", {x, Element::Double, 4, 8, 8});
    sum.bind("y", {y, Element::Double, 2, 8, 8});
    sum.bind("s", {&s, Element::Float, 1, 0, 0});
    sum.bind("m", {&m, Element::Double, 1, 0, 0});
  }
  SumState sum;
  double x[4] = {1, 2, 3, 4}, y[2] = {10, 20}, m = -1;
  float s = -1;
};

std::shared_ptr<const Kernel> small_kernel() {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  return device.load(build_cpu_kernel(parse({"small.pipe", kSmall}), {}, detect_isa(), ""));
}

TEST(Totals, ChosenAndAccumulated) {
  SmallSum small(small_kernel());
  const std::int64_t list[] = {3, 0};
  small.sum.run({.i_count = 2, .i_list = list});
  EXPECT_EQ(small.s, 150);
  EXPECT_EQ(small.m, 24);
  small.sum.run({.i_begin = 1, .i_count = 2, .accumulate = true});
  EXPECT_EQ(small.s, 300);
  EXPECT_EQ(small.m, 24);
  small.sum.run({.i_count = 0, .accumulate = true});
  EXPECT_EQ(small.s, 300);
  small.sum.run({.i_count = 0});
  EXPECT_EQ(small.s, 0);
  EXPECT_EQ(small.m, -HUGE_VAL);
  small.sum.ignore("m");
  small.m = -1;
  small.sum.run();
  EXPECT_EQ(small.s, 300);
  EXPECT_EQ(small.m, -1);
}

TEST(Totals, TakeOneRow) {
  SmallSum small(small_kernel());
  double many[4];
  try {
    small.sum.bind("m", {many, Element::Double, 4, 8, 8});
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_STREQ(
        e.what(),
        "output 'm' of pipeline 'small' is a total, which has one value for the run: its count must be 1, got 4");
  }
}

// A total for each factor.
std::string of_factors(const std::vector<std::int64_t>& factors) {
  std::string text = "input_i real xi; input_j real xj; output(sum) real own; output(total) real t[" +
                     std::to_string(factors.size()) + "];\nown += xj / (xi * xi + 1.0);\n";
  for (std::size_t k = 0; k < factors.size(); ++k)
    text +=
        "t[" + std::to_string(k) + "] += xj / (xi * xi + " + std::to_string(factors[k]) + ".25) + real(i_index % 7);\n";
  return text;
}

// An i with a non-finite position makes totals of real numbers NaN, and adds nothing to totals of integers.
constexpr char kWithin[] =
    "input_i vec3 xi; input_j vec3 xj; input_j int kj; output(total, count) index n; output(total, count) int hits;\n"
    "output(total) index s; output(total) int t; output(total, product) index p; output(total, min) int least;\n"
    "output(total, max) index most; output(total) index bins[4]; output(total) real r; output(total, max) real far;\n"
    "vec3 d = xj - xi; real r2 = dot(d, d); skip_if(r2 >= 0.25);\n"
    "n += true; hits += kj > 4; s += kj; t += 2; p *= i_index == 2 ? 3 : 1; least = min(least, kj);\n"
    "most = max(most, kj); bins[int(16 * r2)] += 1; r += r2; far = max(far, r2);";

void expect_integers_without_non_finite_i(const std::shared_ptr<const Kernel>& kernel) {
  constexpr std::int64_t kI = 40, kJ = 60, kBad = 17;
  constexpr std::size_t kReal = 8;  // the first column of real numbers
  OracleInput input;
  input.ni = kI, input.nj = kJ;
  RandomSource random(9);
  for (auto [side, count] : {std::pair(&input.i, kI), {&input.j, kJ}})
    for (int axis = 0; axis < 3; ++axis)
      for (auto& column = side->emplace_back(); std::int64_t(column.size()) < count;)
        column.push_back(random.between(0, 1000) / 1000.0);
  for (auto& column = input.j.emplace_back(); std::int64_t(column.size()) < kJ;)
    column.push_back(double(random.between(1, 9)));
  std::vector<std::int64_t> others = from_to(0, kI);
  others.erase(others.begin() + kBad);
  for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff}) {
    const auto totals = [&](const std::vector<std::int64_t>& which) {
      KernelRunChoice choice;
      choice.i_list = which;
      choice.prepare = [&](SumState& sum) { sum.set_pairs(pairs); };
      return run_kernel(kernel, input, choice);
    };
    const test::Columns expected = totals(others);
    EXPECT_GT(expected[0][0], 0);
    EXPECT_EQ(expected[2][0], totals(from_to(0, kI))[2][0] - totals({kBad})[2][0]);
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      const double before = std::exchange(input.i[1][kBad], bad);
      const test::Columns got = totals(from_to(0, kI));
      input.i[1][kBad] = before;
      for (std::size_t c = 0; c < got.size(); ++c) {
        if (c < kReal)
          EXPECT_EQ(got[c][0], expected[c][0]) << c << ", " << bad;
        else
          EXPECT_TRUE(std::isnan(got[c][0])) << c << ", " << bad;
      }
    }
  }
}

TEST(Totals, NonFiniteIAddNothingToIntegers) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double})
    expect_integers_without_non_finite_i(
        device.load(build_cpu_kernel(parse({"within.pipe", kWithin}), {.precision = precision}, detect_isa(), "")));
}

// Totals of many components, which are summed for some i at a time, have the bits of totals of few components.
template <typename Load>
void expect_many_components(const Load& load, const CudaGpu* gpu) {
  constexpr std::int64_t kI = 140'000, kJ = 3;
  const std::vector<std::int64_t> few{0, 77, 127};
  OracleInput input;
  input.ni = kI, input.nj = kJ;
  RandomSource random(5);
  for (auto [side, count] : {std::pair(&input.i, kI), {&input.j, kJ}})
    for (auto& column = side->emplace_back(); std::int64_t(column.size()) < count;)
      column.push_back(random.between(-1000, 1000) / 999.0);
  const auto of_few = load(of_factors(few)), of_all = load(of_factors(from_to(0, 128)));
  for (const auto& [begin, count] : {std::pair<std::int64_t, std::int64_t>(0, -1), {1000, 135'000}}) {
    const KernelRunChoice choice{.begin = begin, .count = count, .arrays_on = gpu};
    const test::Columns expected = run_kernel(of_few, input, choice), got = run_kernel(of_all, input, choice);
    EXPECT_EQ(got[0], expected[0]);
    for (std::size_t k = 0; k < few.size(); ++k) EXPECT_EQ(got[std::size_t(1 + few[k])], expected[1 + k]) << few[k];
  }
}

TEST(Totals, ManyComponentsAreSummedForSomeIAtATime) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto load = [&](const std::string& text) {
    return device.load(
        build_cpu_kernel(parse({"many.pipe", text}), {.precision = Precision::Double}, detect_isa(), ""));
  };
  expect_many_components(load, nullptr);
  const std::vector<double> x(140'000, 0.5);
  std::vector<double> t(128);
  SumState sum(load(of_factors(from_to(0, 128))));
  sum.bind("xi", {const_cast<double*>(x.data()), Element::Double, std::int64_t(x.size()), 8, 8});
  sum.bind("xj", {const_cast<double*>(x.data()), Element::Double, 2, 8, 8});
  sum.bind("t", {t.data(), Element::Double, 1, 1024, 8});
  sum.ignore("own");
  sum.run();
  const std::vector<double> once = t;
  sum.run({.accumulate = true});
  for (std::size_t k = 0; k < t.size(); ++k) EXPECT_EQ(t[k], 2 * once[k]) << k;
}

// Rows of histograms are for ranges of i of their own.
TEST(Totals, ManyComponentsBesideHistogramsOfI) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  std::string text = "input_i real xi; input_j real xj; output(total) real t[128]; output(sum) int h[4];\n";
  for (int k = 0; k < 128; ++k) text += "t[" + std::to_string(k) + "] += xi * xj;\n";
  text += "h[int(3 * xj)] += 1;\n";
  constexpr std::int64_t kI = 140'000;
  std::vector<double> x(kI, 2), y{0.5, 0.75}, t(128);
  std::vector<std::int64_t> h(4 * kI, -1);
  SumState sum(
      device.load(build_cpu_kernel(parse({"beside.pipe", text}), {.precision = Precision::Double}, detect_isa(), "")));
  sum.bind("xi", {x.data(), Element::Double, kI, 8, 8});
  sum.bind("xj", {y.data(), Element::Double, 2, 8, 8});
  sum.bind("t", {t.data(), Element::Double, 1, 1024, 8});
  sum.bind("h", {h.data(), Element::Int64, kI, 32, 8});
  sum.run();
  for (std::size_t k = 0; k < t.size(); ++k) EXPECT_EQ(t[k], 2.5 * kI) << k;
  for (std::size_t i = 0; i < std::size_t(kI); ++i)
    ASSERT_EQ(std::vector(h.begin() + std::ptrdiff_t(4 * i), h.begin() + std::ptrdiff_t(4 * i + 4)),
              (std::vector<std::int64_t>{0, 1, 1, 0}))
        << i;
}

// ---- GPUs

// Inputs on the device; the totals there, too, or on the host; an i_list of either side; accumulation.
void expect_small_on_cuda(CudaDevice& device) {
  const auto kernel = device.load(build_cuda_kernel(parse({"small.pipe", kSmall}), {}, ""));
  const std::int64_t list[] = {3, 0};
  const double x[] = {1, 2, 3, 4}, y[] = {10, 20};
  DeviceArray at_x(device.gpu(), sizeof x), at_y(device.gpu(), sizeof y), at_list(device.gpu(), sizeof list),
      at_m(device.gpu(), sizeof(double));
  at_x.put(x, sizeof x);
  at_y.put(y, sizeof y);
  at_list.put(list, sizeof list);
  for (const bool host_list : {false, true}) {
    double s = 7, m = -1;
    at_m.put(&m, sizeof m);
    SumState sum(kernel);
    sum.bind("x", {at_x.data(), Element::Double, 4, 8, 8});
    sum.bind("y", {at_y.data(), Element::Double, 2, 8, 8});
    sum.bind("s", {&s, Element::Double, 1, 0, 0});
    sum.bind("m", {at_m.data(), Element::Double, 1, 0, 0});
    const auto expect_totals = [&](const RunChoice& choice, double of_s, double of_m) {
      sum.run(choice);
      sum.wait();
      at_m.get(&m, sizeof m);
      EXPECT_EQ(s, of_s);
      EXPECT_EQ(m, of_m);
    };
    const auto* const chosen = host_list ? list : static_cast<const std::int64_t*>(at_list.data());
    expect_totals({.i_count = 2, .i_list = chosen}, 150, 24);
    expect_totals({.i_begin = 1, .i_count = 2, .accumulate = true}, 300, 24);
    expect_totals({}, 300, 24);
    expect_totals({.i_count = 0}, 0, -HUGE_VAL);
  }
}

// Inputs on the host; a total on the device.
void expect_total_alone_on_cuda(CudaDevice& device) {
  const auto kernel = device.load(build_cuda_kernel(parse({"small.pipe", kSmall}), {}, ""));
  double x[] = {1, 2, 3, 4}, y[] = {10, 20}, s = 7, m = -1;
  DeviceArray at_m(device.gpu(), sizeof(double));
  at_m.put(&m, sizeof m);
  SumState sum(kernel);
  sum.bind("x", {x, Element::Double, 4, 8, 8});
  sum.bind("y", {y, Element::Double, 2, 8, 8});
  sum.bind("s", {&s, Element::Double, 1, 0, 0});
  sum.bind("m", {at_m.data(), Element::Double, 1, 0, 0});
  sum.run({});
  at_m.get(&m, sizeof m);
  EXPECT_EQ(s, 300);
  EXPECT_EQ(m, 24);
  m = 100;
  at_m.put(&m, sizeof m);
  sum.run({.accumulate = true});
  at_m.get(&m, sizeof m);
  EXPECT_EQ(s, 600);
  EXPECT_EQ(m, 100);
}

// A sum may be destroyed when its work is still under way.
void expect_destroyed_early_on_cuda(CudaDevice& device) {
  const auto kernel = device.load(build_cuda_kernel(parse({"small.pipe", kSmall}), {}, ""));
  const double x[] = {1, 2, 3, 4}, y[] = {10, 20};
  double totals[2] = {};
  DeviceArray at_x(device.gpu(), sizeof x), at_y(device.gpu(), sizeof y), at(device.gpu(), sizeof totals);
  at_x.put(x, sizeof x);
  at_y.put(y, sizeof y);
  {
    SumState sum(kernel);
    sum.bind("x", {at_x.data(), Element::Double, 4, 8, 8});
    sum.bind("y", {at_y.data(), Element::Double, 2, 8, 8});
    sum.bind("s", {at.data(), Element::Double, 1, 0, 0});
    sum.bind("m", {static_cast<double*>(at.data()) + 1, Element::Double, 1, 0, 0});
    sum.run({});
  }
  at.get(totals, sizeof totals);
  EXPECT_EQ(totals[0], 300);
  EXPECT_EQ(totals[1], 24);
}

// An index outside of its table: the totals on the host keep their values, though all other arrays are on the device.
void expect_index_error_on_cuda(CudaDevice& device) {
  const auto kernel = device.load(build_cuda_kernel(
      parse({"table.pipe", "input_i int k; param real t[3]; output(total) real s;\ns += t[k];"}), {}, ""));
  const std::int32_t k[] = {0, 2, 5};
  const std::vector<double> t{1, 2, 4};
  double s = -7;
  DeviceArray at_k(device.gpu(), sizeof k);
  at_k.put(k, sizeof k);
  SumState sum(kernel);
  sum.set_param("t", t);
  sum.set_counts(3, 1);
  sum.bind("k", {at_k.data(), Element::Int32, 3, 4, 4});
  sum.bind("s", {&s, Element::Double, 1, 0, 0});
  sum.run({.i_count = 2});
  EXPECT_EQ(s, 5);
  EXPECT_THROW(sum.run({}), UsageError);
  EXPECT_EQ(s, 5);
  sum.run({.i_count = 2});
  EXPECT_EQ(s, 5);
}

// Sums and products of integers are reduced as doubles, and saturate when they are stored, as those over j do.
constexpr char kBig[] =
    "input_i index k; output(total) index s; output(total, product) index p; output(total, min) index least;\n"
    "s += k; p *= k; least = min(least, k);";

void expect_saturated(const std::shared_ptr<const Kernel>& kernel) {
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max(), kBit = std::int64_t(1) << 52;
  const auto expect_of = [&](std::vector<std::int64_t> k, std::int64_t of_s, std::int64_t of_p) {
    std::int64_t s = 7, p = 7, least = 7;
    SumState sum(kernel);
    const auto n = std::int64_t(k.size());
    sum.set_counts(n, 1);
    sum.bind("k", {k.data(), Element::Int64, n, 8, 8});
    sum.bind("s", {&s, Element::Int64, 1, 0, 0});
    sum.bind("p", {&p, Element::Int64, 1, 0, 0});
    sum.bind("least", {&least, Element::Int64, 1, 0, 0});
    sum.run();
    EXPECT_EQ(s, of_s) << n;
    EXPECT_EQ(p, of_p) << n;
    EXPECT_EQ(least, *std::ranges::min_element(k)) << n;
  };
  expect_of({3, -5, 7}, 5, -105);
  expect_of({kBit, kBit}, 2 * kBit, kGreatest);
  expect_of({kBit, -kBit}, 0, -kGreatest - 1);
  expect_of(std::vector<std::int64_t>(3000, kBit), kGreatest, kGreatest);
  expect_of(std::vector<std::int64_t>(3000, -kBit), -kGreatest - 1, kGreatest);
}

TEST(Totals, IntegersSaturate) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  expect_saturated(device.load(build_cpu_kernel(parse({"big.pipe", kBig}), {}, detect_isa(), "")));
}

void expect_details_on_cuda(CudaDevice& device) {
  expect_small_on_cuda(device);
  expect_total_alone_on_cuda(device);
  expect_destroyed_early_on_cuda(device);
  expect_index_error_on_cuda(device);
  expect_saturated(device.load(build_cuda_kernel(parse({"big.pipe", kBig}), {}, "")));
  expect_integers_without_non_finite_i(device.load(build_cuda_kernel(parse({"within.pipe", kWithin}), {}, "")));
}

TEST(Totals, DetailsOnLazyShim) {
  CudaShim shim;
  shim.set_lazy(true);
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_details_on_cuda(device);
}

void expect_many_components_on_cuda(CudaDevice& device) {
  const auto load = [&](const std::string& text) {
    return device.load(build_cuda_kernel(parse({"many.pipe", text}), {.precision = Precision::Double}, ""));
  };
  for (const CudaGpu* gpu : {static_cast<const CudaGpu*>(nullptr), &device.gpu()}) expect_many_components(load, gpu);
}

TEST(Totals, ManyComponentsOnShim) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_many_components_on_cuda(device);
}

class TotalsOnGpu : public test::OnGpu {};

TEST_F(TotalsOnGpu, Details) { expect_details_on_cuda(*device_); }
TEST_F(TotalsOnGpu, ManyComponents) { expect_many_components_on_cuda(*device_); }

}  // namespace
}  // namespace nbcc
