// The error of every function of the language as kernels compute it, in units in the last place against long double,
// and what the functions do with NaN, infinities and halves. The table of errors is printed, so that the reference can
// quote it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using Real = long double;

struct Function {
  const char* text;  // of x and y
  std::function<Real(Real, Real)> exact;
  double low, high;  // x; spread evenly in the logarithm if low > 0
  double y_low, y_high;
  double single_fast, single_precise, double_fast, double_precise;  // bounds in ulp
  Real (*size)(Real x) = nullptr;  // of what the last place counts, if that is more than the result's
};

Real sine_of_pi_times(Real x) {
  const Real r = std::remainder(x, Real(2));
  return std::sin(std::numbers::pi_v<Real> * (std::fabs(r) > 0.5L ? std::copysign(Real(1), r) - r : r));
}
Real cosine_of_pi_times(Real x) { return sine_of_pi_times(0.5L - std::fabs(std::remainder(x, Real(2)))); }

// Of J0 and J1, from where on they oscillate.
Real amplitude(Real x) { return std::fabs(x) < 1 ? 0 : std::sqrt(2 / (std::numbers::pi_v<Real> * std::fabs(x))); }

#define EXACT(expression) []([[maybe_unused]] Real x, [[maybe_unused]] Real y) -> Real { return expression; }

// A root or quotient in fast mathematics 2, in precise 0.5 (rsqrt: two roundings, of a root up to a whole ulp after the
// division). Elementary functions 2.5, a quotient of two of them and the complement of the error function 4.5. Bessel
// functions take 2.5 from the elementary functions, and 4 are theirs. The gamma functions are the C library's.
const Function kFunctions[] = {
    {"1.0 / x", EXACT(1 / x), 1e-30, 1e30, 1, 1, 2, 0.5, 2, 0.5},
    {"x / y", EXACT(x / y), -1e3, 1e3, 1e-6, 1e6, 2, 0.5, 2, 0.5},
    {"sqrt(x)", EXACT(std::sqrt(x)), 1e-30, 1e30, 1, 1, 2, 0.5, 2, 0.5},
    {"rsqrt(x)", EXACT(1 / std::sqrt(x)), 1e-30, 1e30, 1, 1, 2, 1.5, 2, 1.5},
    // Without an estimate of roots the errors of a root and a quotient are taken three times.
    {"x * sqrt(y) / (y * y)", EXACT(x / (y * std::sqrt(y))), -1, 1, 1e-6, 1e6, 4, 3, 6, 3},
    {"cbrt(x)", EXACT(std::cbrt(x)), 1e-30, 1e30, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"exp(x)", EXACT(std::exp(x)), -80, 80, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"exp2(x)", EXACT(std::exp2(x)), -120, 120, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"log(x)", EXACT(std::log(x)), 1e-30, 1e30, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"log(y)", EXACT(std::log(y)), 1, 1, 0.5, 2, 2.5, 2.5, 2.5, 2.5},
    {"log2(x)", EXACT(std::log2(x)), 1e-30, 1e30, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"pow(y, x)", EXACT(std::pow(y, x)), -10, 10, 1e-3, 1e3, 2.5, 2.5, 2.5, 2.5},
    {"sin(x)", EXACT(std::sin(x)), -1000, 1000, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"cos(x)", EXACT(std::cos(x)), -1000, 1000, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"sin(y)", EXACT(std::sin(y)), 1, 1, 1, 1e30, 2.5, 2.5, 2.5, 2.5},
    {"cos(y)", EXACT(std::cos(y)), 1, 1, 1, 1e30, 2.5, 2.5, 2.5, 2.5},
    {"tan(y)", EXACT(std::tan(y)), 1, 1, 1, 1e30, 4.5, 4.5, 4.5, 4.5},
    {"sinpi(x)", EXACT(sine_of_pi_times(x)), -100, 100, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"cospi(x)", EXACT(cosine_of_pi_times(x)), -100, 100, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"tan(x)", EXACT(std::tan(x)), -1000, 1000, 1, 1, 4.5, 4.5, 4.5, 4.5},
    {"asin(x)", EXACT(std::asin(x)), -1, 1, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"acos(x)", EXACT(std::acos(x)), -1, 1, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"atan(x)", EXACT(std::atan(x)), -20, 20, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"atan2(x, y)", EXACT(std::atan2(x, y)), -10, 10, -10, 10, 2.5, 2.5, 2.5, 2.5},
    {"sinh(x)", EXACT(std::sinh(x)), -80, 80, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"cosh(x)", EXACT(std::cosh(x)), -80, 80, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"tanh(x)", EXACT(std::tanh(x)), -10, 10, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"expm1(x)", EXACT(std::expm1(x)), -80, 80, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"expm1(y)", EXACT(std::expm1(y)), 1, 1, 1e-30, 1, 2.5, 2.5, 2.5, 2.5},
    {"log1p(x)", EXACT(std::log1p(x)), 1e-30, 1e30, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"log10(x)", EXACT(std::log10(x)), 1e-30, 1e30, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"asinh(x)", EXACT(std::asinh(x)), -100, 100, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"acosh(x)", EXACT(std::acosh(x)), 1, 1e10, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"atanh(x)", EXACT(std::atanh(x)), -1, 1, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"hypot(x, y)", EXACT(std::hypot(x, y)), -1e3, 1e3, 1e-3, 1e3, 2.5, 2.5, 2.5, 2.5},
    {"fmod(x, y)", EXACT(std::fmod(x, y)), -1e3, 1e3, 1e-3, 1e3, 0, 0, 0, 0},
    {"lgamma(x)", EXACT(std::lgamma(x)), 2.5, 1e6, 1, 1, 6, 6, 6, 6},
    {"tgamma(x)", EXACT(std::tgamma(x)), 1, 30, 1, 1, 12, 12, 12, 12},
    {"sign(x)", EXACT(Real(x > 0) - Real(x < 0)), -1, 1, 1, 1, 0, 0, 0, 0},
    {"erf(x)", EXACT(std::erf(x)), -4, 4, 1, 1, 2.5, 2.5, 2.5, 2.5},
    {"erfc(x)", EXACT(std::erfc(x)), -4, 9, 1, 1, 4.5, 4.5, 4.5, 4.5},
    {"erfc(y)", EXACT(std::erfc(y)), 1, 1, 1e-3, 2, 4.5, 4.5, 4.5, 4.5},
    {"bessel_j0(x)", EXACT(::j0l(x)), -40, 40, 1, 1, 6.5, 6.5, 6.5, 6.5, amplitude},
    {"bessel_j0(x)", EXACT(::j0l(x)), 6, 1e6, 1, 1, 6.5, 6.5, 6.5, 6.5, amplitude},
    {"bessel_j1(x)", EXACT(::j1l(x)), -40, 40, 1, 1, 6.5, 6.5, 6.5, 6.5, amplitude},
    {"bessel_j1(x)", EXACT(::j1l(x)), 6, 1e6, 1, 1, 6.5, 6.5, 6.5, 6.5, amplitude},
    {"bessel_k0(x)", EXACT(std::cyl_bessel_k(Real(0), x)), 1e-3, 85, 1, 1, 6.5, 6.5, 6.5, 6.5},
    {"bessel_k1(x)", EXACT(std::cyl_bessel_k(Real(1), x)), 1e-3, 85, 1, 1, 6.5, 6.5, 6.5, 6.5},
    {"bessel_i0(x)", EXACT(std::cyl_bessel_i(Real(0), x)), 1e-3, 90, 1, 1, 6.5, 6.5, 6.5, 6.5},
    {"bessel_i1(x)", EXACT(std::cyl_bessel_i(Real(1), x)), 1e-3, 90, 1, 1, 6.5, 6.5, 6.5, 6.5},
    {"fma(x, y, 1.0)", EXACT(x* y + 1), -1, 1, 1e-3, 0.5, 1, 1, 1, 1},
    {"floor(x)", EXACT(std::floor(x)), -1e6, 1e6, 1, 1, 0, 0, 0, 0},
    {"ceil(x)", EXACT(std::ceil(x)), -1e6, 1e6, 1, 1, 0, 0, 0, 0},
    {"round(x)", EXACT(std::round(x)), -1e6, 1e6, 1, 1, 0, 0, 0, 0},
    {"trunc(x)", EXACT(std::trunc(x)), -1e6, 1e6, 1, 1, 0, 0, 0, 0},
};
constexpr std::size_t kCount = std::size(kFunctions);
constexpr int kArguments = 20000;

// The maximum over the one j is the value itself, as it stands in a register.
std::string table_text() {
  std::string text, sums;
  for (std::size_t k = 0; k < kCount; ++k) {
    const std::string n = std::to_string(k);
    text += "input_i real x" + n + "; input_i real y" + n + "; output(max) real o" + n + ";\n";
    sums += "{ real x = x" + n + "; real y = y" + n + "; o" + n + " = max(o" + n + ", " + kFunctions[k].text + "); }\n";
  }
  return text + "input_j real one;\n" + sums;
}

double spread(RandomSource& random, double low, double high, bool single) {
  const double u = double(random.next() >> 11) * 0x1p-53;
  const double x = low > 0 ? low * std::pow(high / low, u) : low + (high - low) * u;
  return single ? double(float(x)) : x;
}

double units(double got, Real exact, Real least_size, bool single) {
  if (Real(got) == exact) return 0;
  const Real size = std::max(std::fabs(exact), least_size);
  const Real ulp = single ? std::max<Real>(std::ldexp(Real(1), std::ilogb(size) - 23), 0x1p-149L)
                          : std::max<Real>(std::ldexp(Real(1), std::ilogb(size) - 52), 0x1p-1074L);
  const double error = double(std::fabs(Real(got) - exact) / ulp);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

OracleInput random_arguments(bool single) {
  OracleInput input;
  input.ni = kArguments;
  input.nj = 1;
  input.j = {{1.0}};
  RandomSource random(7);
  for (const Function& f : kFunctions) {
    std::vector<double> x(kArguments), y(kArguments);
    for (double& v : x) v = spread(random, f.low, f.high, single);
    for (double& v : y) v = spread(random, f.y_low, f.y_high, single);
    input.i.push_back(x);
    input.i.push_back(y);
  }
  return input;
}

std::vector<double> measured(Isa isa, const Options& options) {
  const bool single = options.precision != Precision::Double;
  const OracleInput input = random_arguments(single);
  const CpuRun::Columns got = CpuRun(parse({"functions.pipe", table_text()}), options, isa)(input);
  std::vector<double> worst(kCount, 0);
  for (std::size_t k = 0; k < kCount; ++k) {
    for (std::size_t i = 0; i < std::size_t(kArguments); ++i) {
      const Real x = input.i[2 * k][i], exact = kFunctions[k].exact(x, input.i[2 * k + 1][i]);
      const Real least_size = kFunctions[k].size ? kFunctions[k].size(x) : 0;
      worst[k] = std::max(worst[k], units(got[k][i], exact, least_size, single));
    }
  }
  return worst;
}

TEST(accuracy, every_function_is_within_its_bound) {
  struct Run {
    std::string name;
    Isa isa;
    Options options;
    double Function::* bound;
    std::vector<double> worst;
  };
  std::vector<Run> runs;
  for (const Isa isa : runnable_isas()) {
    const std::string n(name(isa));
    runs.push_back({n + " single fast", isa, {Precision::Single, Math::Fast}, &Function::single_fast, {}});
    runs.push_back({n + " single precise", isa, {Precision::Single, Math::Precise}, &Function::single_precise, {}});
    runs.push_back({n + " double fast", isa, {Precision::Double, Math::Fast}, &Function::double_fast, {}});
    runs.push_back({n + " double precise", isa, {Precision::Double, Math::Precise}, &Function::double_precise, {}});
  }
  runs = sampled(runs, 3);
  std::printf("largest error in ulp over %d arguments\n%-24s", kArguments, "");
  for (Run& run : runs) {
    run.worst = measured(run.isa, run.options);
    std::printf("%20s", run.name.c_str());
  }
  std::printf("\n");
  for (std::size_t k = 0; k < kCount; ++k) {
    std::printf("%-24s", kFunctions[k].text);
    for (const Run& run : runs) {
      std::printf("%20.2f", run.worst[k]);
      EXPECT_LE(run.worst[k], kFunctions[k].*run.bound) << kFunctions[k].text << ", " << run.name;
    }
    std::printf("\n");
  }
}

// A function of the language and of nothing else, whose values at the ends are C's.
bool is_elementary(const Function& f) {
  static constexpr std::array kNames{"cbrt",  "exp",   "exp2",  "log",   "log2",  "pow",   "sin",   "cos",  "sinpi",
                                     "cospi", "tan",   "asin",  "acos",  "atan",  "atan2", "sinh",  "cosh", "tanh",
                                     "expm1", "log1p", "log10", "asinh", "acosh", "atanh", "hypot", "erf",  "erfc"};
  const std::string_view text = f.text;
  return std::ranges::find(kNames, text.substr(0, text.find('('))) != kNames.end();
}

// Where the processor fuses a product with a sum, a function is the same operations whatever the registers' width.
TEST(accuracy, functions_have_the_same_bits_with_avx2_and_avx512) {
  const std::vector<Isa> here = runnable_isas();
  if (std::ranges::find(here, Isa::Avx512) == here.end()) GTEST_SKIP() << "no AVX-512 here";
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    const OracleInput input = random_arguments(precision == Precision::Single);
    const Pipeline pipeline = parse({"functions.pipe", table_text()});
    const CpuRun::Columns a = CpuRun(pipeline, {precision}, Isa::Avx2)(input);
    const CpuRun::Columns b = CpuRun(pipeline, {precision}, Isa::Avx512)(input);
    for (std::size_t k = 0; k < kCount; ++k) {
      if (!is_elementary(kFunctions[k])) continue;
      EXPECT_EQ(std::memcmp(a[k].data(), b[k].data(), a[k].size() * sizeof(double)), 0) << kFunctions[k].text;
    }
  }
}

// Zeros, ones, halves, infinities, NaN, the least and the largest numbers, and where results leave the range of
// numbers: what C's functions give, whatever lies in the other lanes.
TEST(accuracy, values_at_the_ends_are_those_of_c) {
  const double least = std::numeric_limits<double>::denorm_min(), normal = std::numeric_limits<double>::min(),
               most = std::numeric_limits<double>::max(), nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  std::vector<double> values{0.0,   0.5,    1.0,   1.5,     2.0,    3.0,   4.0,   100.0,      1000.0,
                             88.8,  89.3,   103.0, 104.5,   0.75,   1e-20, 1e10,  4097.,      1e17,
                             1e-40, 1e-45,  3e38,  1.2e-38, 709.9,  710.3, 745.0, 746.5,      1e-310,
                             1e200, 1e-160, 27.2,  least,   normal, most,  inf,   16777215.0, 9007199254740991.0};
  for (std::size_t k = 0, n = values.size(); k < n; ++k) values.push_back(-values[k]);
  values.push_back(nan);
  for (const Isa isa : runnable_isas()) {
    for (const Precision precision : {Precision::Single, Precision::Double}) {
      const bool single = precision == Precision::Single;
      OracleInput input;
      input.nj = 1;
      input.j = {{1.0}};
      std::vector<double> x, y;
      for (const double a : values)
        for (const double b : values) {
          x.push_back(single ? double(float(a)) : a);
          y.push_back(single ? double(float(b)) : b);
        }
      input.ni = std::int64_t(x.size());
      for (std::size_t k = 0; k < kCount; ++k) {
        input.i.push_back(x);
        input.i.push_back(y);
      }
      const CpuRun::Columns got = CpuRun(parse({"functions.pipe", table_text()}), {precision}, isa)(input);
      for (std::size_t k = 0; k < kCount; ++k) {
        const Function& f = kFunctions[k];
        if (!is_elementary(f)) continue;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const Real exact = f.exact(x[i], y[i]);
          const double rounded = single ? double(float(exact)) : double(exact), is = got[k][i];
          const bool same = std::isnan(rounded)   ? std::isnan(is)
                            : std::isinf(rounded) ? is == rounded
                                                  : units(is, exact, 0, single) <= f.single_fast;
          ASSERT_TRUE(same) << f.text << " of x = " << x[i] << ", y = " << y[i] << " with " << name(isa) << " in "
                            << (single ? "single" : "double") << ": " << is << ", not " << rounded;
        }
      }
    }
  }
}

// ---- single values: the result for each x (i) with one y (j), all of them in one kernel ----

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kBelowHalf = double(std::nextafter(0.5f, 0.0f));
const std::vector<double> kWhole = {0,           1,          -1,     0x1p23 - 1, 0x1p23, 0x1p23 + 1,
                                    -0x1p23 - 1, 0x1p24 + 2, 0x1p60, kInf,       -kInf,  kNan};

struct ExactValues {
  const char* expression;
  std::vector<double> x;
  double y;
  std::vector<double> expected;
};

const ExactValues kExact[] = {
    // Halves round away from zero.
    {"round(x * y)",
     {-0.5, 0.5, kBelowHalf, -kBelowHalf, 1.5, 2.5, -2.5, 0x1p22 + 0.5, -0x1p22 - 0.5, 0x1p23 + 1, 0x1p30},
     1,
     {-1, 1, 0, 0, 2, 3, -3, 0x1p22 + 1, -0x1p22 - 1, 0x1p23 + 1, 0x1p30}},
    // Whole numbers of any size stay.
    {"floor(x * y)", kWhole, 1, kWhole},
    {"ceil(x * y)", kWhole, 1, kWhole},
    {"round(x * y)", kWhole, 1, kWhole},
    {"trunc(x * y)", kWhole, 1, kWhole},
    // Others go their ways.
    {"floor(x * y)", {-0.5, 0.5, -1.5, 1.5, -1e-20, 4194303.5}, 1, {-1, 0, -2, 1, -1, 4194303}},
    {"ceil(x * y)", {-0.5, 0.5, -1.5, 1.5, 1e-20, 4194303.5}, 1, {0, 1, -1, 2, 1, 4194304}},
    {"trunc(x * y)", {-0.5, 0.5, -1.5, 1.5, -1e-20, -4194303.5}, 1, {0, 0, -1, 1, 0, -4194303}},
    // Sine and cosine of pi have exact zeros; the ones may be off by an ulp.
    {"sinpi(x * y)", {0, 1, -1, 2, 1001}, 1, {0, 0, 0, 0, 0}},
    {"cospi(x * y)", {0.5, -0.5, 1.5, 2.5, 1001.5}, 1, {0, 0, 0, 0, 0}},
    // Minimum and maximum hand NaN on.
    {"min(x, y)", {kNan, 1}, kNan, {kNan, kNan}},
    {"max(x, y)", {kNan, 1}, kNan, {kNan, kNan}},
    {"min(y, x)", {kNan, 1}, kNan, {kNan, kNan}},
    {"max(y, x)", {kNan, 1}, kNan, {kNan, kNan}},
    {"min(x, y)", {kNan}, 1, {kNan}},
    {"max(x, y)", {kNan}, 1, {kNan}},
    {"min(y, x)", {kNan}, 1, {kNan}},
    {"max(y, x)", {kNan}, 1, {kNan}},
    {"min(x * y, 2.0)", {kNan}, 1, {kNan}},
    {"max(2.0, x * y)", {kNan}, 1, {kNan}},
    {"clamp(x * y, -1.0, 1.0)", {kNan}, 1, {kNan}},
    {"min(x, y)", {-kInf, kInf, 3}, 2, {-kInf, 2, 2}},
    // Roots of zero and of negative numbers.
    {"sqrt(x * y)", {0, 4, -1, kInf, kNan}, 1, {0, 2, kNan, kInf, kNan}},
    {"x / y", {1, -1, 0, kInf}, 0, {kInf, -kInf, kNan, kInf}},
};

// Of every expression the maximum and the sum.
std::string exact_text() {
  std::string fields, sums;
  int k = 0;
  for (const ExactValues& values : kExact) {
    const std::string n = std::to_string(k++);
    fields +=
        "input_i real x" + n + "; input_j real y" + n + "; output(max) real o" + n + "; output(sum) real s" + n + ";\n";
    sums += "{ real x = x" + n + "; real y = y" + n + "; real v = " + values.expression + "; o" + n + " = max(o" + n +
            ", v); s" + n + " += v; }\n";
  }
  return fields + sums;
}

std::vector<Options> all_options() {
  std::vector<Options> all;
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double}) {
    for (const Math math : {Math::Fast, Math::Precise}) all.push_back({precision, math});
  }
  return all;
}

TEST(accuracy, values_that_are_exact) {
  const Pipeline pipeline = parse({"values.pipe", exact_text()});
  OracleInput input;
  input.nj = 1;
  for (const ExactValues& values : kExact) input.ni = std::max(input.ni, std::int64_t(values.x.size()));
  for (const ExactValues& values : kExact) {
    input.i.push_back(values.x);
    input.i.back().resize(std::size_t(input.ni), 1.0);
    input.j.push_back({values.y});
  }
  for (const Isa isa : runnable_isas()) {
    for (const Options& options : sampled(all_options(), 3, std::size_t(isa))) {
      const CpuRun::Columns got = CpuRun(pipeline, options, isa)(input);
      for (std::size_t c = 0; c < got.size(); ++c) {
        const auto& [expression, x, y, expected] = kExact[c / 2];
        for (std::size_t k = 0; k < x.size(); ++k) {
          const double is = got[c][k];
          const bool same = is == expected[k] || (std::isnan(is) && std::isnan(expected[k]));
          EXPECT_TRUE(same) << expression << " of " << x[k] << ", " << y << " in " << describe(options, isa) << ": "
                            << is << ", not " << expected[k];
        }
      }
    }
  }
}

// ---- particles that are no numbers ----

const char* const kCutoff =
    "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) vec3 acc; output(sum) real n; output(argmin) index "
    "near;\n"
    "vec3 dx = xj - xi; real r2 = dot(dx, dx); real s = exp(-r2) / (r2 * sqrt(r2 + 0.01) + 0.01);\n"
    "if (r2 < 2.25) { acc += mj * s * dx; n += 1.0; near = argmin(near, r2); }";

OracleInput particles(std::int64_t ni, std::int64_t nj) {
  RandomSource random(11);
  OracleInput input;
  input.ni = ni;
  input.nj = nj;
  input.i.resize(3);
  input.j.resize(4);
  for (auto& column : input.i)
    for (std::int64_t k = 0; k < ni; ++k) column.push_back(random.between(-1000, 1000) / 500.0);
  for (auto& column : input.j)
    for (std::int64_t k = 0; k < nj; ++k) column.push_back(random.between(-1000, 1000) / 500.0);
  return input;
}

void expect_same_but(const CpuRun::Columns& a, const CpuRun::Columns& b, std::size_t but, const std::string& what) {
  for (std::size_t c = 0; c < a.size(); ++c) {
    for (std::size_t i = 0; i < a[c].size(); ++i) {
      if (i == but) continue;
      EXPECT_EQ(std::memcmp(&a[c][i], &b[c][i], sizeof(double)), 0) << what << ", i = " << i;
    }
  }
}

TEST(accuracy, a_bad_i_particle_disturbs_no_other) {
  const Pipeline pipeline = parse({"cutoff.pipe", kCutoff});
  const OracleInput good = particles(37, 300);
  for (const Isa isa : runnable_isas()) {
    for (const Options& options : all_options()) {
      const CpuRun run(pipeline, options, isa, 2);
      const CpuRun::Columns expected = run(good);
      for (const double bad : {kNan, kInf}) {
        OracleInput input = good;
        input.i[1][17] = bad;
        expect_same_but(run(input), expected, 17, describe(options, isa));
      }
    }
  }
}

// It is beyond every cutoff: NaN compares false, infinity is far away.
TEST(accuracy, a_bad_j_particle_beyond_the_cutoff_disturbs_nobody) {
  const Pipeline pipeline = parse({"cutoff.pipe", kCutoff});
  OracleInput good = particles(37, 300);
  good.j[1][123] = 1e6;
  for (const Isa isa : runnable_isas()) {
    for (const Options& options : all_options()) {
      const CpuRun run(pipeline, options, isa, 2);
      const CpuRun::Columns expected = run(good);
      for (const double bad : {kNan, kInf}) {
        OracleInput input = good;
        input.j[1][123] = bad;
        expect_same_but(run(input), expected, std::size_t(-1), describe(options, isa));
      }
    }
  }
}

}  // namespace
}  // namespace nbcc::test
