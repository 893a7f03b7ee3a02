// What the language computes beside real numbers: bits, unsigned and random numbers, matrices, functions that leave
// results in their arguments. On every device of this machine against the same in C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using Reals = std::vector<double>;
using Numbers = std::vector<std::int64_t>;

ArrayView view(Reals& values) { return {values.data(), Element::Double, std::int64_t(values.size()), 8, 0}; }
ArrayView view(Numbers& values) { return {values.data(), Element::Int64, std::int64_t(values.size()), 8, 0}; }

void on_every_device(const std::string& text,
                     const std::function<void(std::shared_ptr<const Kernel>, const std::string&)>& test) {
  const Pipeline pipeline = parse({"language.pipe", text});
  // A device takes one of the precisions for this text, and the other one for others.
  std::size_t turn = text.size();
  const auto precisions = [&] { return sampled({Precision::Single, Precision::Double}, 2, turn++); };
  for (const Isa isa : runnable_isas())
    for (const Precision precision : precisions()) {
      const Options options{.precision = precision};
      CpuDevice device(1, isa, cpu_toolchain(), "", "");
      test(device.load(build_cpu_kernel(pipeline, options, isa, "")), describe(options, isa));
    }
  for (const Precision precision : precisions()) {
    CudaShim shim;
    CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
    test(device.load(build_cuda_kernel(pipeline, {.precision = precision}, "")),
         "shim, " + std::string(name(precision)));
  }
}

// The output `s` of i-particles with indices a, met by one j with the index b.
template <typename Output>
Output results(const std::shared_ptr<const Kernel>& kernel, Numbers a, std::int64_t b) {
  Numbers of_j{b};
  Output s(a.size());
  SumState sum(kernel);
  sum.bind("a", view(a)), sum.bind("b", view(of_j)), sum.bind("s", view(s));
  sum.run();
  sum.wait();
  return s;
}

const Numbers kWholeNumbers{0, 1, 2, 5, 31, 32, 33, 63, 1000, -1, -2, -1000, 2147483647, -2147483648, 123456789};

// Each is an expression of ints a and b, in the pipeline and in C++.
#define SAME_IN_BOTH(expression)                                     \
  {#expression, [](std::int32_t a, std::int32_t b) -> std::int64_t { \
     using index = std::int64_t;                                     \
     return index(expression) + 0 * index(a) * index(b);             \
   }}

TEST(Language, BitsAndUnsignedNumbersAreThoseOfCpp) {
  using Case = std::pair<const char*, std::int64_t (*)(std::int32_t, std::int32_t)>;
  const std::vector<Case> cases{
      SAME_IN_BOTH((a & b) + (a | b) + (a ^ b) + ~a),
      SAME_IN_BOTH((a >> 3) ^ (a << 5)),
      SAME_IN_BOTH(index(a) << 40 >> 7),
      SAME_IN_BOTH((a >> (b & 31)) & 0xff),
      SAME_IN_BOTH(unsigned(a)),
      SAME_IN_BOTH(unsigned(a) * 2654435761u >> 7),
      SAME_IN_BOTH(unsigned(a) / 7u % 1000u),
      SAME_IN_BOTH((unsigned(a) ^ unsigned(b)) < unsigned(a)),
      SAME_IN_BOTH(unsigned(a) + b > 3000000000u ? 1 : 2),
      SAME_IN_BOTH(unsigned(index(a) * 65537)),
      SAME_IN_BOTH(int(unsigned(a) >> 1)),
      SAME_IN_BOTH(index(unsigned(a)) - index(unsigned(b))),
      SAME_IN_BOTH(-unsigned(a)),
      SAME_IN_BOTH(0x7fffffff & a ^ 0x80000000u),
  };
  // One kernel computes all: compiling takes most of the time. -1 is what the shim fills new memory with.
  std::string text = "input_i index a; input_j index b; output(max) index s[" + std::to_string(cases.size()) +
                     "];\nint of_a = int(a), of_b = int(b);\n";
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const std::string number = std::to_string(c), name = "f" + number, s = "s[" + number + "]";
    text += "index " + name + "(int a, int b) { return index(" + cases[c].first + "); }\n" + s + " = max(" + s + ", " +
            name + "(of_a, of_b) + index(1099511627776.0));\n";
  }
  on_every_device(text, [&](const auto& kernel, const auto& where) {
    for (const std::int64_t b : {std::int64_t(77), std::int64_t(-3)}) {
      Numbers a = kWholeNumbers, of_j{b}, s(a.size() * cases.size());
      const auto row = std::int64_t(8 * cases.size());
      SumState sum(kernel);
      sum.bind("a", view(a)), sum.bind("b", view(of_j));
      sum.bind("s", {s.data(), Element::Int64, std::int64_t(a.size()), row, 8});
      sum.run();
      sum.wait();
      for (std::size_t k = 0; k < s.size(); ++k) {
        const auto& [expression, function] = cases[k % cases.size()];
        const std::int64_t of_i = a[k / cases.size()];
        EXPECT_EQ(s[k] - (std::int64_t(1) << 40), function(std::int32_t(of_i), std::int32_t(b)))
            << where << ": " << expression << " of " << of_i << " and " << b;
      }
    }
  });
}

// Built-in functions take an unsigned number for an index.
TEST(Language, FunctionsTakeUnsignedNumbers) {
  on_every_device(
      "input_i index a; input_j index b; output(max) index s[7]; output(min) index low; output(argmin) index near[1];\n"
      "output(at) index with[1]; output(sum) double d[4]; param real t[3] = {5, 6, 7};\n"
      "unsigned u = unsigned(a), v = unsigned(b);\n"
      "s[0] = max(s[0], min(u, v)); s[1] = max(s[1], max(u, v)); s[2] = max(s[2], abs(u));\n"
      "s[3] = max(s[3], clamp(u, 1, 4000000000)); s[4] = max(s[4], select(u > v, u, v));\n"
      "s[5] = max(s[5], u); s[6] = max(s[6], philox(u, 4294967296, 1) - philox(index(u), index(4294967296), 1));\n"
      "low = min(low, u); near = argmin(near, -index(max(u, v))); with = at(near, u);\n"
      "d[0] += double(sqrt(double(u))) - sqrt(double(index(u))); d[1] += double(floor(u)); d[2] += double(t[u]);\n"
      "d[3] += double(table(t, u));",
      [](const auto& kernel, const auto& where) {
        for (const std::int64_t b : {1ll, 3000000000ll})
          for (const std::int64_t a : {0ll, 2ll, 2147483648ll, 4294967295ll}) {
            Numbers of_i{a}, of_j{b}, s(7), low(1), near(1), with(1);
            Reals d(4);
            SumState sum(kernel);
            sum.bind("a", view(of_i)), sum.bind("b", view(of_j)), sum.bind("low", view(low));
            sum.bind("s", {s.data(), Element::Int64, 1, 56, 8});
            sum.bind("near", view(near)), sum.bind("with", view(with));
            sum.bind("d", {d.data(), Element::Double, 1, 32, 8});
            sum.run({.clamp = true});
            sum.wait();
            const std::int64_t least = std::min(a, b), most = std::max(a, b);
            const Numbers expected{least, most, a, std::clamp<std::int64_t>(a, 1, 4000000000), most, a, 0};
            EXPECT_EQ(s, expected) << where << ", " << a << ", " << b;
            EXPECT_EQ(low[0], a) << where;
            EXPECT_EQ(with[0], a) << where;
            const double element = double(5 + std::min<std::int64_t>(a, 2));
            EXPECT_EQ(d[0], 0) << where;
            EXPECT_NEAR(d[1], double(a), 129) << where;  // as a float
            EXPECT_EQ(d[2], element) << where << ", " << a;
            EXPECT_EQ(d[3], element) << where << ", " << a;
          }
      });
}

TEST(Language, RealsBecomeTheNearestUnsignedNumber) {
  on_every_device(
      "input_i index a; input_j index b; output(max) index s;\n"
      "s = max(s, index(unsigned(real(a) * real(b))) + index(real(unsigned(-1 - int(b))) / real(65536)));",
      [](const auto& kernel, const auto& where) {
        const Numbers got = results<Numbers>(kernel, {-5, 0, 3, std::int64_t(1) << 40}, 2);
        // 2^32 - 3 over 2^16, in floats and in doubles.
        const std::int64_t added = where.find("double") == std::string::npos ? 65536 : 65535;
        EXPECT_EQ(got, (Numbers{0 + added, 0 + added, 6 + added, 4294967295 + added})) << where;
      });
}

// The known answers that the authors of Philox4x32-10 publish with it: of zeros, of ones, of the digits of pi.
TEST(Language, PhiloxGivesTheAnswersThatAreKnown) {
  on_every_device(
      "input_i index a; input_j index b; input_i index c; output(max) index s;\ns = max(s, philox(a, b, c));",
      [](const auto& kernel, const auto& where) {
        const auto of = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
          Numbers i{std::int64_t(a)}, j{std::int64_t(b)}, third{std::int64_t(c)}, s(1);
          SumState sum(kernel);
          sum.bind("a", view(i)), sum.bind("b", view(j)), sum.bind("c", view(third)), sum.bind("s", view(s));
          sum.run();
          sum.wait();
          return s[0];
        };
        EXPECT_EQ(of(0, 0, 0), 0x6627e8d5) << where;
        EXPECT_EQ(of(~0ull, ~0ull, ~0ull), 0x408f276d) << where;
        EXPECT_EQ(of(0xa4093822243f6a88, 0x299f31d085a308d3, 0x0370734413198a2e), 0xd16cfe09) << where;
      });
}

// 400 x 500 numbers of pairs and some steps: mean, variance, the share in each of 8 parts, neighbours in i, j and step.
// Bounds are five standard deviations.
TEST(Language, RandomNumbersAreUniformAndIndependent) {
  constexpr int kI = 400, kJ = 500, kParts = 8;
  constexpr double kCount = double(kI) * kJ;
  const std::string uniform = "real u = random(i_index, j_index, 3) - 0.5;\n";
  on_every_device("input_i index a; input_j index b; output(sum) double s[6]; output(sum) int share[8];\n" + uniform +
                      "s[0] += double(u); s[1] += double(u) * double(u);\n"
                      "s[2] += double(u) * double(random(i_index + 1, j_index, 3) - 0.5);\n"
                      "s[3] += double(u) * double(random(i_index, j_index + 1, 3) - 0.5);\n"
                      "s[4] += double(u) * double(random(i_index, j_index, 4) - 0.5);\n"
                      "s[5] += double(u) * double(random(j_index, i_index, 3) - 0.5);\n"
                      "for (int k = 0; k < 8; ++k) { if (int((u + 0.5) * 8) == k) { share[k] += 1; } }",
                  [&](const auto& kernel, const auto& where) {
                    Numbers a(kI), b(kJ);
                    Reals s(6 * kI), share(kParts * kI);
                    SumState sum(kernel);
                    sum.bind("a", view(a)), sum.bind("b", view(b));
                    sum.bind("s", {s.data(), Element::Double, kI, 48, 8});
                    sum.bind("share", {share.data(), Element::Double, kI, 8 * kParts, 8});
                    sum.run();
                    sum.wait();
                    std::array<double, 6> total{};
                    std::array<double, kParts> shares{};
                    for (std::size_t i = 0; i < kI; ++i) {
                      for (std::size_t k = 0; k < 6; ++k) total[k] += s[6 * i + k];
                      for (std::size_t k = 0; k < kParts; ++k) shares[k] += share[kParts * i + k];
                    }
                    const double deviation = 1 / std::sqrt(12 * kCount);
                    EXPECT_LT(std::fabs(total[0] / kCount), 5 * deviation) << where;
                    EXPECT_LT(std::fabs(total[1] / kCount - 1.0 / 12), 5 * std::sqrt(1.0 / 180 / kCount)) << where;
                    for (std::size_t k = 2; k < 6; ++k)
                      EXPECT_LT(std::fabs(total[k] / kCount), 5 * std::sqrt(1.0 / 144 / kCount)) << where << ", " << k;
                    double chi = 0;
                    for (const double n : shares)
                      chi += (n - kCount / kParts) * (n - kCount / kParts) / (kCount / kParts);
                    EXPECT_LT(std::fabs(chi - (kParts - 1)), 5 * std::sqrt(2.0 * (kParts - 1))) << where;
                  });
}

// As a whole, in functions, products and copies, and after the sums.
TEST(Language, FieldsThatAreMatrices) {
  on_every_device(
      "input_i mat2 a; input_j mat2 b; param mat2 m = mat2(vec2(1, 2), vec2(3, 4));\n"
      "output(sum) mat2 sum; output(sum) double s[4];\n"
      "mat2 copy = b; copy[0].x += 1;\n"
      "sum += m * b;\n"
      "s[0] += double(determinant(m) + 10 * trace(a) + 100 * determinant(copy)); s[1] += double((m * b[0]).y);\n"
      "s[2] += double((a + m)[1].x + (2 * b)[1].y);\n"
      "void finish() { s[3] = determinant(sum); sum = sum * m; }",
      [](const auto& kernel, const auto& where) {
        Reals a{2, 3, 5, 7}, b{1, 4, 6, 2}, sum(4), s(4);
        const auto matrix = [](Reals& values) { return ArrayView{values.data(), Element::Double, 1, 32, 8}; };
        SumState state(kernel);
        state.bind("a", matrix(a)), state.bind("b", matrix(b)), state.bind("sum", matrix(sum)),
            state.bind("s", matrix(s));
        state.run();
        state.wait();
        // m b = (13 8 / 27 20)
        EXPECT_EQ(s, (Reals{-2 + 10 * 9 + 100 * (2 * 2 - 4 * 6), 3 * 1 + 4 * 4, 5 + 3 + 2 * 2, 13 * 20 - 8 * 27}))
            << where;
        EXPECT_EQ(sum, (Reals{13 + 24, 26 + 32, 27 + 60, 54 + 80})) << where;
      });
}

// All numbers are small and whole, so that every precision has them exactly.
TEST(Language, MatricesVectorsArraysAndResultsOfFunctions) {
  on_every_device(
      "input_i index a; input_j index b; output(sum) double s[12];\n"
      "real middle(real w[3], vec3 v) { return w[1] * v.y; }\n"
      "void halves(vec3 v, real& low, vec2& high) { low = v.x; high = vec2(v.y, v.z); if (v.x > 4) { low = -1; } }\n"
      "real x = real(int(a)), y = real(int(b));\n"
      "vec3 u = vec3(x, y, 1), v = vec3(2, x, y);\n"
      "mat3 m = mat3(u, v, vec3(1, 0, x)), n = transpose(m);\n"
      "mat2 p = mat2(vec2(x, 2), vec2(y, 3));\n"
      "real low; vec2 high;\n"
      "halves(u, low, high);\n"
      "real w[3] = {1, 5, 2};\n"
      "s[0] += double(determinant(m)); s[1] += double(trace(m * n)); s[2] += double(dot(m * u, v));\n"
      "s[3] += double(dot(u * m, v)); s[4] += double((m - n * 2 + outer(u, v))[2][0]); s[5] += "
      "double(determinant(p));\n"
      "s[6] += double(low + 10 * high.x + 100 * high.y); s[7] += double(middle(w, u));\n"
      "s[8] += double(dot(u * v - v / vec3(1, 2, 4), vec3(1)));\n"
      "s[9] += any(u < v) ? double(1) : double(0); s[10] += all(u <= v) && !all(u == v) ? double(1) : double(0);\n"
      "s[11] += double(dot(select(u > v, u, v) + abs(-sqrt(u * u)), vec3(1, 10, 100)));",
      [](const auto& kernel, const auto& where) {
        for (const double y : {3.0, 6.0})
          for (const double x : {1.0, 2.0, 5.0}) {
            Numbers a{std::int64_t(x)}, b{std::int64_t(y)};
            Reals s(12);
            SumState sum(kernel);
            sum.bind("a", view(a)), sum.bind("b", view(b)), sum.bind("s", {s.data(), Element::Double, 1, 96, 8});
            sum.run();
            sum.wait();
            const std::array<double, 3> u{x, y, 1}, v{2, x, y}, t{1, 0, x};
            const auto dot = [](const auto& c, const auto& d) { return c[0] * d[0] + c[1] * d[1] + c[2] * d[2]; };
            const double det = x * (x * x - y * 0) - y * (2 * x - y * 1) + 1 * (2 * 0 - x * 1);
            double greater = 0, product = 0;
            bool any = false, all = true, equal = true;
            for (std::size_t c = 0; c < 3; ++c) {
              greater += std::pow(10, double(c)) * (std::max(u[c], v[c]) + u[c]);
              product += u[c] * v[c] - v[c] / std::pow(2, double(c));
              any = any || u[c] < v[c], all = all && u[c] <= v[c], equal = equal && u[c] == v[c];
            }
            const Reals expected{det,
                                 dot(u, u) + dot(v, v) + dot(t, t),
                                 dot(u, u) * v[0] + dot(v, u) * v[1] + dot(t, u) * v[2],
                                 u[0] * dot(u, v) + u[1] * dot(v, v) + u[2] * dot(t, v),
                                 t[0] - 2 * u[2] + u[2] * v[0],
                                 x * 3 - 2 * y,
                                 (x > 4 ? -1 : x) + 10 * y + 100,
                                 5 * y,
                                 product,
                                 any ? 1.0 : 0.0,
                                 all && !equal ? 1.0 : 0.0,
                                 greater};
            for (std::size_t k = 0; k < expected.size(); ++k)
              EXPECT_NEAR(s[k], expected[k], 1e-4) << where << ", " << k << ", x = " << x << ", y = " << y;
          }
      });
}

}  // namespace
}  // namespace nbcc::test
