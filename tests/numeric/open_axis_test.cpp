// Open directions of a periodic box: a length or a lattice vector that is 0, infinite, or infinite in single precision.
// On the CPU and in the CUDA text, over all pairs and with a search, in every precision, against distances that are
// computed here; and params that are NaN, which are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compiler/ir/text/pipeline_text.h"
#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

constexpr std::size_t kOpenCount = 40;
constexpr double kOpenReach = 2.5;

// The text with nearest_image(xj - xi, ...) or every_image(...) of a box or a cell.
std::string open_axis_text(const std::string& function, bool in_cell, bool has_skip) {
  const std::string self = function == "every_image" ? "self_pair" : "i_index == j_index";
  return fmt::format(
      "input_i vec3 xi; input_j vec3 xj; param vec3 a; param vec3 b; param vec3 c; param real rc;\n"
      "output(count) int n; output(sum) real s;\nvec3 d = {}(xj - xi, {});\nreal r2 = dot(d, d);\n{}",
      function, in_cell ? "a, b, c" : "vec3(a.x, b.y, c.z)",
      has_skip ? fmt::format("skip_if({} || r2 >= rc * rc);\nn += true; s += r2;\n", self)
               : fmt::format("if (!({}) && r2 < rc * rc) {{ n += true; s += r2; }}\n", self));
}

using OpenCell = std::array<std::array<double, 3>, 3>;  // without open vectors: zeros

struct OpenExpected {
  std::vector<double> n, s;
};
// Of all images up to four cells away, or of the nearest one.
OpenExpected open_expected(const std::vector<double>& x, const OpenCell& cell, bool every) {
  OpenExpected expected{std::vector<double>(kOpenCount), std::vector<double>(kOpenCount)};
  for (std::size_t i = 0; i < kOpenCount; ++i)
    for (std::size_t j = 0; j < kOpenCount; ++j) {
      double nearest = std::numeric_limits<double>::infinity();
      std::array<int, 3> most{};
      for (std::size_t k = 0; k < 3; ++k) most[k] = cell[k] == std::array<double, 3>{} ? 0 : 4;
      for (int l = -most[0]; l <= most[0]; ++l)
        for (int m = -most[1]; m <= most[1]; ++m)
          for (int p = -most[2]; p <= most[2]; ++p) {
            double r2 = 0;
            for (std::size_t c = 0; c < 3; ++c) {
              const double d = x[3 * j + c] - x[3 * i + c] + l * cell[0][c] + m * cell[1][c] + p * cell[2][c];
              r2 += d * d;
            }
            const bool self = i == j && l == 0 && m == 0 && p == 0;
            if (every && !self && r2 < kOpenReach * kOpenReach) expected.n[i] += 1, expected.s[i] += r2;
            nearest = std::min(nearest, r2);
          }
      if (!every && i != j && nearest < kOpenReach * kOpenReach) expected.n[i] += 1, expected.s[i] += nearest;
    }
  return expected;
}

// Positions are multiples of 1/8, more than 1e-3 from the cutoff, so that no rounding decides.
std::vector<double> open_positions(std::mt19937_64& random) {
  std::vector<double> x;
  for (std::size_t k = 0; k < 3 * kOpenCount; ++k) x.push_back(double(random() % 80) / 8 - 2);
  return x;
}

// Every combination of the vectors that are open, in each way to say so.
template <typename Run>
void expect_open(bool in_cell, bool every, Precision precision, const Run& run) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(5);
  for (const double open : {0.0, inf, -inf, 1e39, 1e300, 1e-50})
    for (int which = 1; which < 8; ++which) {
      SCOPED_TRACE(fmt::format("{}, {}, open {} in {:03b}", in_cell ? "cell" : "box", name(precision), open, which));
      OpenCell cell{{{7, 0, 0}, {in_cell ? 3.25 : 0, 6, 0}, {in_cell ? -2.5 : 0, in_cell ? 1.75 : 0, 6.5}}},
          given = cell;
      for (std::size_t k = 0; k < 3; ++k)
        if (which >> k & 1) {
          cell[k] = {};
          given[k] = {};
          given[k][k] = open;
        }
      const std::vector<double> x = open_positions(random);
      const OpenExpected expected = open_expected(x, cell, every), got = run(x, given);
      EXPECT_EQ(got.n, expected.n);
      for (std::size_t i = 0; i < kOpenCount; ++i)
        EXPECT_NEAR(got.s[i], expected.s[i], precision == Precision::Double ? 1e-11 : 1e-3);
    }
}

OpenExpected open_run(const std::shared_ptr<const Kernel>& kernel, std::vector<double> x, const OpenCell& cell,
                      PairChoice pairs) {
  OpenExpected got{std::vector<double>(kOpenCount), std::vector<double>(kOpenCount)};
  SumState sum(kernel);
  const double rc = kOpenReach;
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, kOpenCount, 24, 8});
  sum.bind("n", {got.n.data(), Element::Double, kOpenCount, 8, 8});
  sum.bind("s", {got.s.data(), Element::Double, kOpenCount, 8, 8});
  for (std::size_t k = 0; k < 3; ++k) sum.set_param(std::array{"a", "b", "c"}[k], cell[k]);
  sum.set_param("rc", {&rc, 1});
  sum.set_pairs(pairs);
  sum.run();
  sum.wait();
  return got;
}

constexpr Precision kOpenPrecisions[] = {Precision::Single, Precision::Mixed, Precision::Double};

TEST(OpenAxis, OnTheCpu) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(2, isa, cpu_toolchain(), "", "");
  for (const Precision precision : kOpenPrecisions)
    for (const bool in_cell : {false, true})
      for (const char* function : {"nearest_image", "every_image"}) {
        const bool every = function == std::string("every_image"), has_skip = precision != Precision::Mixed;
        const Pipeline pipeline = parse({"open.pipe", open_axis_text(function, in_cell, has_skip)});
        const Options options{.precision = precision, .math = in_cell ? Math::Precise : Math::Fast};
        const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, options, isa, "")));
        for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff})
          if (!every || pairs == PairChoice::Cutoff)
            expect_open(in_cell, every, precision, [&](const std::vector<double>& x, const OpenCell& cell) {
              return open_run(kernel, x, cell, pairs);
            });
      }
}

TEST(OpenAxisOnShim, InTheCudaText) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  for (const Precision precision : kOpenPrecisions)
    for (const bool in_cell : {false, true}) {
      const Pipeline pipeline = parse({"open.pipe", open_axis_text("nearest_image", in_cell, true)});
      const auto kernel = device.load(build_cuda_kernel(pipeline, {.precision = precision}, ""));
      for (const PairChoice pairs : {PairChoice::All, PairChoice::Cutoff})
        expect_open(in_cell, false, precision, [&](const std::vector<double>& x, const OpenCell& cell) {
          return open_run(kernel, x, cell, pairs);
        });
    }
}

TEST(OpenAxis, OfTheOracle) {
  for (const bool in_cell : {false, true}) {
    const Pipeline pipeline = parse({"open.pipe", open_axis_text("nearest_image", in_cell, true)});
    expect_open(in_cell, false, Precision::Double, [&](const std::vector<double>& x, const OpenCell& cell) {
      OracleInput input{.ni = kOpenCount, .nj = kOpenCount, .i = Columns(3), .j = {}, .params = {}};
      for (std::size_t k = 0; k < x.size(); ++k) input.i[k % 3].push_back(x[k]);
      input.j = input.i;
      for (const auto& vector : cell) input.params.insert(input.params.end(), vector.begin(), vector.end());
      input.params.push_back(kOpenReach);
      const Columns values = interpret(pipeline, input).values;
      return OpenExpected{values[0], values[1]};
    });
  }
}

// The choice of the period is not in the text, which is parsed to the same pipeline again.
TEST(OpenAxis, IsNotInTheTextOfAPipeline) {
  for (const char* box : {"vec3(a.x, b.y, c.z)", "2.0 * c", "vec3(1.5)", "vec3(0.0, 3.0, a.y + b.y)"}) {
    const Pipeline pipeline =
        parse({"open.pipe", fmt::format("input_i vec3 xi; input_j vec3 xj; param vec3 a; param vec3 b; param vec3 c;\n"
                                        "output(sum) vec3 s;\ns += nearest_image(xj - xi, {}) + 0.0 * (a + b + c);\n",
                                        box)});
    const std::string text = pipeline_text(pipeline);
    EXPECT_EQ(text.find("abs("), std::string::npos) << text;
    EXPECT_EQ(pipeline_text(parse({"open.pipe", text})), text);
  }
}

TEST(OpenAxis, ParamsThatAreNanAreRefused) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const auto kernel = for_callers(
      device.load(build_cpu_kernel(parse({"open.pipe", open_axis_text("nearest_image", false, true)}), {}, isa, "")));
  SumState sum(kernel);
  const double nan = std::numeric_limits<double>::quiet_NaN(), box[] = {1, nan, 1};
  for (const auto& [field, values] : {std::pair<const char*, std::span<const double>>{"rc", {&nan, 1}}, {"a", box}})
    try {
      sum.set_param(field, values);
      FAIL() << "expected a refusal of " << field;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()),
                fmt::format("param '{}' of pipeline 'open' is NaN: expected a number", field));
    }
}

}  // namespace
}  // namespace nbcc::test
