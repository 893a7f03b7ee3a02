// Bessel functions as every backend's texts compute them, against values of mpmath: in pairs, in finish(), of numbers
// near the zeros and where approximations meet, of 0, infinity and NaN, and where I overflows and K underflows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "tests/support/bessel_values.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_text_run.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using Real = long double;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Of a function whose exponential or waves are good to 4 ulp, as libmvec promises.
constexpr double kBound = 8;

struct Function {
  const char* name;
  std::span<const BesselValue> values, wide;  // the latter in double precision only
};
const Function kFunctions[] = {{"bessel_j0", kJ0, {}},      {"bessel_j1", kJ1, {}},      {"bessel_k0", kK0, kWideK0},
                               {"bessel_k1", kK1, kWideK1}, {"bessel_i0", kI0, kWideI0}, {"bessel_i1", kI1, kWideI1}};
constexpr std::size_t kCount = std::size(kFunctions);

// Every function has its own arguments. In pairs, and of sums in finish().
std::string text(bool in_finish) {
  std::string fields = "input_j real one;\n", sums, finish;
  for (std::size_t k = 0; k < kCount; ++k) {
    const std::string n = std::to_string(k), f = kFunctions[k].name;
    fields += "input_i real x" + n + "; output(sum) real s" + n + ";\n";
    sums += "s" + n + " += " + (in_finish ? "" : f) + "(x" + n + " * one);\n";
    finish += "s" + n + " = " + f + "(s" + n + "); ";
  }
  return fields + sums + (in_finish ? "void finish() { " + finish + "}\n" : "");
}

// One column for each function; what is missing in the shorter ones is 1.
OracleInput input_of(std::vector<std::vector<double>> columns) {
  OracleInput input;
  input.nj = 1;
  input.j = {{1.0}};
  for (const auto& column : columns) input.ni = std::max(input.ni, std::int64_t(column.size()));
  for (auto& column : columns) column.resize(std::size_t(input.ni), 1.0);
  input.i = std::move(columns);
  return input;
}

// J0 and J1 oscillate: from 6 on their error is in units of the amplitude's last place.
double units(std::size_t function, double x, double got, Real exact, bool single) {
  Real size = std::fabs(exact);
  if (function < 2 && std::fabs(x) >= 6)
    size = std::max(size, std::sqrt(2 / (std::numbers::pi_v<Real> * std::fabs(Real(x)))));
  const int lowest = single ? -149 : -1074;
  const Real ulp = std::ldexp(Real(1), std::max(std::ilogb(size) - (single ? 23 : 52), lowest));
  const double error = double(std::fabs(Real(got) - exact) / ulp);
  return std::isnan(error) ? kInf : error;
}

std::vector<BesselValue> values_of(const Function& function, bool single) {
  std::vector<BesselValue> values(function.values.begin(), function.values.end());
  if (!single) values.insert(values.end(), function.wide.begin(), function.wide.end());
  return values;
}

OracleInput values_input(bool single) {
  std::vector<std::vector<double>> columns;
  for (const Function& function : kFunctions) {
    columns.emplace_back();
    for (const BesselValue& value : values_of(function, single)) columns.back().push_back(value.x);
  }
  return input_of(std::move(columns));
}

void expect_values(const std::vector<std::vector<double>>& got, bool wide_arguments, bool single) {
  for (std::size_t k = 0; k < kCount; ++k) {
    const std::vector<BesselValue> values = values_of(kFunctions[k], !wide_arguments);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_LE(units(k, values[i].x, got[k][i], values[i].value, single), kBound)
          << kFunctions[k].name << "(" << values[i].x << ") is " << got[k][i];
    }
  }
}

// ---- where there is nothing to be measured ----

struct Special {
  double x;
  double values[kCount];  // J0 J1 K0 K1 I0 I1
};
const Special kSpecials[] = {
    {0, {1, 0, kInf, kInf, 1, 0}},
    {-0.0, {1, -0.0, kInf, kInf, 1, -0.0}},
    {kInf, {0, 0, 0, 0, kInf, kInf}},
    {-kInf, {0, 0, kNan, kNan, kInf, -kInf}},
    {kNan, {kNan, kNan, kNan, kNan, kNan, kNan}},
    {0x1p-100, {1, 0x1p-101, 0x1.15b8fc338924bp+6, 0x1p100, 1, 0x1p-101}},
    {-0x1p-100, {1, -0x1p-101, kNan, kNan, 1, -0x1p-101}},
};
// Just beyond the largest argument, of each: NaN where there is no such end.
constexpr double kBeyondFloat[kCount] = {kNan, kNan, 0, 0, kInf, kInf},
                 kBeyondFloatAt[kCount] = {1, 1, 104, 104, 92, 92.5};
constexpr double kBeyondDouble[kCount] = {kNan, kNan, 0, 0, kInf, kInf},
                 kBeyondDoubleAt[kCount] = {1, 1, 746, 746, 714, 714};

OracleInput specials_input(bool single) {
  std::vector<std::vector<double>> columns(kCount);
  for (std::size_t k = 0; k < kCount; ++k) {
    for (const Special& special : kSpecials) columns[k].push_back(special.x);
    columns[k].push_back(single ? kBeyondFloatAt[k] : kBeyondDoubleAt[k]);
  }
  return input_of(std::move(columns));
}

void expect_specials(const std::vector<std::vector<double>>& got, bool single) {
  for (std::size_t k = 0; k < kCount; ++k) {
    for (std::size_t i = 0; i < std::size(kSpecials); ++i) {
      const double is = got[k][i], expected = kSpecials[i].values[k];
      const bool whole = k < 2 || k > 3 || expected == 0 || std::isinf(expected);
      const bool same = (std::isnan(is) && std::isnan(expected)) || is == expected ||
                        (!whole && units(k, kSpecials[i].x, is, Real(expected), single) <= kBound);
      EXPECT_TRUE(same) << kFunctions[k].name << "(" << kSpecials[i].x << ") is " << is << ", not " << expected;
    }
    const double beyond = single ? kBeyondFloat[k] : kBeyondDouble[k];
    if (!std::isnan(beyond)) EXPECT_EQ(got[k][std::size(kSpecials)], beyond) << kFunctions[k].name;
  }
}

std::vector<Options> all_options() {
  std::vector<Options> all;
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double})
    for (const Math math : {Math::Fast, Math::Precise}) all.push_back({precision, math});
  return all;
}

TEST(bessel, on_every_instruction_set) {
  const Pipeline pipeline = parse({"bessel.pipe", text(false)});
  for (const Isa isa : runnable_isas()) {
    for (const Options& options : sampled(all_options(), 3, std::size_t(isa))) {
      SCOPED_TRACE(describe(options, isa));
      const bool single = options.precision != Precision::Double;
      const CpuRun run(pipeline, options, isa);
      expect_values(run(values_input(single)), !single, single);
      expect_specials(run(specials_input(single)), single);
    }
  }
}

// There every number is a double, whatever the precision of pairs; it comes from a sum that is exact.
TEST(bessel, in_finish) {
  const Pipeline pipeline = parse({"bessel.pipe", text(true)});
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    const CpuRun run(pipeline, {precision}, runnable_isas().back());
    expect_values(run(values_input(precision == Precision::Single)), precision == Precision::Double, false);
    expect_specials(run(specials_input(false)), false);
  }
}

TEST(bessel, in_cuda_texts) {
  const Pipeline pipeline = parse({"bessel.pipe", text(false)});
  for (const Options& options : all_options()) {
    SCOPED_TRACE(std::string(name(options.precision)) + ", " + std::string(name(options.math)));
    const bool single = options.precision != Precision::Double;
    CudaShim shim;
    CudaTextRun run(shim, emit_cuda(optimize(pipeline, options, cuda_target()), options),
                    {.threads = 8, .i_per_thread = 2, .j_tile = 16, .unroll = 2});
    expect_values(run(values_input(single)), !single, single);
    expect_specials(run(specials_input(single)), single);
  }
}

}  // namespace
}  // namespace nbcc::test
