// Sums whose j come in parts, run after run, against one run over all of them: every reduction, what finish() makes of
// it, and choices among equals, on the CPU by all pairs and by searches, and on the shim's GPU with arrays on either
// side. Terms are positive, so that a sum is the sum of |term| and a tolerance can be relative.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/sampling.h"
#include "tests/support/tolerance.h"

namespace nbcc {
namespace {

using namespace test;

// Every output is exact but those of kRounded, which finish() leaves within a few roundings.
const std::string kEveryReduction = R"(
input_i vec3 xi;
input_j vec3 xj; input_j real mj; input_j int kj;
param real rc = 1e9;
output(sum) vec3 square;       // 0 1 2
output(product) double growth; // 3
output(logsumexp) real z;      // 4
output(softmax) real y;        // 5
output(min) real least;
output(max) int most;
output(argmin) index near;
output(argmin) index three[3];
output(at) real r2_of[3];
output(argmax) index far;
output(count) index pairs;
output(sum) index total;
output(sum) int self;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
square += dx * dx;
growth *= 1 + 0.0001 * r2;
z = logsumexp(z, r2);
y = softmax(y, r2, 1 + mj * mj);
least = min(least, r2);
most = max(most, kj);
near = argmin(near, r2);
three = argmin(three, r2);
r2_of = at(three, r2);
far = argmax(far, r2);
pairs += r2 > 0.5;
total += kj;
self += i_index == j_index ? 1 : 0;
void finish() { square.x = square.x * 2 + square.y; least = least + 1; }
)";
constexpr std::size_t kRounded = 6;

OracleInput particles(std::int64_t ni, std::int64_t nj) {
  const Pipeline pipeline = parse({"parts.pipe", kEveryReduction});
  OracleInput input = random_pipeline_input(pipeline, ni, nj, std::uint64_t(ni + nj));
  // Coarse places, so that many distances are equal.
  for (auto* side : {&input.i, &input.j})
    for (auto& column : *side)
      for (double& value : column) value = std::floor(value * 4) / 4;
  input.i_offset = 7;
  input.j_offset = 5;
  return input;
}

using Parts = std::vector<std::pair<std::int64_t, std::int64_t>>;
// A ring does not begin with the first j; parts may be empty, uneven, and end within a vector.
std::vector<Parts> cuts(std::int64_t nj) {
  const std::int64_t a = nj / 5, b = nj / 2 + 1 > nj ? nj : nj / 2 + 1;
  return {{{b, nj}, {0, a}, {a, b}}, {{0, 0}, {0, nj}}, {{0, nj}, {nj, nj}}, {{a, b}, {b, b}, {b, nj}, {0, a}}};
}

void expect_the_same(const std::shared_ptr<const Kernel>& kernel, const OracleInput& input, KernelRunChoice choice,
                     nbcc_precision precision, const std::string& what) {
  const test::Columns whole = run_kernel(kernel, input, choice);
  for (const Parts& parts : cuts(input.nj)) {
    choice.parts = parts;
    const test::Columns got = run_kernel(kernel, input, choice);
    ASSERT_EQ(got.size(), whole.size());
    for (std::size_t c = 0; c < got.size(); ++c) {
      const std::string which = what + ", " + std::to_string(parts.size()) + " parts, output " + std::to_string(c);
      // A product has a rounding for each of its factors.
      const double rounding = kRoundings * epsilon(precision) + 2 * double(input.nj) * epsilon(NBCC_DOUBLE);
      std::vector<double> bounds;
      for (const double value : whole[c]) bounds.push_back(c < kRounded ? rounding * std::fabs(value) : 0);
      expect_within(got[c], whole[c], bounds, which);
    }
  }
}

constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {{5, 37}, {67, 1500}, {1, 1}, {3, 20000}, {130, 600}};

TEST(Parts, AreOneSumOnTheCpu) {
  const Pipeline pipeline = parse({"parts.pipe", kEveryReduction});
  for (const Isa isa : runnable_isas())
    for (const int threads : {1, 3}) {
      const auto precision = Precision(int(isa) % 3);
      CpuDevice device(threads, isa, cpu_toolchain(), "", "");
      const auto kernel = device.load(build_cpu_kernel(pipeline, {.precision = precision}, isa, ""));
      for (const auto& [ni, nj] : kSizes) {
        const std::string what = describe({.precision = precision}, isa) + ", " + std::to_string(nj);
        expect_the_same(kernel, particles(ni, nj), {}, nbcc_precision(precision), what);
        if (ni > 3)
          expect_the_same(kernel, particles(ni, nj), {.begin = 2, .count = ni - 3}, nbcc_precision(precision), what);
      }
    }
}

TEST(Parts, AreOneSumOfSearches) {
  const Pipeline pipeline = parse({"parts.pipe", kEveryReduction});
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(pipeline, {.precision = Precision::Double}, detect_isa(), ""));
  ASSERT_GT(kernel->source.search.axes, 0);
  for (const auto& [ni, nj] : {std::pair{70, 400}, {300, 900}}) {
    OracleInput input = particles(ni, nj);
    for (auto* side : {&input.i, &input.j})
      for (std::size_t c = 0; c < 3; ++c)
        for (double& value : (*side)[c]) value *= 4;
    input.params = {3.25};
    const auto search = [](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); };
    expect_the_same(kernel, input, {.prepare = search}, NBCC_DOUBLE, std::to_string(ni));
  }
}

// A part that takes its pairs by one of the methods: all of them, each in its own words.
void take_all_pairs(SumState& sum, std::size_t method, std::int64_t ni, std::int64_t nj) {
  sum.clear_lists();
  sum.set_pairs(PairChoice::All);
  std::vector<std::int64_t> i_order, first{0}, j;
  for (std::int64_t i = 0; i < ni; ++i) i_order.push_back((i * 7 + 3) % ni);
  if (method == 1 && ni % 7 != 0) {
    const std::int64_t i_first[] = {0, ni / 3, ni}, range_first[] = {0, 2, 3}, begin[] = {0, nj / 4, 0},
                       end[] = {nj / 4, nj, nj};
    sum.set_lists(ListArrays{2, 3, i_first, i_order.data(), range_first, begin, end});
  }
  if (method == 2) {
    for (std::int64_t i = 0; i < ni; ++i) {
      for (std::int64_t k = 0; k < nj; ++k) j.push_back(k);
      first.push_back(std::int64_t(j.size()));
    }
    sum.set_listed_pairs(ni, first.data(), std::int64_t(j.size()), j.data());
  }
  if (method == 3) sum.set_pairs(PairChoice::Cutoff);
}

// Sums of parts that go by other methods, one after the other; a reach that leaves most pairs to the sums.
void expect_by_any_method(const std::shared_ptr<const Kernel>& kernel, const CudaGpu* gpu, nbcc_precision precision) {
  ASSERT_GT(kernel->source.search.axes, 0);
  for (const auto& [ni, nj] : {std::pair<std::int64_t, std::int64_t>{5, 37}, {67, 500}, {130, 600}})
    for (std::size_t begin = 0; begin < 4; ++begin) {
      OracleInput input = particles(ni, nj);
      input.params = {3.25};
      const auto prepare = [&, ni = ni](SumState& sum, std::size_t part, std::int64_t count) {
        take_all_pairs(sum, (begin + part) % 4, ni, count);
      };
      expect_the_same(kernel, input, {.arrays_on = gpu, .prepare_part = prepare}, precision,
                      "from method " + std::to_string(begin) + " on, " + std::to_string(nj));
    }
}

TEST(Parts, GoByAnyMethodOnTheCpu) {
  const Pipeline pipeline = parse({"parts.pipe", kEveryReduction});
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(pipeline, {.precision = Precision::Double}, detect_isa(), ""));
  expect_by_any_method(kernel, nullptr, NBCC_DOUBLE);
}

void expect_by_any_method_on(CudaDevice& device, Precision precision) {
  const Pipeline pipeline = parse({"parts.pipe", kEveryReduction});
  const auto kernel = device.load(build_cuda_kernel(pipeline, {.precision = precision}, ""));
  for (const CudaGpu* gpu : {static_cast<const CudaGpu*>(nullptr), &device.gpu()})
    expect_by_any_method(kernel, gpu, nbcc_precision(precision));
}

void expect_on_cuda(CudaDevice& device, Precision precision) {
  const Pipeline pipeline = parse({"parts.pipe", kEveryReduction});
  const auto kernel = device.load(build_cuda_kernel(pipeline, {.precision = precision}, ""));
  for (const auto& [ni, nj] : {std::pair<std::int64_t, std::int64_t>{5, 37}, {67, 1500}, {1, 1}, {130, 600}})
    for (const CudaGpu* gpu : {static_cast<const CudaGpu*>(nullptr), &device.gpu()}) {
      const std::string what = std::string(gpu ? "on" : "off") + " the device, " + std::to_string(nj);
      expect_the_same(kernel, particles(ni, nj), {.arrays_on = gpu}, nbcc_precision(precision), what);
      if (ni > 3)
        expect_the_same(kernel, particles(ni, nj), {.begin = 2, .count = ni - 3, .arrays_on = gpu},
                        nbcc_precision(precision), what);
    }
}

TEST(Parts, AreOneSumOnTheShim) {
  CudaShim shim;
  shim.set_block_order({ShimOrder::Kind::Shuffled, 3});
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3))
    expect_on_cuda(device, precision);
  expect_by_any_method_on(device, Precision::Double);
}

class PartsOnGpu : public OnGpu, public testing::WithParamInterface<Precision> {};

TEST_P(PartsOnGpu, AreOneSum) { expect_on_cuda(*device_, GetParam()); }

TEST_P(PartsOnGpu, GoByAnyMethod) { expect_by_any_method_on(*device_, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Precisions, PartsOnGpu,
                         testing::Values(Precision::Single, Precision::Mixed, Precision::Double),
                         [](const auto& info) { return std::string(name(info.param)); });

// ---- what is no part of one sum

class PartMistakes : public testing::Test {
 protected:
  PartMistakes() {
    sum.bind("x", {numbers, Element::Double, 2, 8, 8});
    sum.bind("s", {numbers + 2, Element::Double, 2, 8, 8});
    sum.set_counts(2, 2);
  }
  void run(JPart part) { sum.run({.part = part}); }
  std::string message(const RunChoice& choice) {
    try {
      sum.run(choice);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  }
  CpuDevice device{1, detect_isa(), cpu_toolchain(), "", ""};
  SumState sum{device.load(
      build_cpu_kernel(parse({"p.pipe", "input_j real x;\noutput(sum) real s;\ns += x;"}), {}, detect_isa(), ""))};
  double numbers[4] = {1, 2, -1, -1};
};

TEST_F(PartMistakes, OutputsWaitForTheLastPart) {
  run(JPart::First);
  run(JPart::Next);
  EXPECT_EQ(numbers[2], -1);
  run(JPart::Last);
  EXPECT_EQ(numbers[2], 9);
  sum.run({.accumulate = true});
  EXPECT_EQ(numbers[2], 12);
}

TEST_F(PartMistakes, AnotherRunEndsTheSum) {
  const std::string none = "part: there is no first part to continue, or the sum that it began has ended or failed";
  EXPECT_EQ(message({.part = JPart::Last}), none);
  run(JPart::First);
  run(JPart::Whole);
  EXPECT_EQ(message({.part = JPart::Next}), none);
  run(JPart::First);
  run(JPart::Last);
  EXPECT_EQ(message({.part = JPart::Last}), none);
}

TEST_F(PartMistakes, APartThatFailsEndsTheSum) {
  run(JPart::First);
  EXPECT_EQ(message({.i_count = 1, .part = JPart::Next}),
            "part: the first part was of 2 i-particles, this one is of 1");
  EXPECT_NE(message({.part = JPart::Last}), "");
}

// What is listed names the j of the part.
TEST_F(PartMistakes, ListedPairsAreOfThePart) {
  const std::int64_t first[] = {0, 1, 1}, j[] = {1};
  sum.set_listed_pairs(2, first, 1, j);
  run(JPart::First);
  sum.clear_lists();
  run(JPart::Last);
  EXPECT_EQ(numbers[2], 5);
  EXPECT_EQ(numbers[3], 3);
}

}  // namespace
}  // namespace nbcc
