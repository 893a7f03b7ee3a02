// Results per pair on the CPU and in the CUDA text, against the interpreter: random texts with and without sums beside,
// lists with repeated and missing j, chosen i, and histories that one run writes and the next reads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "compiler/source/parse.h"
#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/derived/for_callers.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using PairRandom = std::mt19937_64;

bool one_in(PairRandom& random, int n) { return random() % std::uint64_t(n) == 0; }

std::string pair_text(PairRandom& random) {
  std::string text =
      "input_i vec3 xi; input_i int ki; input_j vec3 xj; input_j int kj; input_j real mj;\n"
      "input_pair vec3 before; input_pair int age; param real dt = 0.25; param real t[3] = {1.0, 2.0, 0.5};\n";
  const bool sums = one_in(random, 2);
  std::vector<std::string> outputs{"output(pair) vec3 after;\n", "output(pair) int steps;\n",
                                   "output(pair) real who;\n"};
  if (sums) outputs.emplace_back("output(sum) vec3 force;\n");
  if (sums && one_in(random, 2)) outputs.emplace_back("output(argmin) index near; output(at) real kept;\n");
  if (sums && one_in(random, 2)) outputs.emplace_back("output(total) real energy; output(count) int n;\n");
  std::shuffle(outputs.begin(), outputs.end(), random);
  for (const std::string& output : outputs) text += output;
  text += "vec3 d = xj - xi; real r2 = dot(d, d);\n";
  if (one_in(random, 2)) text += "skip_if(r2 > 2.0);\n";
  text += "vec3 slip = before + dt * cross(d, vec3(1.0, mj, t[kj]));\n";
  text += one_in(random, 2) ? "after = slip;\n" : "if (ki <= kj) after = slip - dot(slip, d) * d;\n";
  text += "steps = age + 1 + ki;\nwho += 100.0 * i_index; who += j_index;\n";
  const auto has = [&](const char* name) { return text.find(name) != std::string::npos; };
  if (has("force;")) text += "force += slip * r2;\n";
  if (has("near;")) text += "near = argmin(near, r2); kept = at(near, slip.x);\n";
  if (has("energy;")) text += "energy += r2 * mj; n += r2 > 0.5;\n";
  if (sums && has("force;") && one_in(random, 2)) text += "void finish() { force *= 2.0; }\n";
  return text;
}

OracleInput pair_input(PairRandom& random) {
  OracleInput input;
  input.ni = 1 + std::int64_t(random() % 20);
  input.nj = 1 + std::int64_t(random() % 20);
  std::uniform_real_distribution<double> place(-1, 1);
  const auto column = [&](std::int64_t count, bool whole) {
    std::vector<double> made;
    for (std::int64_t k = 0; k < count; ++k)
      made.push_back(whole ? double(random() % 3) : std::round(place(random) * 256) / 256);
    return made;
  };
  for (int c = 0; c < 4; ++c) input.i.push_back(column(input.ni, c == 3));
  for (int c = 0; c < 5; ++c) input.j.push_back(column(input.nj, c == 3));
  input.params = {0.25, 1, 2, 0.5};
  input.i_offset = std::int64_t(random() % 5), input.j_offset = std::int64_t(random() % 5);
  input.pairs.emplace();
  for (std::int64_t i = 0; i < input.ni; ++i) {
    input.pairs->first.push_back(std::int64_t(input.pairs->j.size()));
    for (std::uint64_t n = random() % 6; n > 0; --n) input.pairs->j.push_back(std::int64_t(random()) % input.nj);
    for (std::int64_t& j : input.pairs->j) j = std::abs(j);
  }
  input.pairs->first.push_back(std::int64_t(input.pairs->j.size()));
  for (int c = 0; c < 4; ++c) input.pair.push_back(column(std::int64_t(input.pairs->j.size()), c == 3));
  return input;
}

using BuildPairs = std::function<KernelSource(const Pipeline&, const Options&)>;

void expect_pairs(KernelDevice& device, const BuildPairs& build, const CudaGpu* gpu,
                  const std::vector<std::uint64_t>& seeds) {
  for (const std::uint64_t seed : seeds) {
    PairRandom random(seed);
    const std::string text = pair_text(random);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const Pipeline pipeline = parse({"pairs.pipe", text});
    const auto precision = Precision(random() % 3);
    const auto kernel = for_callers(device.load(build(pipeline, {precision})));
    for (int trial = 0; trial < 3; ++trial) {
      const OracleInput input = pair_input(random);
      const auto prepare = [&](SumState& sum) {
        sum.set_listed_pairs(input.ni, input.pairs->first.data(), std::int64_t(input.pairs->j.size()),
                             input.pairs->j.data());
      };
      const Columns got =
          run_kernel(kernel, input, {.arrays_on = gpu && trial == 1 ? gpu : nullptr, .prepare = prepare});
      const OracleOutput expected = interpret(pipeline, input);
      const double epsilon = precision == Precision::Double ? 0x1p-50 : 0x1p-19;
      for (std::size_t c = 0; c < got.size(); ++c) {
        const Field& field = pipeline.field_of(Role::Output, int(c));
        ASSERT_EQ(got[c].size(), expected.values[c].size()) << field.name;
        for (std::size_t k = 0; k < got[c].size(); ++k) {
          const double value = expected.values[c][k];
          if (std::isnan(value) && std::isnan(got[c][k])) continue;
          ASSERT_NEAR(got[c][k], value, epsilon * (1 + expected.magnitudes[c][k])) << field.name << " of " << k;
        }
      }
    }
  }
}

TEST(PairValuesOnCpu, AreThoseOfTheInterpreter) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(2, isa, cpu_toolchain(), "", "");
  expect_pairs(
      device, [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); }, nullptr,
      sampled_range<std::uint64_t>(0, 40, 4));
}

TEST(PairValuesOnShim, AreThoseOfTheInterpreter) {
  CudaShim shim;
  shim.allow_minus_one();
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_pairs(
      device, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, &device.gpu(),
      sampled_range<std::uint64_t>(100, 110, 3));
}

TEST(PairValuesOnGpu, AreThoseOfTheInterpreter) {
  std::unique_ptr<CudaDevice> device;
  try {
    device = std::make_unique<CudaDevice>(cuda_driver(), make_nvrtc(), 0, "", "");
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  expect_pairs(
      *device, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, &device->gpu(),
      sampled_range<std::uint64_t>(0, 15, 1));
}

// Results for unchosen i are not changed; input and result may be one array.
TEST(PairValuesOnCpu, OfChosenParticlesInPlace) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline = parse({"place.pipe",
                                   "input_i real xi; input_j real xj; input_pair real old; output(pair) real now;\n"
                                   "output(sum) real s; skip_if(xj < xi); now = old + xj - xi; s += old;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  SumState sum(kernel);
  std::vector<double> x{0, 1, 3}, history{10, 20, 30, 40}, s(3);
  const std::vector<std::int64_t> first{0, 2, 3, 4}, j{1, 2, 2, 0};
  sum.set_listed_pairs(3, first.data(), 4, j.data());
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 3, 8, 8});
  for (const char* field : {"old", "now"}) sum.bind(field, {history.data(), Element::Double, 4, 8, 8});
  sum.bind("s", {s.data(), Element::Double, 3, 8, 8});
  sum.run();
  EXPECT_EQ(history, (std::vector<double>{11, 23, 32, 0}));  // the last pair is skipped: its result is 0
  EXPECT_EQ(s, (std::vector<double>{30, 30, 0}));
  sum.run({.i_begin = 1, .i_count = 1});
  EXPECT_EQ(history, (std::vector<double>{11, 23, 34, 0}));
  EXPECT_EQ(s, (std::vector<double>{30, 32, 0}));
  const auto message = [&](auto&& act) -> std::string {
    try {
      act();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  sum.bind("now", {history.data(), Element::Double, 3, 8, 8});
  EXPECT_EQ(
      message([&] { sum.run(); }),
      "output 'now' of pipeline 'place' has 3 pairs, but input_pair 'old' of pipeline 'place' has 4: all inputs and "
      "results of pairs must have the same count");
  sum.bind("now", {history.data(), Element::Double, 4, 8, 8});
  sum.clear_lists();
  EXPECT_NE(message([&] { sum.run(); }).find("a program has to list them first"), std::string::npos);
}

// The kernel of the sums has neither the results of pairs nor their components, so that its fields have other numbers.
TEST(PairValuesOnCpu, BesideTotalsAndHistogramsThatAreDeclaredLater) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"later.pipe",
             "input_i int ki; input_j int kj; output(pair) vec2 p; output(total, min) int least;\n"
             "output(total) real all; output(sum) int h[4]; output(total) int n[5];\n"
             "p = vec2(real(ki), real(kj)); least = min(least, kj - ki); all += 0.5; h[kj] += 1;\n"
             "n[ki] += kj;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  SumState sum(kernel);
  std::vector<std::int64_t> k{0, 3, 1}, h(12, -1), n(5, -1);
  std::int64_t least = 7;
  double all = -1;
  std::vector<double> p(8);
  const std::vector<std::int64_t> first{0, 2, 3, 4}, j{1, 2, 2, 0};
  sum.set_listed_pairs(3, first.data(), 4, j.data());
  for (const char* field : {"ki", "kj"}) sum.bind(field, {k.data(), Element::Int64, 3, 8, 8});
  sum.bind("p", {p.data(), Element::Double, 4, 16, 8});
  sum.bind("least", {&least, Element::Int64, 1, 8, 8});
  sum.bind("all", {&all, Element::Double, 1, 8, 8});
  sum.bind("h", {h.data(), Element::Int64, 3, 32, 8});
  sum.bind("n", {n.data(), Element::Int64, 1, 40, 8});
  sum.run();
  EXPECT_EQ(p, (std::vector<double>{0, 3, 0, 1, 3, 1, 1, 0}));
  EXPECT_EQ(least, -2);
  EXPECT_EQ(all, 2);
  EXPECT_EQ(h, (std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(n, (std::vector<std::int64_t>{4, 0, 0, 1, 0}));
}

// Wrong indices are errors although the sums read no table, and nothing is stored then; parts are refused.
TEST(PairValuesOnCpu, ChecksIndicesBeforeSumsAreStored) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline = parse({"checked.pipe",
                                   "input_i int k; input_j real yj; param real t[3]; output(sum) real s;\n"
                                   "output(pair) real h; s += yj; h = t[k];\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  SumState sum(kernel);
  std::vector<double> k{0, 2}, y{1, 2}, s{10, 20}, h(3);
  const std::vector<double> t{5, 6, 7};
  const std::vector<std::int64_t> first{0, 1, 3}, j{1, 0, 1};
  sum.set_listed_pairs(2, first.data(), 3, j.data());
  sum.bind("k", {k.data(), Element::Double, 2, 8, 8});
  sum.bind("yj", {y.data(), Element::Double, 2, 8, 8});
  sum.bind("s", {s.data(), Element::Double, 2, 8, 8});
  sum.bind("h", {h.data(), Element::Double, 3, 8, 8});
  sum.set_param("t", t);
  sum.run();
  EXPECT_EQ(h, (std::vector<double>{5, 7, 7}));
  EXPECT_EQ(s, (std::vector<double>{2, 3}));
  k[1] = 7;
  std::string message;
  try {
    sum.run({.accumulate = true});
  } catch (const UsageError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("7 for pair 1, of i-particle 1 and j-particle 0"), std::string::npos) << message;
  EXPECT_EQ(s, (std::vector<double>{2, 3}));
  sum.run({.clamp = true});
  EXPECT_EQ(h, (std::vector<double>{5, 7, 7}));
  EXPECT_THROW(sum.run({.part = JPart::First}), UsageError);
}

}  // namespace
}  // namespace nbcc::test
