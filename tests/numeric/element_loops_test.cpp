// Loops over the elements of long arrays, which CPU kernels keep as loops, against the interpreter, which executes
// every term: random texts, guards, exclusions, indices, gradients, chosen i, parts, threads.
#include "compiler/passes/optimize/element_loops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/histogram_trial.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

// A random text with loops over arrays of a random length.
class RandomLoops {
 public:
  // `cutoff`: pairs are searched.
  explicit RandomLoops(std::uint64_t seed, bool cutoff = false)
      : random_(seed), length_(random_.between(40, 100)), cutoff_(cutoff) {}

  std::string text() {
    std::string text = fmt::format(
        "input_i real a[{0}];\ninput_j real b[{0}];\ninput_i real c;\ninput_j real d;\nparam real p[{0}];\n"
        "param real q;\ninput_j real far[{1}];\ninput_i float single[{0}];\ninput_i int n[{0}];\ninput_j int m[{0}];\n"
        "input_j bool on[{0}];\nparam real table[9];\ninput_i vec2 at_i;\ninput_j vec2 at_j;\noutput(sum) real total;\n"
        "output(max) real largest;\noutput(argmin) index least;\n",
        length_, length_ + random_.between(1, 9));
    const bool has_gradient = random_.chance(50), has_array = random_.chance(50);
    if (has_gradient) text += fmt::format("output({}) real slope[{}];\n", pick({"sum", "total"}), length_);
    if (has_array)
      text += fmt::format("output({}) {} row[{}];\n", pick({"sum", "total"}), pick({"real", "double"}), length_);
    text += "real w = c * d;\nvec2 apart = at_j - at_i;\n";
    if (cutoff_)
      text += random_.chance(60) ? "skip_if(dot(apart, apart) >= 0.75);\n"
                                 : fmt::format(
                                       "real far2 = 0.0;\nfor (int k = 0; k < {}; ++k) far2 += (b[k] - a[k]) * "
                                       "(b[k] - a[k]);\nskip_if(far2 >= {});\n",
                                       length_, 0.6 * length_);
    std::string all = "0.0";
    const int sums = random_.between(1, 3);
    for (int m = 0; m < sums; ++m) {
      text += sum(m);
      all += fmt::format(" + {} * s{}", random_.between(1, 3), m);
    }
    text += fmt::format("real all = {};\nreal e = {};\n", all,
                        pick({"exp(-0.01 * abs(all))", "d * all", "all / (1 + all * all)", "c * sqrt(1 + all * all)"}));
    const std::string guard =
        pick({"", "if (i_index != j_index) ", "if (s0 < 2.0) ", "if (c > 0.25) ", "if (d < q && s0 > -1.0) "});
    text += guard + "total += e;\nlargest = max(largest, s0);\nleast = argmin(least, all);\n";
    const std::string loop = fmt::format("for (int k = 0; k < {}; ++k) ", length_);
    if (has_gradient) text += loop + guard + "slope[k] += grad(e, a[k]);\n";
    if (has_array)
      text += loop +
              (random_.chance(50)   ? guard
               : random_.chance(50) ? "if (" + condition() + ") "
                                    : "") +
              fmt::format("row[k] += {};\n", pick({"e * (b[k] - a[k])", "b[k]", "p[k] * e + c", "a[k] * b[k] * d",
                                                   "s0 > 1.0 ? a[k] : b[k]", "far[k] * s0", "far[k + 1] * a[k]"}));
    return text;
  }

 private:
  // One value of elements k.
  std::string value() {
    return pick({"a[k]",
                 "b[k]",
                 "p[k]",
                 "(b[k] - a[k])",
                 "far[k]",
                 "single[k]",
                 "a[k] * p[k]",
                 "b[k] / (2.0 + p[k] * p[k])",
                 "exp(0.1 * a[k])",
                 "abs(a[k] + b[k])",
                 "q * b[k]",
                 "c * a[k]",
                 "d * a[k]",
                 "min(a[k], b[k])",
                 "(a[k] < b[k] ? p[k] : a[k])",
                 "sqrt(1.0 + b[k] * b[k])",
                 "(far[k + 1] - far[k])",
                 "w * a[k]",
                 "n[k] * b[k]",
                 "(on[k] ? a[k] : b[k])",
                 "table[n[k] + 4]",
                 "table[(n[k] * m[k] + 16) % 9]"});
  }
  std::string condition() { return pick({"a[k] < b[k]", "on[k]", "n[k] != m[k]", "d < a[k]", "on[k] && n[k] > 1"}); }
  std::string term() {
    switch (random_.below(5)) {
      case 0:
        return "(b[k] - a[k]) * (b[k] - a[k])";
      case 1:
        return value();
      case 2:
        return value() + " - " + value();
      default:
        return value() + " * " + value();
    }
  }
  std::string sum(int m) {
    const std::string first = pick({"0.0", "q", "c * d", "1e-4"});
    const int begin = random_.chance(25) ? random_.between(1, 6) : 0;
    const std::string loop = fmt::format("for (int k = {}; k < {}; ++k)", begin, length_);
    const std::string under = random_.chance(30) ? "if (" + condition() + ") " : "";
    switch (random_.below(7)) {
      case 6:
        return fmt::format("int c{0} = 1;\n{1} {2}c{0} += {3};\nreal s{0} = {4} + 0.05 * c{0};\n", m, loop, under,
                           condition(), first);
      case 5:
        return fmt::format("real s{0} = {1} - dot(a, {2});\n", m, first, pick({"b", "p", "a"}));
      case 0:
        return fmt::format("real s{0} = {1};\n{2} {4}s{0} = max(s{0}, {3});\n", m, first, loop, term(), under);
      case 1:
        return fmt::format("real s{0} = {1};\n{2} {{ s{0} += {3}; }}\nfor (int k = 0; k < {5}; ++k) s{0} -= {4};\n", m,
                           first, loop, term(), term(), length_);
      case 2:
        return fmt::format("real s{0} = {1};\n{2} {4}s{0} -= {3};\n", m, first, loop, term(), under);
      default:
        return fmt::format("real s{0} = {1};\n{2} {4}s{0} += {3};\n{5}", m, first, loop, term(), under,
                           under.empty() || random_.chance(50) ? "" : fmt::format("  else s{} -= {};\n", m, term()));
    }
  }

  std::string pick(const std::vector<std::string>& from) { return random_.pick(from); }

  test::RandomSource random_;
  int length_;
  bool cutoff_;
};

OracleInput random_input(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj, std::uint64_t seed) {
  test::RandomSource random(seed);
  const auto number = [&](Type type = Type::Real) {
    if (type == Type::Bool) return double(random.below(2));
    return is_integral(type) ? double(random.between(-4, 4)) : double(random.between(-4096, 4096)) / 4096;
  };
  OracleInput input;
  input.ni = ni;
  input.nj = nj;
  input.i_offset = 3;
  input.j_offset = 5;
  for (const Field* field : pipeline.fields_of(Role::InputI)) {
    input.i.emplace_back();
    for (std::int64_t i = 0; i < ni; ++i) input.i.back().push_back(number(field->type));
  }
  for (const Field* field : pipeline.fields_of(Role::InputJ)) {
    input.j.emplace_back();
    for (std::int64_t j = 0; j < nj; ++j) input.j.back().push_back(number(field->type));
  }
  for (int c = 0; c < pipeline.components(Role::Param); ++c) input.params.push_back(number());
  return input;
}

constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {{1, 1}, {67, 37}, {33, 301}, {5, 1200}};

class ElementLoops : public ::testing::TestWithParam<int> {};

TEST_P(ElementLoops, OfRandomTextsAgreeWithTheInterpreter) {
  const std::string text = RandomLoops(std::uint64_t(GetParam()) + 1, GetParam() % 3 == 1).text();
  SCOPED_TRACE(text);
  const Pipeline pipeline = parse({"loops.pipe", text});
  const auto isas = test::runnable_isas();
  for (const Precision precision :
       test::sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3, std::size_t(GetParam()))) {
    const Options options{.precision = precision, .math = GetParam() % 5 == 0 ? Math::Precise : Math::Fast};
    const test::CpuRun run(pipeline, options, isas[std::size_t(GetParam()) % isas.size()], 1 + GetParam() % 2);
    for (const auto& [ni, nj] : kSizes) {
      const OracleInput input = random_input(pipeline, ni, nj, std::uint64_t(GetParam() * 100 + ni));
      test::expect_oracle(pipeline, run(input), input, test::from_to(0, ni), precision, fmt::format("{} x {}", ni, nj));
      if (ni < 5) continue;
      test::expect_oracle(pipeline, run(input, 2, ni - 3), input, test::from_to(2, ni - 1), precision, "some i");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, ElementLoops, ::testing::ValuesIn(test::sampled_range(0, 40, 4)),
                         testing::PrintToStringParamName());

// Nearly all loops of the random texts become loops of kernels. The derivative of a maximum is a chain of choices.
TEST(ElementLoopsOfTexts, AreFound) {
  int without_choices = 0;
  for (int seed = 0; seed < 60; ++seed) {
    const std::string text = RandomLoops(std::uint64_t(seed) + 1, seed % 3 == 1).text();
    if (text.find("= max(s") != std::string::npos && text.find("slope") != std::string::npos) continue;
    ++without_choices;
    EXPECT_LT(with_element_loops(parse({"loops.pipe", text}), Math::Fast).pair.size(), 400) << text;
  }
  EXPECT_GT(without_choices, 40);
}

constexpr const char* kKernel = R"(
input_i real xi[50];
input_j real xj[50];
input_j real wj;
output(sum) real s;
output(sum) real g[50];
real r2 = 0;
for (int k = 0; k < 50; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);
real e = wj * exp(-r2 / 2);
if (i_index != j_index) s += e;
for (int k = 0; k < 50; ++k) if (i_index != j_index) g[k] += grad(e, xi[k]);
)";

// All pairs, some i, parts, exclusions, listed pairs. `kernel` is of kKernel.
void expect_all_kinds(const std::shared_ptr<const Kernel>& kernel, const CudaGpu* gpu, Precision precision) {
  const Pipeline pipeline = parse({"kernel.pipe", kKernel});
  OracleInput input = random_input(pipeline, 190, 330, 9);
  const auto check = [&](const test::KernelRunChoice& choice, const std::string& what) {
    const std::int64_t end = choice.count < 0 ? 190 : choice.begin + choice.count;
    test::expect_oracle(pipeline, test::run_kernel(kernel, input, choice), input, test::from_to(choice.begin, end),
                        precision, what);
  };
  check({.arrays_on = gpu}, "all pairs");
  check({.begin = 3, .count = 140, .arrays_on = gpu}, "some i");
  check({.arrays_on = gpu, .parts = {{0, 100}, {100, 101}, {101, 330}}}, "parts");
  input.excluded.emplace();
  for (std::int64_t i = 0; i <= 190; ++i) input.excluded->first.push_back(2 * i);
  for (std::int64_t i = 0; i < 190; ++i) input.excluded->j.insert(input.excluded->j.end(), {i, (i * 7 + 40) % 330});
  const auto exclude = [&](SumState& sum) {
    sum.set_exclusions(190, input.excluded->first.data(), std::int64_t(input.excluded->j.size()),
                       input.excluded->j.data());
  };
  check({.arrays_on = gpu, .prepare = exclude}, "exclusions");
  input.excluded.reset();
  input.pairs.emplace();
  for (std::int64_t i = 0; i <= 190; ++i) input.pairs->first.push_back(3 * i);
  for (std::int64_t k = 0; k < 570; ++k) input.pairs->j.push_back(k * 7 % 330);
  const auto list = [&](SumState& sum) {
    sum.set_listed_pairs(190, input.pairs->first.data(), 570, input.pairs->j.data());
  };
  check({.arrays_on = gpu, .prepare = list}, "listed pairs");
}

TEST(ElementLoopsOfTexts, TakePartsListsAndExclusions) {
  const Isa isa = test::runnable_isas().back();
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    CpuDevice device(2, isa, test::cpu_toolchain(), "", "");
    expect_all_kinds(
        for_callers(device.load(build_cpu_kernel(Source{"kernel.pipe", kKernel}, {.precision = precision}, isa, ""))),
        nullptr, precision);
  }
}

constexpr const char* kOfListedPairs = R"(
input_i real xi[50];
input_j real xj[50];
input_pair real w;
output(sum) real s;
output(sum) real g[50];
real r2 = 0;
for (int k = 0; k < 49; ++k) if (xi[k] < xj[k]) r2 += (xj[k + 1] - xi[k]) * (xj[k] - xi[k]);
s += w * r2;
for (int k = 0; k < 50; ++k) g[k] += w * xj[k];
)";

void expect_listed_pairs(const std::shared_ptr<const Kernel>& kernel, const CudaGpu* gpu, Precision precision) {
  const Pipeline pipeline = parse({"listed.pipe", kOfListedPairs});
  OracleInput input = random_input(pipeline, 70, 130, 9);
  input.pairs.emplace();
  input.pair.emplace_back();
  for (std::int64_t i = 0; i <= 70; ++i) input.pairs->first.push_back(3 * i);
  for (std::int64_t k = 0; k < 210; ++k) {
    input.pairs->j.push_back(k * 7 % 130);
    input.pair[0].push_back(0.25 * double(k % 9));
  }
  const auto list = [&](SumState& sum) {
    sum.set_listed_pairs(70, input.pairs->first.data(), 210, input.pairs->j.data());
  };
  test::expect_oracle(pipeline, test::run_kernel(kernel, input, {.arrays_on = gpu, .prepare = list}), input,
                      test::from_to(0, 70), precision, "listed pairs");
}

TEST(ElementLoopsOfTexts, ReadInputsOfPairs) {
  const Isa isa = test::runnable_isas().back();
  for (const Precision precision : {Precision::Mixed, Precision::Double}) {
    CpuDevice device(2, isa, test::cpu_toolchain(), "", "");
    const Source source{"listed.pipe", kOfListedPairs};
    expect_listed_pairs(for_callers(device.load(build_cpu_kernel(source, {.precision = precision}, isa, ""))), nullptr,
                        precision);
  }
}

struct Special {
  const char *what, *text;
};
// What the random texts do not have.
const Special kSpecial[] = {
    {"arrays_alone",
     "input_i real a[40]; input_j real b[40]; output(sum) real f[40]; real r = 0;"
     "for (int k = 0; k < 40; ++k) r += a[k] * b[k];"
     "for (int k = 0; k < 40; ++k) f[k] += r * (b[k] - a[k]);"},
    {"two_arrays",
     "input_i real a[40]; input_j real b[40]; output(sum) real f[40]; output(sum) real g[40]; real r = 0;"
     "for (int k = 0; k < 40; ++k) r += a[k] * b[k];"
     "for (int k = 0; k < 40; ++k) f[k] += r * (b[k] - a[k]);"
     "for (int k = 0; k < 40; ++k) if (r > 0.0) g[k] += exp(-r * r) * (b[k] - a[k]);"},
    {"conditions",
     "input_i real a[40]; input_j bool b[40]; input_i bool m[40]; output(sum) real f; output(sum) real g[40];"
     "real r = 0; for (int k = 0; k < 40; ++k) r += b[k] ? a[k] : 0.5; f += r;"
     "for (int k = 0; k < 40; ++k) g[k] += m[k] != b[k] ? r * a[k] : 0.25;"},
    {"whole_numbers",
     "input_i int a[40]; input_j double b[40]; output(sum) double f; output(sum) real g[50]; real r = 0;"
     "for (int k = 0; k < 40; ++k) r += a[k] * b[k]; f += r;"
     "for (int k = 0; k < 40; ++k) g[k + 10] += a[k] + b[k];"},
    {"k_least",
     "input_i real a[40]; input_j real b[40]; output(argmin) index near[8]; output(at) real third[8]; real s = 0;"
     "for (int k = 0; k < 40; ++k) s += (b[k] - a[k]) * (b[k] - a[k]); near = argmin(near, s); third = at(near, "
     "b[3]);"},
    {"logsumexp_and_finish",
     "input_i real a[40]; input_j real b[40]; output(logsumexp) real z; output(product) double p; real s = dot(a, b);"
     "z = logsumexp(z, s); p *= 1.0 + 0.001 * s; void finish() { z = 2.0 * z + a[1]; }"},
};

// More loops than a thread's stack has room for.
std::string many_loops() {
  std::string text = "input_i real a[40]; input_j real b[40]; output(sum) real s; real all = 0;";
  for (int m = 0; m < 40; ++m)
    text += fmt::format("real r{0} = 0; for (int k = 0; k < 40; ++k) r{0} += min(a[k] * {1}.0, b[k]); all += r{0};", m,
                        m + 1);
  return text + "s += all;";
}

std::vector<Special> special_texts() {
  static const std::string many = many_loops();
  std::vector<Special> all(std::begin(kSpecial), std::end(kSpecial));
  all.push_back({"many_loops", many.c_str()});
  return all;
}

void expect_special(const Special& special, Precision precision,
                    const std::function<test::Columns(const Pipeline&, const OracleInput&)>& run) {
  const Pipeline pipeline = parse({"special.pipe", special.text});
  for (const auto& [ni, nj] : {std::pair<std::int64_t, std::int64_t>{3, 700}, {70, 130}}) {
    const OracleInput input = random_input(pipeline, ni, nj, 3);
    test::expect_oracle(pipeline, run(pipeline, input), input, test::from_to(0, ni), precision,
                        fmt::format("{} {} x {}", special.what, ni, nj));
  }
}

TEST(ElementLoopsOfTexts, OfSpecialTexts) {
  std::size_t turn = 0;
  for (const Special& special : special_texts())
    for (const Precision precision : test::sampled({Precision::Single, Precision::Double}, 2, turn++))
      expect_special(special, precision, [&](const Pipeline& pipeline, const OracleInput& input) {
        return test::CpuRun(pipeline, {.precision = precision}, test::runnable_isas().back())(input);
      });
}

void expect_special_on(CudaDevice& device) {
  std::size_t turn = 0;
  for (const Special& special : special_texts())
    for (const Precision precision : test::sampled({Precision::Single, Precision::Double}, 2, turn++))
      expect_special(special, precision, [&](const Pipeline& pipeline, const OracleInput& input) {
        return test::run_kernel(device.load(build_cuda_kernel(pipeline, {.precision = precision}, "")), input);
      });
}

// ---- on the shim and on a GPU

void expect_random_texts(CudaDevice& device, const std::vector<int>& seeds) {
  for (const int seed : seeds) {
    const std::string text = RandomLoops(std::uint64_t(seed) + 1, seed % 3 == 1).text();
    SCOPED_TRACE(text);
    const Pipeline pipeline = parse({"loops.pipe", text});
    const Precision precision =
        std::array{Precision::Single, Precision::Double, Precision::Mixed}[std::size_t(seed / 2 % 3)];
    const auto kernel = device.load(build_cuda_kernel(pipeline, {.precision = precision}, ""));
    for (const auto& [ni, nj] : kSizes) {
      const OracleInput input = random_input(pipeline, ni, nj, std::uint64_t(seed * 100 + ni));
      test::expect_oracle(pipeline, test::run_kernel(kernel, input), input, test::from_to(0, ni), precision,
                          fmt::format("{} x {}", ni, nj));
    }
  }
}

TEST(ElementLoopsOnShim, RandomTexts) {
  test::CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_random_texts(device, test::sampled_range(0, 6, 3));
}

TEST(ElementLoopsOnShim, PartsListsAndExclusions) {
  test::CudaShim shim;
  for (const Precision precision : test::sampled({Precision::Single, Precision::Double}, 2)) {
    CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
    const auto kernel = device.load(build_cuda_kernel(Source{"kernel.pipe", kKernel}, {.precision = precision}, ""));
    EXPECT_TRUE(kernel->source.on_gpu.argument_in_memory);
    expect_all_kinds(kernel, nullptr, precision);
  }
}

TEST(ElementLoopsOnShim, InputsOfPairs) {
  test::CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const Source source{"listed.pipe", kOfListedPairs};
  expect_listed_pairs(device.load(build_cuda_kernel(source, {}, "")), nullptr, Precision::Single);
}

TEST(ElementLoopsOnShim, SpecialTexts) {
  test::CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_special_on(device);
}

// Kernels whose loops are written out take the address of each component.
TEST(ElementLoopsOnShim, TooManyComponentsAreRefused) {
  test::CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  std::string text = kKernel;
  for (std::size_t at = 0; (at = text.find("50", at)) != std::string::npos; at += 3) text.replace(at, 2, "900");
  const auto load = [&](Precision precision) {
    return device.load(build_cuda_kernel(Source{"kernel.pipe", text}, {.precision = precision}, ""));
  };
  try {
    load(Precision::Mixed);
    ADD_FAILURE() << "expected an error";
  } catch (const UsageError& refused) {
    EXPECT_NE(std::string(refused.what()).find("too many components"), std::string::npos) << refused.what();
  }
  EXPECT_TRUE(load(Precision::Double)->source.on_gpu.argument_in_memory);
}

class ElementLoopsOnGpu : public test::OnGpu {};

TEST_F(ElementLoopsOnGpu, RandomTexts) { expect_random_texts(*device_, test::sampled_range(0, 16, 1)); }

TEST_F(ElementLoopsOnGpu, SpecialTexts) { expect_special_on(*device_); }

TEST_F(ElementLoopsOnGpu, InputsOfPairs) {
  const Source source{"listed.pipe", kOfListedPairs};
  expect_listed_pairs(device_->load(build_cuda_kernel(source, {}, "")), &gpu(), Precision::Single);
}

TEST_F(ElementLoopsOnGpu, PartsListsAndExclusions) {
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    const auto kernel = device_->load(build_cuda_kernel(Source{"kernel.pipe", kKernel}, {.precision = precision}, ""));
    expect_all_kinds(kernel, &gpu(), precision);
  }
}

TEST(ElementLoopsOfTexts, HaveNoKernelForOneSet) {
  const KernelSource kernel = build_cpu_kernel(parse({"kernel.pipe", kKernel}), {}, Isa::Sse2, "");
  EXPECT_NE(kernel.derivations->row("symmetric", Precision::Single).obstacle.find("loops over elements"),
            std::string::npos);
}

// The text of a kernel does not grow with the arrays.
TEST(ElementLoopsOfTexts, HaveAKernelOfTheSameLengthForAnyArray) {
  const auto lines_for = [](const std::string& length) {
    std::string text = kKernel;
    for (std::size_t at = 0; (at = text.find("50", at)) != std::string::npos; at += length.size())
      text.replace(at, 2, length);
    const KernelSource kernel = build_cpu_kernel(Source{"kernel.pipe", text}, {}, Isa::Avx2, "");
    return std::ranges::count(kernel.first().source, '\n');
  };
  EXPECT_EQ(lines_for("50"), lines_for("1000"));
}

}  // namespace
}  // namespace nbcc
