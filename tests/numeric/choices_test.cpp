// argmin and argmax of several places, and their payloads, against a plain sort without the interpreter.
// what_goes_together_test.cpp compares them with the interpreter for every kind of pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
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

namespace nbcc {
namespace {

using namespace test;

// Whole numbers beyond 2^53, which doubles would round, the last ones of 64 bits among them; 6 places, since the
// compiler of the shim takes long for more.
TEST(ChoicesOfWholeNumbers, AreExact) {
  const Pipeline pipeline = parse({"whole.pipe",
                                   "input_j index n; output(argmin) index low[6]; output(at) index value[6];\n"
                                   "output(argmax) index high[3]; output(at) index greatest[3];\n"
                                   "low = argmin(low, n); value = at(low, n);\n"
                                   "high = argmax(high, n); greatest = at(high, n);\n"});
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kBig = std::int64_t(1) << 53;
  std::mt19937_64 random(3);
  std::vector<std::vector<std::int64_t>> sets{{}, {kMost, kMost}, {-kMost - 1, -kMost - 1, 5}};
  for (const std::size_t nj : {5, 6, 3000}) {
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
      std::vector<std::int64_t> order(n.size()), low(6), value(6), high(3), greatest(3);
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
