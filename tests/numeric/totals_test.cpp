// Totals: one value for the run, against a loop over the oracle's values of i: every reduction and shape, all pairs,
// searches, lists, parts, chosen i, accumulation, and the same bits for any number of threads; on the CPU, on the shim
// and on a GPU. Random pipelines (random_pipelines_test.cpp) have totals, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "particles/error_bounds/error_bound.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"
#include "tests/support/tolerance.h"

namespace nbcc {
namespace {

using namespace test;

const std::string kEveryTotal = R"(
input_i vec3 xi; input_i real mi; input_i int ki;
input_j vec3 xj; input_j real mj; input_j int kj;
param real rc = 1e9;
output(sum) vec3 force;
output(total) real energy;
output(total) vec3 square;
output(total) double moments[3];
output(total, min) real least;
output(total, max) int most;
output(total, min) index lowest;
output(total, logsumexp) real z;
output(total, product) double growth;
output(total, count) index pairs;
output(total) index whole;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
force += mj * dx;
energy += mi * mj / (r2 + 1.0);
square += dx * dx;
moments[0] += double(1 + mj * mj); moments[1] += double(2 + mi * mi); moments[2] += 3;
least = min(least, r2 + 1.0);
most = max(most, kj - ki);
lowest = min(lowest, j_index);
z = logsumexp(z, -r2);
growth *= 1 + 1e-6 * r2;
pairs += r2 > 0.5;
whole += kj;
void finish() {
  force *= 2;
  energy += 2 + dot(force, force);
  if (mi > 0) least = min(least, 1.5 + mi);
  moments[2] += double(mi * mi);
  z = logsumexp(z, mi);
  growth *= 1 + 1e-6 * double(mi);
  pairs += mi > 0;
  most = max(most, ki);
}
)";

const Pipeline& pipeline() {
  static const Pipeline parsed = parse({"totals.pipe", kEveryTotal});
  return parsed;
}

OracleInput particles(std::int64_t ni, std::int64_t nj) {
  OracleInput input = random_pipeline_input(pipeline(), ni, nj, std::uint64_t(ni * 7 + nj));
  input.params = {1e9};
  for (auto* side : {&input.i, &input.j})
    for (double& mass : (*side)[3]) mass = std::fabs(mass) + 0.25;
  for (std::size_t k = 0; k < input.i[4].size(); ++k) input.i[4][k] = double(k % 5);
  for (std::size_t k = 0; k < input.j[4].size(); ++k) input.j[4][k] = double(k % 17);
  return input;
}

void expect_oracle(const test::Columns& got, const OracleInput& input, std::span<const std::int64_t> which,
                   Precision precision, const std::string& what) {
  const Expectation expected = expect(pipeline(), input, which, {.precision = precision}, Target{.fused = false});
  ASSERT_EQ(got.size(), expected.values.size());
  for (std::size_t c = 0; c < got.size(); ++c)
    expect_within(got[c], expected.values[c], expected.bound[c],
                  what + ", " + component_name(pipeline().field_of(Role::Output, int(c)), int(c)));
}

std::vector<std::int64_t> from_to(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> all(std::size_t(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {{1, 1}, {511, 3}, {512, 37}, {513, 20}, {1100, 90}};

void expect_sizes(const std::shared_ptr<const Kernel>& kernel, const CudaGpu* gpu, Precision precision) {
  for (const auto& [ni, nj] : kSizes) {
    const OracleInput input = particles(ni, nj);
    const std::string what = std::string(gpu ? "on" : "off") + " the device, " + std::to_string(ni);
    expect_oracle(run_kernel(kernel, input, {.arrays_on = gpu}), input, from_to(0, ni), precision, what);
    if (ni < 3) continue;
    const KernelRunChoice some{.begin = 2, .count = ni - 3, .arrays_on = gpu};
    expect_oracle(run_kernel(kernel, input, some), input, from_to(2, ni - 1), precision, what + ", a range");
    const KernelRunChoice parts{.arrays_on = gpu, .parts = {{nj / 2, nj}, {0, nj / 2}}};
    expect_oracle(run_kernel(kernel, input, parts), input, from_to(0, ni), precision, what + ", parts");
  }
}

TEST(Totals, OracleOnCpu) {
  for (const Isa isa : runnable_isas()) {
    const auto precision = Precision(int(isa) % 3);
    CpuDevice device(2, isa, cpu_toolchain(), "", "");
    expect_sizes(device.load(build_cpu_kernel(pipeline(), {.precision = precision}, isa, "")), nullptr, precision);
  }
}

// Totals over no i, and over no j.
TEST(Totals, Identities) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(pipeline(), {.precision = Precision::Double}, detect_isa(), ""));
  OracleInput input = particles(0, 5);
  const test::Columns none = run_kernel(kernel, input);
  const OracleOutput oracle = interpret(pipeline(), input);
  for (std::size_t c = 3; c < none.size(); ++c) EXPECT_EQ(none[c], oracle.values[c]) << c;
  EXPECT_EQ(none[3][0], 0);
  EXPECT_EQ(none[10][0], HUGE_VAL);
  input = particles(700, 0);
  expect_oracle(run_kernel(kernel, input), input, from_to(0, 700), Precision::Double, "no j");
}

TEST(Totals, SameBitsForAnyThreads) {
  const OracleInput input = particles(3000, 200);
  std::optional<test::Columns> first;
  for (const int threads : {1, 2, 3, 7}) {
    CpuDevice device(threads, detect_isa(), cpu_toolchain(), "", "");
    const auto kernel = device.load(build_cpu_kernel(pipeline(), {}, detect_isa(), ""));
    const test::Columns got = run_kernel(kernel, input);
    if (first) EXPECT_EQ(got, *first) << threads;
    first = got;
  }
}

TEST(Totals, Searches) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(pipeline(), {.precision = Precision::Double}, detect_isa(), ""));
  ASSERT_GT(kernel->source.search.axes, 0);
  OracleInput input = particles(1300, 1300);
  input.params = {0.4};
  const auto search = [](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); };
  expect_oracle(run_kernel(kernel, input, {.prepare = search}), input, from_to(0, 1300), Precision::Double, "search");
}

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

void expect_on_cuda(CudaDevice& device, Precision precision) {
  const auto kernel = device.load(build_cuda_kernel(pipeline(), {.precision = precision}, ""));
  for (const CudaGpu* gpu : {static_cast<const CudaGpu*>(nullptr), &device.gpu()}) expect_sizes(kernel, gpu, precision);
}

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
}

TEST(Totals, DetailsOnLazyShim) {
  CudaShim shim;
  shim.set_lazy(true);
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_details_on_cuda(device);
}

TEST(Totals, OracleOnShim) {
  CudaShim shim;
  shim.set_block_order({ShimOrder::Kind::Shuffled, 3});
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  for (const Precision precision : test::sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3))
    expect_on_cuda(device, precision);
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

TEST_F(TotalsOnGpu, OracleInSingle) { expect_on_cuda(*device_, Precision::Single); }
TEST_F(TotalsOnGpu, OracleInMixed) { expect_on_cuda(*device_, Precision::Mixed); }
TEST_F(TotalsOnGpu, OracleInDouble) { expect_on_cuda(*device_, Precision::Double); }
TEST_F(TotalsOnGpu, Details) { expect_details_on_cuda(*device_); }
TEST_F(TotalsOnGpu, ManyComponents) { expect_many_components_on_cuda(*device_); }

}  // namespace
}  // namespace nbcc
