// argmin and argmax of several places, and what goes along with them: against the interpreter, which sorts all
// candidates, in every frame of the CPU and of CUDA (on the shim's GPU, and on a real one where there is one). Inputs
// are such that everything is exact in single precision, so that results must be equal, ties and NaN among them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/folders.h"
#include "tests/support/random_lists.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

using namespace test;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const std::string kFields = R"(
input_i vec3 xi; input_i int ki;
input_j vec3 xj; input_j real mj; input_j int kj; input_j double wj;
param real rc = 1.5;
output(argmin) index near[5];
output(at) vec3 d[5];
output(at) double w[5];
output(at) int kind[5];
output(at) index number[5];
output(argmax) index heavy[2];
output(at) real mass[2];
output(argmin) index one;
output(at) vec3 step;
output(at) int kind_of_one;
output(argmin) index low[3];
output(at) real mass_of_low[3];
output(argmin) index alone;
output(sum) int count;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
)";
const std::string kGuards[] = {"", "skip_if(i_index == j_index);\n", "skip_if(r2 >= rc * rc || mj > 0.875);\n"};
const std::string kChoices = R"(
near = argmin(near, r2);
d = at(near, dx);
w = at(near, wj);
kind = at(near, kj - ki + 100);
number = at(near, j_index);
if (kj > ki) { heavy = argmax(heavy, mj); mass = at(heavy, 0.5 * mj); }
one = argmin(one, r2 + mj);
step = at(one, dx);
kind_of_one = at(one, kj + 100);
low = argmin(low, kj * ki);
mass_of_low = at(low, mj);
alone = argmin(alone, r2);
count += 1;
void finish() { mass[0] = mass[0] + mass[1]; if (near[4] >= 0) number[0] = number[0] + near[4]; }
)";

// Few different numbers, so that many values are equal, and some that are none.
OracleInput with_ties(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj, std::uint64_t seed) {
  OracleInput input = random_pipeline_input(pipeline, ni, nj, seed);
  std::mt19937_64 random(seed);
  for (auto* side : {&input.i, &input.j})
    for (auto& column : *side)
      for (double& value : column) value = std::floor(value * 4) / 4;
  const auto mass = std::size_t(pipeline.find("mj")->first), x = std::size_t(pipeline.find("xj")->first);
  for (std::int64_t k = 0; k < nj; ++k) {
    if (random() % 9 == 0) input.j[mass][std::size_t(k)] = kNan;
    if (random() % 11 == 0) input.j[x][std::size_t(k)] = kNan;
  }
  return input;
}

// NaN as a number that nothing else gives.
test::Columns comparable(test::Columns columns) {
  for (auto& column : columns)
    for (double& value : column)
      if (std::isnan(value)) value = -1e300;
  return columns;
}

void expect_oracle(const Pipeline& pipeline, const std::shared_ptr<const Kernel>& kernel, const OracleInput& input,
                   const KernelRunChoice& choice, const std::string& what) {
  test::Columns expected = comparable(interpret(pipeline, input).values);
  for (auto& column : expected) {
    column.erase(column.begin(), column.begin() + choice.begin);
    if (choice.count >= 0) column.resize(std::size_t(choice.count));
  }
  const test::Columns got = comparable(run_kernel(kernel, input, choice));
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t c = 0; c < got.size(); ++c)
    EXPECT_EQ(got[c], expected[c]) << what << ", " << component_name(pipeline.field_of(Role::Output, int(c)), int(c));
}

constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {{5, 37}, {67, 1500}, {1, 1}, {2, 0}, {40, 3}, {130, 600}};

std::string size_of(const OracleInput& input) { return std::to_string(input.ni) + " x " + std::to_string(input.nj); }

class ChoicesOfAllPairs : public testing::TestWithParam<std::size_t> {};

TEST_P(ChoicesOfAllPairs, AreThoseOfTheOracleOnTheCpu) {
  const Pipeline pipeline = parse({"choices.pipe", kFields + kGuards[GetParam()] + kChoices});
  for (const auto& [isa, precision] : isas_with_precisions(GetParam())) {
    const Options options{.precision = precision};
    for (const int threads : {1, 3}) {
      CpuDevice device(threads, isa, cpu_toolchain(), "", "");
      const auto kernel = device.load(build_cpu_kernel(pipeline, options, isa, ""));
      for (const auto& [ni, nj] : kSizes) {
        const OracleInput input = with_ties(pipeline, ni, nj, std::uint64_t(ni));
        expect_oracle(pipeline, kernel, input, {}, describe(options, isa) + ", " + size_of(input));
        if (ni > 3) expect_oracle(pipeline, kernel, input, {.begin = 2, .count = ni - 3}, describe(options, isa));
      }
      // So many j that threads share segments.
      const OracleInput many = with_ties(pipeline, 3, 40000, 7);
      expect_oracle(pipeline, kernel, many, {}, describe(options, isa) + ", " + size_of(many));
    }
  }
}

void expect_on_cuda(CudaDevice& device, std::size_t guard, Precision precision) {
  const Pipeline pipeline = parse({"choices.pipe", kFields + kGuards[guard] + kChoices});
  const auto kernel = device.load(build_cuda_kernel(pipeline, {.precision = precision}, ""));
  std::vector<LaunchConfig> launches = kernel->source.first().launches;
  for (std::size_t k = 0; k < launches.size(); ++k) launches[k].j_splits = 2 + int(k % 3);
  launches.emplace_back();
  std::size_t number = 0;
  for (const auto& [ni, nj] : kSizes) {
    const OracleInput input = with_ties(pipeline, ni, nj, std::uint64_t(ni));
    for (const CudaGpu* gpu : {static_cast<const CudaGpu*>(nullptr), &device.gpu()}) {
      KernelRunChoice choice{.arrays_on = gpu, .launch = launches[number++ % launches.size()]};
      expect_oracle(pipeline, kernel, input, choice, std::string(name(precision)) + ", " + size_of(input));
      if (ni > 3) choice.begin = 2, choice.count = ni - 3;
      expect_oracle(pipeline, kernel, input, choice, std::string(name(precision)) + ", some of " + size_of(input));
    }
  }
}

TEST_P(ChoicesOfAllPairs, AreThoseOfTheOracleOnTheShim) {
  CudaShim shim;
  const ShimOrder orders[] = {{}, {ShimOrder::Kind::Backward}, {ShimOrder::Kind::Shuffled, 7}};
  shim.set_block_order(orders[GetParam()]);
  shim.set_thread_order(orders[(GetParam() + 1) % 3]);
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3, GetParam()))
    expect_on_cuda(device, GetParam(), precision);
}

TEST_P(ChoicesOfAllPairs, AreThoseOfTheOracleOnAGpu) {
  std::optional<CudaDevice> device;
  try {
    device.emplace(cuda_driver(), make_nvrtc(), 0, "", "");
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double})
    expect_on_cuda(*device, GetParam(), precision);
}

// ---- other pairs than all -------------------------------------------------------------------------------------------

void expect_in_lists(const Pipeline& pipeline, const std::shared_ptr<const Kernel>& kernel, const CudaGpu* gpu) {
  std::uint64_t seed = 1;
  for (const auto& [ni, nj] : {std::pair{5, 37}, {3, 1000}, {130, 600}, {1, 1}, {2, 0}})
    for (const ListKind kind : kListKinds)
      for (const bool exclusions : {false, true}) {
        if (kind == ListKind::Pairs && exclusions) continue;
        const ListCase one = random_list_case(with_ties(pipeline, ni, nj, seed), kind, exclusions, seed);
        const std::string what =
            size_of(one.input) + ", kind " + std::to_string(int(kind)) + (exclusions ? ", but" : "");
        expect_oracle(pipeline, kernel, one.input, {.arrays_on = ++seed % 2 ? gpu : nullptr, .prepare = one.prepare},
                      what);
      }
}

void expect_by_search(const Pipeline& pipeline, const std::shared_ptr<const Kernel>& kernel, const CudaGpu* gpu) {
  ASSERT_GT(kernel->source.search.axes, 0);
  for (const auto& [ni, nj] : {std::pair{70, 70}, {150, 600}, {40, 3}, {5, 0}}) {
    OracleInput input = with_ties(pipeline, ni, nj, std::uint64_t(nj) + 1);
    for (auto* side : {&input.i, &input.j})
      for (std::size_t c = 0; c < 3; ++c)
        for (double& value : (*side)[c]) value *= 4;
    for (const double rc : {1.5, 3.25}) {
      input.params = {rc};
      const auto search = [](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); };
      expect_oracle(pipeline, kernel, input, {.arrays_on = gpu, .prepare = search}, size_of(input));
    }
  }
}

TEST(ChoicesOfSomePairs, AreThoseOfTheOracleOnTheCpu) {
  const Pipeline pipeline = parse({"choices.pipe", kFields + kGuards[2] + kChoices});
  for (const Isa isa : runnable_isas()) {
    CpuDevice device(2, isa, cpu_toolchain(), "", "");
    const auto kernel = device.load(build_cpu_kernel(pipeline, {.precision = Precision(int(isa) % 3)}, isa, ""));
    expect_in_lists(pipeline, kernel, nullptr);
    expect_by_search(pipeline, kernel, nullptr);
  }
}

TEST(ChoicesOfSomePairs, AreThoseOfTheOracleOnTheShim) {
  const Pipeline pipeline = parse({"choices.pipe", kFields + kGuards[2] + kChoices});
  CudaShim shim;
  shim.set_thread_order({ShimOrder::Kind::Shuffled, 5});
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3)) {
    const auto kernel = device.load(build_cuda_kernel(pipeline, {.precision = precision}, ""));
    expect_in_lists(pipeline, kernel, &device.gpu());
    expect_by_search(pipeline, kernel, &device.gpu());
  }
}

TEST(ChoicesOfSomePairs, AreThoseOfTheOracleOnAGpu) {
  std::optional<CudaDevice> device;
  try {
    device.emplace(cuda_driver(), make_nvrtc(), 0, "", "");
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  const Pipeline pipeline = parse({"choices.pipe", kFields + kGuards[2] + kChoices});
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double}) {
    const auto kernel = device->load(build_cuda_kernel(pipeline, {.precision = precision}, ""));
    expect_in_lists(pipeline, kernel, &device->gpu());
    expect_by_search(pipeline, kernel, &device->gpu());
  }
}

INSTANTIATE_TEST_SUITE_P(Guards, ChoicesOfAllPairs, testing::Range(std::size_t(0), std::size(kGuards)));

// ---- against a plain sort, without the interpreter
// -------------------------------------------------------------------

// Whole numbers beyond 2^53, which doubles would round, the last ones of 64 bits among them; 24 places, since the
// compiler of the shim takes minutes for 64.
TEST(ChoicesOfWholeNumbers, AreExact) {
  const Pipeline pipeline = parse({"whole.pipe",
                                   "input_j index n; output(argmin) index low[24]; output(at) index value[24];\n"
                                   "output(argmax) index high[3]; output(at) index greatest[3];\n"
                                   "low = argmin(low, n); value = at(low, n);\n"
                                   "high = argmax(high, n); greatest = at(high, n);\n"});
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kBig = std::int64_t(1) << 53;
  std::mt19937_64 random(3);
  std::vector<std::vector<std::int64_t>> sets{{}, {kMost, kMost}, {-kMost - 1, -kMost - 1, 5}};
  for (const std::size_t nj : {5, 24, 3000}) {
    std::vector<std::int64_t>& n = sets.emplace_back();
    for (std::size_t k = 0; k < nj; ++k) n.push_back(kBig + std::int64_t(random() % 100));
  }
  CudaShim shim;
  CudaDevice gpu(shim.driver(), shim.compiler(), 0, "", "");
  CpuDevice cpu(1, detect_isa(), cpu_toolchain(), "", "");
  const Options options{.precision = Precision::Single};
  for (const auto& kernel : {cpu.load(build_cpu_kernel(pipeline, options, detect_isa(), "")),
                             gpu.load(build_cuda_kernel(pipeline, options, ""))})
    for (std::vector<std::int64_t>& n : sets) {
      std::vector<std::int64_t> order(n.size()), low(24), value(24), high(3), greatest(3);
      const auto bind = [](SumState& sum, const char* field, std::vector<std::int64_t>& array, std::int64_t count) {
        sum.bind(field, {array.data(), Element::Int64, count, 8, 8});
      };
      SumState sum(kernel);
      sum.set_counts(1, std::int64_t(n.size()));
      bind(sum, "n", n, std::int64_t(n.size()));
      bind(sum, "low", low, 1), bind(sum, "value", value, 1);
      bind(sum, "high", high, 1), bind(sum, "greatest", greatest, 1);
      sum.run();
      sum.wait();
      std::iota(order.begin(), order.end(), 0);
      const auto expect = [&](const std::vector<std::int64_t>& chosen, const std::vector<std::int64_t>& carried) {
        for (std::size_t m = 0; m < chosen.size(); ++m) {
          EXPECT_EQ(chosen[m], m < n.size() ? order[m] : -1) << kernel->source.target << ", place " << m;
          EXPECT_EQ(carried[m], m < n.size() ? n[std::size_t(order[m])] : 0)
              << kernel->source.target << ", place " << m;
        }
      };
      std::ranges::stable_sort(order, {}, [&](std::int64_t j) { return n[std::size_t(j)]; });
      expect(low, value);
      std::ranges::sort(order);
      std::ranges::stable_sort(order, std::greater<>(), [&](std::int64_t j) { return n[std::size_t(j)]; });
      expect(high, greatest);
    }
}

TEST(KNearest, AreThoseOfAPlainSort) {
  const Pipeline pipeline = parse(read_source(source_folder() + "/pipelines/k_nearest.pipe"));
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(pipeline, {.precision = Precision::Double}, detect_isa(), ""));
  for (const std::int64_t n : {300, 5}) {
    OracleInput input = random_pipeline_input(pipeline, n, n, 11);
    input.j = input.i;
    input.i_offset = input.j_offset = 0;
    input.params = {1};
    const test::Columns got = run_kernel(kernel, input);
    const auto apart = [&](std::int64_t i, std::int64_t j, std::size_t d) {
      return input.j[d][std::size_t(j)] - input.i[d][std::size_t(i)];
    };
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<std::pair<double, std::int64_t>> others;
      for (std::int64_t j = 0; j < n; ++j) {
        const double x = apart(i, j, 0), y = apart(i, j, 1), z = apart(i, j, 2);
        if (j != i) others.emplace_back(x * x + y * y + z * z, j);
      }
      std::ranges::sort(others);
      const auto at = std::size_t(i);
      for (std::size_t m = 0; m < 8; ++m) {
        if (m >= others.size()) {
          EXPECT_TRUE(got[m][at] == -1 && std::isnan(got[8 + m][at]) && std::isnan(got[16 + 3 * m][at]));
          continue;
        }
        const auto [r2, j] = others[m];
        ASSERT_EQ(got[m][at], double(j)) << "place " << m << " of " << i;
        EXPECT_EQ(got[8 + m][at], std::sqrt(r2));
        for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(got[16 + 3 * m + d][at], apart(i, j, d));
      }
    }
  }
}

// One i, into floats and 32-bit integers that stand apart.
TEST(ChoicesInArrays, GoToArraysOfAnyElement) {
  const Pipeline pipeline = parse({"k.pipe",
                                   "input_j real x; output(argmin) index near[2]; output(at) vec2 d[2];\n"
                                   "output(at) real r[2]; near = argmin(near, x); d = at(near, vec2(x, -x));\n"
                                   "r = at(near, 2.0 * x);\n"});
  CpuDevice cpu(1, detect_isa(), cpu_toolchain(), "", "");
  CudaShim shim;
  CudaDevice gpu(shim.driver(), shim.compiler(), 0, "", "");
  for (const auto& kernel :
       {cpu.load(build_cpu_kernel(pipeline, {}, detect_isa(), "")), gpu.load(build_cuda_kernel(pipeline, {}, ""))}) {
    std::vector<float> x{3, 1, 2}, d(8, 9);
    std::vector<std::int32_t> near(5, 9), r(3, 9);
    SumState sum(kernel);
    sum.bind("x", {x.data(), Element::Float, 3, 4, 0});
    sum.bind("near", {near.data(), Element::Int32, 1, 0, 8});
    sum.bind("d", {d.data(), Element::Float, 1, 0, 8});
    sum.bind("r", {r.data() + 1, Element::Int32, 1, 0, -4});
    sum.run();
    sum.wait();
    EXPECT_EQ(near, (std::vector<std::int32_t>{1, 9, 2, 9, 9}));
    EXPECT_EQ(d, (std::vector<float>{1, 9, -1, 9, 2, 9, -2, 9}));
    EXPECT_EQ(r, (std::vector<std::int32_t>{4, 2, 9}));
  }
}

TEST(ChoicesInArrays, CannotBeAccumulated) {
  const Pipeline pipeline =
      parse({"k.pipe",
             "input_j real x; output(argmin) index near; output(at) real r; near = argmin(near, x); r = at(near, x);"});
  CpuDevice cpu(1, detect_isa(), cpu_toolchain(), "", "");
  SumState sum(cpu.load(build_cpu_kernel(pipeline, {}, detect_isa(), "")));
  double x = 1, r = 0;
  sum.bind("x", {&x, Element::Double, 1, 8, 0});
  sum.bind("r", {&r, Element::Double, 1, 8, 0});
  sum.ignore("near");
  RunChoice choice;
  choice.accumulate = true;
  try {
    sum.run(choice);
    FAIL() << "it ran";
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("'r' of pipeline 'k' cannot be accumulated"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace nbcc
