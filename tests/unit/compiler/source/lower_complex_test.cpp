// Complex numbers as texts write them, against std::complex: values over the whole range, derivatives, and the nodes
// that parts which are 0 save.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/isa.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

using Complex = std::complex<double>;

const std::string kFields =
    "input_i complex z; input_j complex w; input_i real x; input_j int n; output(sum) complex s, g;\n";

// The sums s and g that a text gives for one pair.
struct Result {
  Complex s, g;
};
Result result_of(const std::string& text, Complex z, Complex w, double x, int n) {
  const Pipeline pipeline = parse(Source{"case", kFields + text});
  OracleInput input;
  input.ni = input.nj = 1;
  input.i = {{z.real()}, {z.imag()}, {x}};
  input.j = {{w.real()}, {w.imag()}, {double(n)}};
  const auto values = interpret(pipeline, input).values;
  return {{values[0][0], values[1][0]}, {values[2][0], values[3][0]}};
}

// In the language and in C++.
struct Case {
  const char* text;
  Complex (*value)(Complex z, Complex w, double x, int n);
};
#define SAME_IN_BOTH(text, value) \
  {text, [](Complex z, Complex w, double x, int n) -> Complex { return (value) + 0.0 * (z + w + x + double(n)); }}

const Complex kI{0, 1};

const Case kCases[] = {
    SAME_IN_BOTH("z + w", z + w),
    SAME_IN_BOTH("z - w * x", z - w * x),
    SAME_IN_BOTH("x - z", x - z),
    SAME_IN_BOTH("-z + +w", -z + w),
    SAME_IN_BOTH("z * w", z* w),
    SAME_IN_BOTH("z / w", z / w),
    SAME_IN_BOTH("x / z", x / z),
    SAME_IN_BOTH("z / x", z / x),
    SAME_IN_BOTH("z / 2i", z / (2.0 * kI)),
    SAME_IN_BOTH("2.5i * z + 1 - 1e-2i * n", 2.5 * kI * z + 1.0 - 1e-2 * kI * double(n)),
    SAME_IN_BOTH("complex(x, n) * conj(w)", Complex(x, n) * std::conj(w)),
    SAME_IN_BOTH("real(z) + imag(w) * 1i", z.real() + w.imag() * kI),
    SAME_IN_BOTH("(real)(z * w) - imag(z * w)", (z * w).real() - (z * w).imag()),
    SAME_IN_BOTH("complex(abs(z), arg(z)) + norm(w)", Complex(std::abs(z), std::arg(z)) + std::norm(w)),
    SAME_IN_BOTH("exp(z)", std::exp(z)),
    SAME_IN_BOTH("exp(1i * x) + exp(complex(x))", std::exp(kI* x) + std::exp(x)),
    SAME_IN_BOTH("log(z)", std::log(z)),
    SAME_IN_BOTH("log(2i * x) + log(complex(x))", std::log(Complex(0, 2 * x)) + std::log(Complex(x, 0))),
    SAME_IN_BOTH("sqrt(z)", std::sqrt(z)),
    SAME_IN_BOTH("sqrt(complex(-x * x)) + sqrt(1i * x)", std::sqrt(Complex(-x* x, 0)) + std::sqrt(Complex(0, x))),
    SAME_IN_BOTH("pow(z, 0) + pow(z, 1)", 1.0 + z),
    SAME_IN_BOTH("pow(z, 5)", z* z* z* z* z),
    SAME_IN_BOTH("pow(z, -3)", 1.0 / (z * z * z)),
    SAME_IN_BOTH("pow(z, x)", std::pow(z, x)),
    SAME_IN_BOTH("pow(z, n)", std::pow(z, double(n))),
    SAME_IN_BOTH("pow(z, 0.5)", std::pow(z, 0.5)),
    SAME_IN_BOTH("pow(z, w)", std::pow(z, w)),
    SAME_IN_BOTH("pow(2, w)", std::pow(Complex(2), w)),
    SAME_IN_BOTH("x > 0 ? z : 1", x > 0 ? z : 1.0),
    SAME_IN_BOTH("select(x > 0, z, w)", x > 0 ? z : w),
};

void expect_near(Complex got, Complex expected, double error, const std::string& what) {
  EXPECT_LE(std::abs(got - expected), error * std::abs(expected) + 1e-300)
      << what << ": " << got.real() << " + " << got.imag() << "i, expected " << expected.real() << " + "
      << expected.imag() << "i";
}

const std::vector<Complex> kPoints{{0.7, -1.3}, {-0.4, 0.9}, {1, 1},     {-2, -2},         {3, 0},
                                   {-3, 0},     {0, 2},      {0, -0.25}, {1 + 1e-9, 1e-9}, {-1.5, 1e-7}};

TEST(lower_complex, computes_what_cpp_computes) {
  for (const Case& c : kCases)
    for (std::size_t k = 0; k < kPoints.size(); ++k) {
      const Complex z = kPoints[k], w = kPoints[(3 * k + 1) % kPoints.size()];
      const double x = k % 3 == 0 ? -1.25 : 0.75;
      const int n = int(k % 5) - 2;
      expect_near(result_of(fmt::format("s += {};", c.text), z, w, x, n).s, c.value(z, w, x, n), 4e-15,
                  fmt::format("{} at {} + {}i", c.text, z.real(), z.imag()));
    }
}

// Squares of these are beyond the range of a double.
TEST(lower_complex, keeps_its_digits_over_the_whole_range) {
  const char* const texts[] = {"z / w", "log(z)", "sqrt(z)", "abs(z)"};
  Complex (*const values[])(Complex, Complex) = {
      [](Complex z, Complex w) { return z / w; }, [](Complex z, Complex) { return std::log(z); },
      [](Complex z, Complex) { return std::sqrt(z); }, [](Complex z, Complex) { return Complex(std::abs(z)); }};
  for (const double size : {1e-250, 1e-160, 1e160, 1e250})
    for (const Complex& direction : kPoints)
      for (std::size_t k = 0; k < std::size(texts); ++k) {
        const Complex z = size * direction, w = size * Complex(-0.3, 0.8);
        expect_near(result_of(fmt::format("s += {};", texts[k]), z, w, 1, 1).s, values[k](z, w), 4e-15,
                    fmt::format("{} at {} + {}i", texts[k], z.real(), z.imag()));
      }
}

// Fast math must not regroup what keeps the squares away, also if the text computes such squares itself.
TEST(lower_complex, keeps_its_digits_through_all_passes) {
  for (const char* const other : {"z * z", "norm(z)", "norm(w) + norm(z)", "norm(z) == 0.0 ? 1.0 : 0.0"})
    for (const Precision precision : {Precision::Single, Precision::Double})
      for (const Isa isa : {Isa::Sse2, Isa::Avx512}) {
        const Pipeline pipeline =
            optimize(parse(Source{"case", kFields + fmt::format("s += w / z + log(z) + sqrt(z); g += {};", other)}),
                     {.precision = precision}, facts(isa).target);
        for (const double size : {1e-250, 1e-30, 1e30, 1e250}) {
          const Complex z(0.3 * size, -0.4 * size), w(0.6 * size, 0.7 * size);
          OracleInput input;
          input.ni = input.nj = 1;
          input.i = {{z.real()}, {z.imag()}, {1}};
          input.j = {{w.real()}, {w.imag()}, {1}};
          const auto values = interpret(pipeline, input).values;
          expect_near({values[0][0], values[1][0]}, w / z + std::log(z) + std::sqrt(z), 1e-13,
                      fmt::format("beside {} at {}", other, size));
        }
      }
}

TEST(lower_complex, keeps_nan) {
  const double nan = std::nan("");
  for (const Complex z : {Complex(nan, 0), Complex(0, nan), Complex(nan, 1), Complex(1, nan)}) {
    EXPECT_TRUE(std::isnan(result_of("s += log(z);", z, 1, 1, 1).s.real()));
    EXPECT_TRUE(std::isnan(std::abs(result_of("s += w / z;", z, 1, 1, 1).s)));
  }
  for (const char* const quotient : {"s += w / z;", "s += 1.0 / z;"})
    EXPECT_FALSE(std::isfinite(std::abs(result_of(quotient, 0, {1, 2}, 1, 1).s)));
}

TEST(lower_complex, reads_imaginary_literals_as_real_ones) {
  const auto warnings_of = [](const std::string& literal) {
    std::vector<Diagnostic> warnings;
    const Pipeline pipeline =
        parse(Source{"case", "input_j real x; output(sum) complex s; s += x * " + literal + ";"}, &warnings);
    std::string said;
    for (const Diagnostic& warning : warnings) said += warning.message + "\n";
    return said;
  };
  EXPECT_EQ(warnings_of("2.5e-3i"), "");
  EXPECT_EQ(
      warnings_of("9007199254740993i"),
      "9007199254740993 is not kept exactly: beyond 2^53 a constant is the nearest double, here 9007199254740992\n");
  EXPECT_EQ(warnings_of("1e400i"), "1e400 is infinite: the largest number is 1.8e308\n");
  EXPECT_EQ(warnings_of("1e-400i"), "1e-400 is 0: the smallest number is 4.9e-324\n");
  EXPECT_EQ(result_of("s += 1.00000000000000011102230246251565404236316680908203126i;", 1, 1, 1, 1).s.imag(),
            1.0000000000000002);
}

TEST(lower_complex, knows_zero) {
  EXPECT_EQ(result_of("s += sqrt(z); g += exp(z);", 0, 1, 1, 1).s, 0.0);
  EXPECT_EQ(result_of("s += sqrt(z); g += exp(z);", 0, 1, 1, 1).g, 1.0);
  EXPECT_EQ(result_of("s += log(z);", 0, 1, 1, 1).s, Complex(-HUGE_VAL, 0));
  EXPECT_EQ(result_of("s += pow(z, x); g += pow(z, 0);", 0, 1, 2.5, 1).s, 0.0);
  EXPECT_EQ(result_of("s += pow(z, x); g += pow(z, 0);", 0, 1, 2.5, 1).g, 1.0);
}

// u = a Re f + b Im f has the derivative (a Re f' + b Im f') + i (b Re f' - a Im f') by z.
TEST(lower_complex, differentiates_by_both_parts) {
  struct Function {
    const char* text;
    Complex (*derivative)(Complex z, Complex w);
  };
  const Function functions[] = {
      {"z * z * w", [](Complex z, Complex w) { return 2.0 * z * w; }},
      {"w / z", [](Complex z, Complex w) { return -w / (z * z); }},
      {"exp(z * w)", [](Complex z, Complex w) { return w * std::exp(z * w); }},
      {"log(z)", [](Complex z, Complex) { return 1.0 / z; }},
      {"sqrt(z)", [](Complex z, Complex) { return 0.5 / std::sqrt(z); }},
      {"pow(z, 3)", [](Complex z, Complex) { return 3.0 * z * z; }},
      {"pow(z, 2.5)", [](Complex z, Complex) { return 2.5 * std::pow(z, 1.5); }},
      {"pow(z, w)", [](Complex z, Complex w) { return w * std::pow(z, w - 1.0); }},
  };
  for (const Function& f : functions)
    for (const Complex& z : kPoints) {
      const Complex w(0.4, -0.7), d = f.derivative(z, w);
      // A root has a cut there.
      if (z.imag() == 0 && z.real() < 0) continue;
      const std::string text =
          fmt::format("complex f = {}; g += grad(3.0 * real(f) - 2.0 * imag(f), z); s += ddt(f, z, 1i);", f.text);
      const Result got = result_of(text, z, w, 1, 1);
      expect_near(got.g, {3 * d.real() - 2 * d.imag(), -2 * d.real() - 3 * d.imag()}, 1e-13,
                  fmt::format("grad of {} at {} + {}i", f.text, z.real(), z.imag()));
      expect_near(got.s, kI * d, 1e-13, fmt::format("ddt of {} at {} + {}i", f.text, z.real(), z.imag()));
    }
  const Result of_modulus = result_of("g += grad(abs(z), z); s += grad(norm(z), z);", {3, -4}, 1, 1, 1);
  expect_near(of_modulus.g, {0.6, -0.8}, 1e-15, "grad of abs");
  expect_near(of_modulus.s, {6, -8}, 1e-15, "grad of norm");
}

TEST(lower_complex, assigns_changes_and_passes) {
  const std::string text =
      "complex twice(complex a) { return a + a; }\n"
      "void turn(complex& a, real by) { a *= exp(1i * by); }\n"
      "complex all[3] = {z, 2, w};\n"
      "complex a = 1;\n"
      "a += z; a -= 2i; a *= w; a /= 2;\n"
      "turn(a, 0.5);\n"
      "for (int k = 0; k < 3; ++k) a += twice(all[k]);\n"
      "if (x > 0.0) a = conj(a);\n"
      "s += a; g -= 1;";
  const Complex z(0.3, 2), w(-1, 0.6);
  for (const double x : {1.0, -1.0}) {
    Complex a = (1.0 + z - 2.0 * kI) * w / 2.0 * std::exp(0.5 * kI) + 2.0 * (z + 2.0 + w);
    if (x > 0) a = std::conj(a);
    const Result got = result_of(text, z, w, x, 1);
    expect_near(got.s, a, 1e-15, "a");
    EXPECT_EQ(got.g, -1.0);
  }
}

// Operations of pairs: those of a side alone are not counted.
TEST(lower_complex, spends_nothing_on_parts_that_are_zero) {
  const auto operations = [](const std::string& text) {
    return parse(Source{"case", "input_i real k; input_j real r;\n" + text}).raw_operations;
  };
  EXPECT_EQ(operations("output(sum) complex s; s += exp(1i * k * r) / r;"),
            operations("output(sum) real a, b; real t = k * r; a += cos(t) / r; b += sin(t) / r;"));
  EXPECT_EQ(operations("output(sum) complex s; s += pow(2i * k * r, 3);"),
            operations("output(sum) real a, b; real t = 2.0 * k * r; a += 0.0; b -= t * t * t;"));
}

TEST(lower_complex, finishes_and_fills_fields) {
  const Pipeline pipeline = parse(Source{
      "case",
      "input_j complex q[2]; param complex k = 1.5 - 2i; param complex t[3] = {1, 2i, complex(3, 4)}; input_j int "
      "n; output(sum) complex s[2]; output(total) complex e; output(softmax) complex m;\n"
      "s[0] += q[1] * k; s[1] += t[n]; e += q[0]; m = softmax(m, 0.0, q[0]);\n"
      "void finish() { s[0] = s[0] * s[1]; s[1] = abs(s[1]); }"});
  OracleInput input;
  input.ni = 1, input.nj = 2;
  input.j = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {2, 1}};
  input.params = {1.5, -2, 1, 0, 0, 2, 3, 4};
  const auto values = interpret(pipeline, input).values;
  const Complex k(1.5, -2), first = Complex(11, 15) * k, second(3, 6);
  expect_near({values[0][0], values[1][0]}, first * second, 1e-15, "s[0]");
  expect_near({values[2][0], values[3][0]}, std::abs(second), 1e-15, "s[1]");
  expect_near({values[4][0], values[5][0]}, {3, 7}, 1e-15, "e");
  expect_near({values[6][0], values[7][0]}, {1.5, 3.5}, 1e-15, "m");
  const Pipeline payload = parse(Source{"case",
                                        "input_j real x; output(argmin) index n; output(at) complex v; "
                                        "n = argmin(n, x); v = at(n, 2.0 * x);"});
  OracleInput two;
  two.ni = 1, two.nj = 2;
  two.j = {{5, 3}};
  EXPECT_EQ(interpret(payload, two).values[1][0], 6);
  EXPECT_EQ(interpret(payload, two).values[2][0], 0);
  for (const Field& field : pipeline.fields) EXPECT_EQ(field.is_complex, field.name != "n") << field.name;
}

}  // namespace
}  // namespace nbcc
