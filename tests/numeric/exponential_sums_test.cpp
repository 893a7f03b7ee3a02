// logsumexp, softmax, product and count: what overflow, infinities, NaN and few pairs make of them, against numbers
// that are known or summed up here by another way. On the CPU device with every instruction set, and through the whole
// CUDA runtime on the shim's GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/source/parse.h"
#include "compiler/text/source.h"
#include "jit/build_kernel.h"
#include "particles/error_bounds/running_error.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/cuda_source.h"
#include "tests/support/folders.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using Numbers = std::vector<double>;
using Kernels = std::shared_ptr<const Kernel>;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

const std::string kExponentials =
    "input_j real x; input_j real v;\noutput(logsumexp) real z; output(softmax) real y;\n"
    "z = logsumexp(z, x); y = softmax(y, x, v);";

struct Place {
  Kernels kernel;
  Options options;
  std::string name;
  Target target;
};

void on_every_device(const Pipeline& pipeline, const std::function<void(const Place&)>& test) {
  const std::size_t turn = pipeline.pair.size();
  for (const auto& [isa, precision] : isas_with_precisions(turn)) {
    const Options options{.precision = precision};
    CpuDevice device(1, isa, cpu_toolchain(), "", "");
    test({device.load(build_cpu_kernel(pipeline, options, isa, "")), options, describe(options, isa),
          facts(isa).target});
  }
  for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3, turn)) {
    const Options options{.precision = precision};
    CudaShim shim;
    CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
    test({device.load(build_cuda_kernel(pipeline, options, "")), options, "shim, " + std::string(name(precision)),
          cuda_target()});
  }
}
void on_every_device(const std::string& text, const std::function<void(const Place&)>& test) {
  on_every_device(parse({"exponential.pipe", text}), test);
}

OracleInput of_j(std::vector<Numbers> columns, std::int64_t ni = 1) {
  OracleInput input;
  input.ni = ni;
  input.nj = std::int64_t(columns[0].size());
  input.j = std::move(columns);
  return input;
}

// One i. The first output component, and the others.
Numbers results(const Place& place, std::vector<Numbers> columns) {
  Numbers all;
  for (const Numbers& column : run_kernel(place.kernel, of_j(std::move(columns)))) all.push_back(column[0]);
  return all;
}

// Twice the value's rounding to the precision.
void expect_near(double is, double want, const Place& place) {
  const bool same = is == want || (std::isnan(is) && std::isnan(want));
  const double error = 4 * epsilon_of(place.options.precision) * (1 + std::fabs(want));
  EXPECT_TRUE(same || std::fabs(is - want) <= (std::isfinite(want) ? error : 0))
      << is << ", not " << want << " on " << place.name;
}

TEST(ExponentialSums, WhatHasNoWeightAndWhatHasAll) {
  const struct {
    Numbers x;
    double z, y;  // of the values 1, 2, 3 ...
  } cases[] = {{{}, -kInf, kNan},
               {{3}, 3, 1},
               {{-1e4}, -1e4, 1},
               {{-kInf}, -kInf, kNan},
               {{-kInf, -kInf, -7}, -7, 3},
               {{2, -kInf}, 2, 1},
               {{1e4, -1e4}, 1e4, 1},
               {{-1e4, 1e4}, 1e4, 2},
               {{-1e4, -1e4}, -1e4 + std::log(2), 1.5},
               {{-3e38, 3e38, 0}, 3e38, 2},
               {{1, kInf, 2}, kInf, kNan},
               {{kInf, kInf}, kInf, kNan},
               {{kNan, 1}, kNan, kNan},
               {{1, kNan}, kNan, kNan},
               {{kInf, kNan}, kNan, kNan},
               {{-kInf, kNan}, kNan, kNan}};
  on_every_device(kExponentials, [&](const Place& place) {
    for (const auto& [x, z, y] : cases) {
      // Alone, and far behind others that have no weight whatever their values, in another tile and segment.
      for (const std::size_t before : {0, 3, 40000}) {
        if (x.empty() && before > 0) continue;
        Numbers logits(before, -kInf), values(before, before == 3 ? kInf : kNan);
        for (std::size_t k = 0; k < x.size(); ++k) logits.push_back(x[k]), values.push_back(double(k) + 1);
        const Numbers is = results(place, {logits, values});
        SCOPED_TRACE(testing::PrintToString(x) + " behind " + std::to_string(before));
        expect_near(is[0], z, place);
        expect_near(is[1], y, place);
      }
    }
  });
}

// As other outputs of type float: only finish() takes them for floats.
TEST(ExponentialSums, FloatsAreAsPreciseAsOtherFloatOutputs) {
  on_every_device(
      "input_j real x; input_j real v;\noutput(logsumexp) float z; output(softmax) float y;\nz = logsumexp(z, x); y = "
      "softmax(y, x, v);",
      [&](const Place& place) {
        const Numbers is = results(place, {{1, 2}, {1, 2}});
        const double e = std::exp(1.0);
        expect_near(is[0], 2 + std::log(1 + 1 / e), place);
        expect_near(is[1], (1 + 2 * e) / (1 + e), place);
      });
}

// The weights' sum and the mean, from the largest logit down, in long double.
std::pair<double, double> plainly(const Numbers& x, const Numbers& v) {
  const long double top = *std::max_element(x.begin(), x.end());
  long double total = 0, sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const long double weight = std::exp((long double)(x[k]) - top);
    total += weight, sum += weight * v[k];
  }
  return {double(top + std::log(total)), double(sum / total)};
}

// Logits as floats have them. In what order they come must not matter, above all not where each is a little larger than
// the one before.
TEST(ExponentialSums, WhateverTheOrderOfLogits) {
  const std::vector<std::function<double(double)>> orders{
      [](double t) { return t; },        [](double t) { return -t; },
      [](double t) { return 30 * t; },   [](double t) { return -2000 * t; },
      [](double t) { return 2000 * t; }, [](double t) { return 50 * std::sin(900 * t); }};
  on_every_device(kExponentials, [&](const Place& place) {
    for (std::size_t order = 0; order < orders.size(); ++order) {
      for (const std::size_t n : {1, 7, 129, 1025, 20000}) {
        Numbers x(n), v(n);
        for (std::size_t k = 0; k < n; ++k) {
          x[k] = double(float(orders[order](double(k) / double(n))));
          v[k] = 1.5 + std::sin(double(k));
          v[k] = double(float(v[k]));
        }
        const auto [z, y] = plainly(x, v);
        const Numbers is = results(place, {x, v});
        // A tile adds up 128 terms or so, of which each may round, and weights are known to a few roundings.
        const double error = 100 * epsilon_of(place.options.precision);
        EXPECT_NEAR(is[0], z, error + 2 * epsilon_of(place.options.precision) * std::fabs(z))
            << place.name << ", order " << order << ", " << n;
        EXPECT_NEAR(is[1], y, error * 2.5) << place.name << ", order " << order << ", " << n;
      }
    }
  });
}

TEST(ExponentialSums, ProductsLeaveTheRangeOfFloats) {
  on_every_device("input_j real x;\noutput(product) double p; output(product) index whole;\np *= x; whole *= int(x);",
                  [](const Place& place) {
                    Numbers up(200, 8), down(199, 0.125);
                    const double big = std::ldexp(1.0, 600);
                    EXPECT_EQ(results(place, {up})[0], big) << place.name;
                    up.insert(up.end(), down.begin(), down.end());
                    EXPECT_EQ(results(place, {up})[0], 8) << place.name;
                    EXPECT_EQ(results(place, {{}}), (Numbers{1, 1})) << place.name;
                    EXPECT_EQ(results(place, {{3, -5, 7}}), (Numbers{-105, -105})) << place.name;
                    EXPECT_TRUE(std::isnan(results(place, {{2, kNan}})[0])) << place.name;
                    EXPECT_TRUE(std::isnan(results(place, {{0, kInf}})[0])) << place.name;
                  });
}

// More than a float holds exactly would be too many for a test: a tile's share of them is what a float has to hold.
TEST(ExponentialSums, CountsAreExact) {
  on_every_device(
      "input_i real y; input_j real x;\noutput(count) int n; output(count) index all; output(count) int twice;\n"
      "n += x > y; all += true; twice += x > y; twice += x < 3;\nif (x > 1) twice += x != 2;",
      [](const Place& place) {
        Numbers x(70001);
        std::vector<double> expected(3);
        for (std::size_t k = 0; k < x.size(); ++k) {
          x[k] = double(k % 5);
          expected[0] += x[k] > 1.5, expected[1] += 1;
          expected[2] += (x[k] > 1.5) + (x[k] < 3) + (x[k] > 1 && x[k] != 2);
        }
        OracleInput input = of_j({x});
        input.i = {{1.5}};
        const Columns got = run_kernel(place.kernel, input);
        for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(got[c][0], expected[c]) << place.name;
      });
}

// One i, with what the arrays hold already.
Numbers accumulated(const Place& place, Numbers x, Numbers before) {
  SumState sum(place.kernel);
  sum.set_counts(1, std::int64_t(x.size()));
  sum.bind("x", {x.data(), Element::Double, std::int64_t(x.size()), 8, 8});
  std::size_t k = 0;
  for (const FieldLayout& field : place.kernel->source.fields)
    if (field.role == Role::Output) sum.bind(field.name, {&before[k++], Element::Double, 1, 8, 8});
  RunChoice choice;
  choice.accumulate = true;
  sum.run(choice);
  sum.wait();
  return before;
}

TEST(ExponentialSums, JoinWhatTheArrayHeld) {
  const std::string text =
      "input_j real x;\noutput(logsumexp) real z; output(product) real p; output(count) index n;\n"
      "z = logsumexp(z, x); p *= x; n += x > 0;";
  on_every_device(text, [](const Place& place) {
    const Numbers is = accumulated(place, {1, 1, 2}, {3, 5, 40});
    expect_near(is[0], std::log(std::exp(3) + 2 * std::exp(1) + std::exp(2)), place);
    EXPECT_EQ(is[1], 10) << place.name;
    EXPECT_EQ(is[2], 43) << place.name;
    expect_near(accumulated(place, {700}, {-kInf, 1, 0})[0], 700, place);
    expect_near(accumulated(place, {}, {-700, 1, 0})[0], -700, place);
    EXPECT_EQ(accumulated(place, {}, {-kInf, 1, 0})[0], -kInf) << place.name;
    EXPECT_EQ(accumulated(place, {5}, {kInf, 1, 0})[0], kInf) << place.name;
    EXPECT_TRUE(std::isnan(accumulated(place, {5}, {kNan, 1, 0})[0])) << place.name;
  });
}

int times(const std::string& text, const std::string& what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// However many outputs have a logit in common.
TEST(ExponentialSums, MakeOneExponentialForEachLogit) {
  const std::string text =
      "input_i real q; input_j real k; input_j real v[16];\noutput(softmax) real y[16]; output(logsumexp) real z;\n"
      "for (int c = 0; c < 16; ++c) y[c] = softmax(y[c], q * k, v[c]);\nz = logsumexp(z, q * k);";
  const Pipeline pipeline = parse({"many.pipe", text});
  const KernelSource cpu = build_cpu_kernel(pipeline, {}, Isa::Avx2, ""), cuda = build_cuda_kernel(pipeline, {}, "");
  EXPECT_EQ(times(cpu.first().source, " = weights("), 1);
  EXPECT_EQ(times(without_exclusions(cuda.first().source), "weight = exponential("), 1);
  EXPECT_EQ(cpu.outputs, 18);
  EXPECT_EQ(cpu.fields.size(), 5u);
}

// The library's attention against a softmax written out plainly: all weights first, in double.
TEST(ExponentialSums, AttentionIsThatOfAllWeights) {
  const Pipeline pipeline = parse(read_source(source_folder() + "/pipelines/attention.pipe"));
  RandomSource random(11);
  OracleInput input;
  input.ni = 37, input.nj = 501;
  input.params = {0.75};
  for (int c = 0; c < 48; ++c) {
    Numbers numbers;
    for (int k = 0; k < (c < 16 ? input.ni : input.nj); ++k) numbers.push_back(random.between(-4096, 4095) / 2048.0);
    (c < 16 ? input.i : input.j).push_back(numbers);
  }
  on_every_device(pipeline, [&](const Place& place) {
    const Columns got = run_kernel(place.kernel, input);
    for (std::size_t i = 0; i < 37; ++i) {
      Numbers weights(501);
      double total = 0;
      for (std::size_t j = 0; j < 501; ++j) {
        double alike = 0;
        for (std::size_t c = 0; c < 16; ++c) alike += input.i[c][i] * input.j[c][j];
        total += weights[j] = std::exp(0.75 * alike);
      }
      // Logits of up to some 20 are rounded, and so are weights, by 16 operations each.
      const double error = 400 * epsilon_of(place.options.precision);
      EXPECT_NEAR(got[16][i], std::log(total), error) << place.name;
      for (std::size_t c = 0; c < 16; ++c) {
        double mean = 0;
        for (std::size_t j = 0; j < 501; ++j) mean += weights[j] / total * input.j[16 + c][j];
        EXPECT_NEAR(got[c][i], mean, error) << place.name << ", component " << c;
      }
    }
  });
}

}  // namespace
}  // namespace nbcc::test
