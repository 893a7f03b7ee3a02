// Whole numbers where a float or a double would round them: extremes and what they choose, sums before and after
// finish(). On the CPU device with every instruction set, and through the whole CUDA runtime on the shim's GPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

using Kernels = std::shared_ptr<const Kernel>;
using Indices = std::vector<std::int64_t>;

constexpr std::int64_t kBig = std::int64_t(1) << 53, kMost = std::numeric_limits<std::int64_t>::max(),
                       kLeast = std::numeric_limits<std::int64_t>::min();

template <typename T>
ArrayView view(std::vector<T>& values) {
  const Element element = std::is_same_v<T, double>  ? Element::Double
                          : std::is_same_v<T, float> ? Element::Float
                          : sizeof(T) == 4           ? Element::Int32
                                                     : Element::Int64;
  return {values.data(), element, std::int64_t(values.size()), std::int64_t(sizeof(T)), 0};
}

void on_every_device(const std::string& text, const std::function<void(const Kernels&, const std::string&)>& test) {
  const Pipeline pipeline = parse({"whole.pipe", text});
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    const Options options{.precision = precision};
    for (const Isa isa : runnable_isas()) {
      CpuDevice device(1, isa, cpu_toolchain(), "", "");
      test(device.load(build_cpu_kernel(pipeline, options, isa, "")), describe(options, isa));
    }
    CudaShim shim;
    CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
    test(device.load(build_cuda_kernel(pipeline, options, "")), "shim, " + std::string(name(precision)));
  }
}

// One i, and j-particles with the index n. The outputs are all of index.
template <typename T = std::int64_t>
std::vector<T> results(const Kernels& kernel, Indices n, std::vector<T> before = {}) {
  SumState sum(kernel);
  sum.set_counts(1, std::int64_t(n.size()));
  sum.bind("n", view(n));
  std::vector<std::vector<T>> outputs;
  outputs.reserve(kernel->source.fields.size());
  for (const FieldLayout& field : kernel->source.fields) {
    if (field.role != Role::Output) continue;
    const std::size_t k = outputs.size();
    outputs.push_back({k < before.size() ? before[k] : T(0)});
    sum.bind(field.name, view(outputs.back()));
  }
  RunChoice choice;
  choice.accumulate = !before.empty();
  sum.run(choice);
  sum.wait();
  std::vector<T> all;
  for (const auto& output : outputs) all.push_back(output[0]);
  return all;
}

// Long enough for several tiles and segments; the extremes stand where their neighbours differ by one.
Indices around(std::int64_t middle) {
  Indices n(5000, middle);
  n[2999] = middle - 1;
  n[3001] = middle + 1;
  return n;
}

const std::string kExtremes =
    "input_j index n;\noutput(min) index low;\noutput(max) index high;\noutput(argmin) index near;\n"
    "output(argmax) index far;\nlow = min(low, n);\nhigh = max(high, n);\nnear = argmin(near, n);\nfar = argmax(far, "
    "n);";

TEST(WholeNumbers, ExtremesOfIndicesAreExact) {
  on_every_device(kExtremes, [](const Kernels& kernel, const std::string& where) {
    for (const std::int64_t middle : {std::int64_t(100), kBig + 1, -kBig - 1, kMost - 1, kLeast + 1})
      EXPECT_EQ(results(kernel, around(middle)), (Indices{middle - 1, middle + 1, 2999, 3001})) << where;
  });
}

TEST(WholeNumbers, EvenTheLastOneIsChosen) {
  on_every_device(kExtremes, [](const Kernels& kernel, const std::string& where) {
    EXPECT_EQ(results(kernel, Indices(3, kMost)), (Indices{kMost, kMost, 0, 0})) << where;
    EXPECT_EQ(results(kernel, Indices(3, kLeast)), (Indices{kLeast, kLeast, 0, 0})) << where;
  });
}

TEST(WholeNumbers, WithoutACandidateAreTheLastOnes) {
  on_every_device(kExtremes, [](const Kernels& kernel, const std::string& where) {
    EXPECT_EQ(results(kernel, {}), (Indices{kMost, kLeast, -1, -1})) << where;
    EXPECT_EQ(results<std::int32_t>(kernel, {})[0], std::numeric_limits<std::int32_t>::max()) << where;
  });
}

TEST(WholeNumbers, ExtremesJoinWhatTheArrayHeld) {
  const std::string text =
      "input_j index n;\noutput(min) index low;\noutput(max) index high;\nlow = min(low, n);\nhigh = max(high, n);";
  on_every_device(text, [](const Kernels& kernel, const std::string& where) {
    EXPECT_EQ(results(kernel, {kBig + 3}, {kBig + 1, kBig + 5}), (Indices{kBig + 1, kBig + 5})) << where;
    EXPECT_EQ(results(kernel, {kBig + 3}, {kBig + 5, kBig + 1}), (Indices{kBig + 3, kBig + 3})) << where;
    EXPECT_EQ(results<double>(kernel, {4}, {3.5, 3.5}), (std::vector<double>{3.5, 4})) << where;
  });
}

// 2^24 + 1 is no float.
TEST(WholeNumbers, IntsAreChosenExactly) {
  const std::string text =
      "input_j index n;\noutput(argmin) index near;\noutput(argmax) index far;\nint k = int(n);\n"
      "near = argmin(near, k);\nfar = argmax(far, k);";
  on_every_device(text, [](const Kernels& kernel, const std::string& where) {
    EXPECT_EQ(results(kernel, {16777217, 16777216, 16777219, 16777220}), (Indices{1, 3})) << where;
  });
}

TEST(WholeNumbers, CandidatesUnderDifferentConditionsAreChosenAmong) {
  const std::string text =
      "input_j index n;\noutput(argmin) index near;\noutput(max) index high;\n"
      "if (n % 3 == 0) { near = argmin(near, n); high = max(high, n); }\n"
      "if (n % 5 == 0) { near = argmin(near, n - 100); high = max(high, n * 2); }";
  on_every_device(text, [](const Kernels& kernel, const std::string& where) {
    EXPECT_EQ(results(kernel, {1, 2}), (Indices{-1, kLeast})) << where;
    EXPECT_EQ(results(kernel, {7, 9, 20, 15, 10}), (Indices{4, 40})) << where;
    EXPECT_EQ(results(kernel, {7, 9, 3}), (Indices{2, 9})) << where;
  });
}

TEST(WholeNumbers, AreChosenAmongRealNumbers) {
  const std::string text =
      "input_j index n;\noutput(argmax) index far;\n"
      "if (n % 2 == 0) far = argmax(far, n);\nelse far = argmax(far, real(n % 3) + 0.5);";
  on_every_device(text, [](const Kernels& kernel, const std::string& where) {
    EXPECT_EQ(results(kernel, {7, 1073741826, 1073741828, 9}), Indices{2}) << where;
  });
}

TEST(WholeNumbers, AnEmptyFinishChangesNoSum) {
  const std::string text =
      "input_j index n;\noutput(sum) int count;\noutput(min) int low;\n"
      "count += int(n);\nlow = min(low, int(n));\n";
  for (const char* finish : {"", "void finish() {}", "void finish() { count = count; }"}) {
    on_every_device(text + finish, [&](const Kernels& kernel, const std::string& where) {
      EXPECT_EQ(results(kernel, {2000000000, 2000000000}), (Indices{4000000000, 2000000000})) << where << finish;
      EXPECT_EQ(results(kernel, {}), (Indices{0, kMost})) << where << finish;
    });
  }
}

TEST(WholeNumbers, FinishReadsWholeSums) {
  const std::string text =
      "input_j index n;\noutput(sum) int count;\noutput(sum) double mean;\noutput(max) index high;\n"
      "count += int(n);\nmean += 0.0;\nhigh = max(high, n);\n"
      "void finish() { mean = double(count); count = count / 2; high = high - 1; }";
  on_every_device(text, [](const Kernels& kernel, const std::string& where) {
    EXPECT_EQ(results(kernel, {2000000000, 2000000000, 2}), (Indices{2000000001, 4000000002, 1999999999})) << where;
  });
}

// An int64 array bound to an int: an error before anything is written.
TEST(WholeNumbers, ThatAnIntCannotHoldAreRefused) {
  on_every_device("input_i int k;\ninput_j int n;\noutput(max) int high;\nhigh = max(high, n + k);",
                  [](const Kernels& kernel, const std::string& where) {
                    for (const std::int64_t wrong : {std::int64_t(2147483648), std::int64_t(-2147483649)}) {
                      Indices k{0, 0, wrong}, n{1, 2147483647, wrong, -2147483648}, high{7, 7, 7};
                      SumState sum(kernel);
                      sum.bind("k", view(k)), sum.bind("n", view(n)), sum.bind("high", view(high));
                      const auto error = [&] {
                        try {
                          sum.run({.i_begin = 0, .i_count = 2});
                        } catch (const UsageError& e) {
                          return std::string(e.what());
                        }
                        return std::string();
                      };
                      EXPECT_EQ(error(), "input_j 'n' of pipeline 'whole': the int64 array has " +
                                             std::to_string(wrong) +
                                             " for particle 2, but an int is from -2147483648 to 2147483647")
                          << where;
                      EXPECT_EQ(high, (Indices{7, 7, 7})) << where;
                      n[2] = 5;  // the i of the wrong one is not asked for
                      EXPECT_EQ(error(), "") << where;
                      sum.wait();
                      EXPECT_EQ(high, (Indices{2147483647, 2147483647, 7})) << where;
                    }
                  });
}

}  // namespace
}  // namespace nbcc::test
