// What a text means: as IR where the shape matters, else as numbers, by the interpreter against C++ written by hand.
#include "compiler/source/parse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

#include "compiler/ir/bessel.h"
#include "compiler/ir/interpret.h"
#include "compiler/ir/print.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

Pipeline parsed(const std::string& text) { return parse(Source{"p.pipe", text}); }

using Pair = std::function<double(double, double)>;

// xi and xj are given, what is added to s is asked.
double of_pair(const std::string& statements, double xi, double xj) {
  const Pipeline pipeline = parsed("input_i real xi;\ninput_j real xj;\noutput(sum) real s;\n" + statements);
  OracleInput input{.ni = 1, .nj = 1, .i = {{xi}}, .j = {{xj}}, .params = {}};
  return interpret(pipeline, input).values[0][0];
}

void expect_same(const std::string& statements, const Pair& wanted) {
  for (const auto& [xi, xj] :
       {std::pair(0.25, 0.75), std::pair(0.75, 0.25), std::pair(3.0, -2.0), std::pair(-1.5, -1.5)}) {
    const double value = of_pair(statements, xi, xj), expected = wanted(xi, xj);
    EXPECT_NEAR(value, expected, 1e-14 * std::fabs(expected)) << statements << "\nxi = " << xi << ", xj = " << xj;
  }
}

// ---- statements ----

TEST(parse_if, both_branches_and_nesting) {
  expect_same(
      "real a, b = 1;\n"
      "if (xi < xj) { a = 1; b = 2; if (xj > 0.5) { a = b; b = b + 1; a += b; } }\n"
      "else if (xi == xj) { a = 3; }\n"
      "else { a = 4; b = a; real a = 9; b += a; }\n"
      "s += 10 * a + b;",
      [](double xi, double xj) {
        double a, b = 1;
        if (xi < xj) {
          a = 1, b = 2;
          if (xj > 0.5) a = b, b = b + 1, a += b;
        } else if (xi == xj) {
          a = 3;
        } else {
          a = 4, b = 13;
        }
        return 10 * a + b;
      });
}

TEST(parse_if, guards_contributions) {
  expect_same("if (xj > 0) { s += 1; if (xi > 0.5) s += 10; else s -= 100; } else { s += 1000; }\ns += 0.5;",
              [](double xi, double xj) { return (xj > 0 ? (xi > 0.5 ? 11.0 : -99.0) : 1000.0) + 0.5; });
}

TEST(parse_if, constant_condition_takes_one_branch) {
  EXPECT_EQ(of_pair("real a;\nif (2 > 1) a = xj; else a = 1 / xi;\ns += a;", 0, 5), 5);
}

TEST(parse_if, a_block_has_its_own_names) {
  expect_same("real a = xi;\n{ real a = xj; s += a; }\ns += 2 * a;", [](double xi, double xj) { return xj + 2 * xi; });
}

TEST(parse_for, is_unrolled) {
  expect_same(
      "real a = 0;\nfor (int k = 1; k <= 4; k += 1) { a = a * xi + k; for (int l = k; l > 2; --l) a += xj; }\ns += a;",
      [](double xi, double xj) {
        double a = 0;
        for (int k = 1; k <= 4; ++k) {
          a = a * xi + k;
          for (int l = k; l > 2; --l) a += xj;
        }
        return a;
      });
}

TEST(parse_for, may_have_as_many_rounds_as_the_limit_says) {
  EXPECT_EQ(of_pair("real a = 0; for (int k = 0; k < 10000; ++k) a += 1; s += a;", 0, 0), 10000);
}

TEST(parse_skip_if, leaves_the_pair_out_wherever_it_stands) {
  expect_same("s += 1;\nif (xi > 0.5) skip_if(xj < 0);\nskip_if(xi == xj);\ns += xj;",
              [](double xi, double xj) { return (xi > 0.5 && xj < 0) || xi == xj ? 0 : 1 + xj; });
}

TEST(parse, two_declarations_of_which_one_uses_the_other) {
  EXPECT_EQ(of_pair("real x = 3, y = x * 2; s += y;", 0, 0), 6);
}

TEST(parse, empty_statements_and_comma) { EXPECT_EQ(of_pair("real a, b;; a = 1, b = 2;\n{}\n;s += a + b;", 0, 0), 3); }

// ---- functions ----

// Clang's parser reports such comments, which ended the process.
TEST(parse, comments_that_look_like_doxygen) {
  for (const char* comment : {"//< a", "//!< a", "///< a", "/*< a */", "/**< a */", "/// \\param nothing", "/** a */"})
    EXPECT_EQ(of_pair(std::string(comment) + "\ns += xi + xj; " + comment + "\n", 1, 2), 3) << comment;
}

TEST(parse_function, early_returns) {
  expect_same(
      "real f(real x) { if (x < 0) { return -x; } else if (x > 2) { x = 2; return x; } x += 1; return x; }\n"
      "s += f(xi) + 10 * f(f(xj));",
      [](double xi, double xj) {
        const auto f = [](double x) { return x < 0 ? -x : x > 2 ? 2 : x + 1; };
        return f(xi) + 10 * f(f(xj));
      });
}

TEST(parse_function, returns_out_of_a_loop) {
  expect_same(
      "real f(real x) { for (int k = 0; k < 3; ++k) { if (x < k) return k + x; x *= 2; } return x; }\ns += f(xi);",
      [](double x, double) {
        for (int k = 0; k < 3; ++k) {
          if (x < k) return k + x;
          x *= 2;
        }
        return x;
      });
}

TEST(parse_function, return_in_both_branches_of_a_nested_if) {
  expect_same("real f(real x, real y) { if (x > 0) { if (y > 0) return 1; x = 5; } return x; }\ns += f(xi, xj);",
              [](double x, double y) { return x > 0 ? (y > 0 ? 1 : 5) : x; });
}

TEST(parse_function, constant_references_defaults_auto_and_forward_declarations) {
  expect_same(
      "real g(real x);\nauto square(const real& a) { return a * a; }\n"
      "real f(const real& a, real b = 2) { return g(a) + b * square(a); }\nreal g(real x) { return x - 1; }\n"
      "s += f(xi) + f(xj, 3);",
      [](double xi, double xj) { return xi - 1 + 2 * xi * xi + xj - 1 + 3 * xj * xj; });
}

TEST(parse_function, its_variables_are_its_own) {
  expect_same("real x = 7;\nreal f(real a) { real x = a; x += 1; return x; }\ns += f(xi) + x;",
              [](double xi, double) { return xi + 8; });
}

// ---- vectors and arrays ----

TEST(parse_vector, operators_and_components) {
  expect_same(
      "vec3 a = vec3(xi, 2, xj), b{1, xj, -1}, c = vec3(3);\n"
      "a -= b; a *= 2; a.x += 1; a[1] = a.z - a[0]; c = -a / 4 + (xi * c) * 2;\n"
      "s += dot(a, c) + cross(a, b).y + length(b) + (a + c)[2] + normalize(c).x;",
      [](double xi, double xj) {
        double a[3] = {2 * (xi - 1) + 1, 0, 2 * (xj + 1)}, b[3] = {1, xj, -1}, c[3];
        a[1] = a[2] - a[0];
        for (int k = 0; k < 3; ++k) c[k] = -a[k] / 4 + xi * 3 * 2;
        const double cc = std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        return a[0] * c[0] + a[1] * c[1] + a[2] * c[2] + (a[2] * b[0] - a[0] * b[2]) + std::sqrt(2 + xj * xj) + a[2] +
               c[2] + c[0] / cc;
      });
}

TEST(parse_vector, functions_work_by_component) {
  expect_same(
      "vec2 a = vec2(xi, xj), b = vec2(0.5, -0.5);\n"
      "vec2 c = min(a, b) + 2 * max(a, b) + 3 * abs(a) + 5 * clamp(a, vec2(-1), vec2(1)) + 7 * floor(a);\n"
      "c += select(xi > xj, a, b) + nearest_image(a, 2.0);\ns += c.x + 100 * c.y + cross(a, b);",
      [](double xi, double xj) {
        const auto part = [&](double a, double b) {
          return std::min(a, b) + 2 * std::max(a, b) + 3 * std::fabs(a) + 5 * std::clamp(a, -1.0, 1.0) +
                 7 * std::floor(a) + (xi > xj ? a : b) + a - 2 * std::nearbyint(a / 2);
        };
        return part(xi, 0.5) + 100 * part(xj, -0.5) + xi * -0.5 - xj * 0.5;
      });
}

TEST(parse_array, of_numbers_and_of_vectors) {
  expect_same(
      "real a[4] = {xi, 2};\nvec2 v[2] = {vec2(xi, xj), vec2(1)};\nvec2 u[2];\nu[0] = v[1];\nu[1].x = xj;\nu[1][1] = "
      "3;\n"
      "for (int k = 0; k < 2; ++k) a[k + 2] = a[k] + v[k].y + u[k][0];\ns += a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3] + "
      "u[1].y;",
      [](double xi, double xj) { return xi + 4 + 3 * (xi + xj + 1) + 4 * (2 + 1 + xj) + 3; });
}

// ---- fields ----

TEST(parse_output, components_elements_and_arrays) {
  const Pipeline p = parsed(
      "input_j real m;\noutput(sum) vec3 a;\noutput(sum) real b[2];\noutput(sum) vec2 c[2];\n"
      "a.x += m; a[1] -= 2 * m; a += vec3(10); b[0] += m; for (int k = 0; k < 2; ++k) b[k] += k; c[1].y += m; c[0] += "
      "vec2(m);");
  const auto values = interpret(p, {.ni = 1, .nj = 1, .i = {}, .j = {{3}}, .params = {}}).values;
  const std::vector<double> expected{13, 4, 10, 3, 1, 3, 3, 0, 3};
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(values[k][0], expected[k]) << k;
}

TEST(parse_output, every_reduction) {
  const Pipeline p = parsed(
      "input_j real x;\noutput(sum) real total;\noutput(min) real low;\noutput(max) double high;\n"
      "output(argmin) index near;\noutput(argmax) index far;\noutput(sum) int count;\n"
      "double r2 = x * x;\ntotal += x; total -= 1; low = min(low, x); high = max(x, high); near = argmin(near, r2);\n"
      "far = argmax(far, r2); count += 1; ++count; if (x > 0) count--;");
  const auto values = interpret(p, {.ni = 1, .nj = 4, .i = {}, .j = {{3, -1, 1, -4}}, .params = {}}).values;
  const std::vector<double> expected{-1 - 4, -4, 3, 1, 3, 6};
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(values[k][0], expected[k]) << k;
}

TEST(parse_output, two_contributions_to_a_minimum) {
  const Pipeline p =
      parsed("input_j real x;\noutput(min) real low;\nif (x > 0) low = min(low, x);\nlow = min(low, 10 - x);");
  const auto values = interpret(p, {.ni = 1, .nj = 2, .i = {}, .j = {{-5, 3}}, .params = {}}).values;
  EXPECT_EQ(values[0][0], 3);
}

TEST(parse_param, defaults) {
  const Pipeline p = parsed(
      "#define THIRD (1.0 / 3)\nparam real a = 2 * THIRD;\nparam vec2 v = vec2(1, -2);\nparam real w[3] = {1, "
      "2};\nparam int n = 3;\n"
      "param real open;\noutput(sum) real s;\ns += a + v.x + w[0] + n + open;");
  EXPECT_EQ(p.find("a")->defaults, std::vector<double>{2 * (1.0 / 3)});
  EXPECT_EQ(p.find("v")->defaults, (std::vector<double>{1, -2}));
  EXPECT_EQ(p.find("w")->defaults, (std::vector<double>{1, 2, 0}));
  EXPECT_EQ(p.find("n")->type, Type::Int);
  EXPECT_TRUE(p.find("open")->defaults.empty());
}

TEST(parse_field, keeps_the_comment_and_the_place) {
  const Pipeline p = parsed("input_j real mj;  // its mass, in kg\noutput(sum) real s;\ns += mj;");
  EXPECT_EQ(p.find("mj")->comment, "its mass, in kg");
  EXPECT_EQ(p.find("mj")->where, (Location{1, 14}));
}

TEST(parse_finish, reads_outputs_inputs_params_and_what_depends_on_i_alone) {
  const Pipeline p = parsed(
      "input_i real xi;\ninput_j real xj;\nparam real a = 2;\noutput(sum) real s, n;\noutput(sum) real mean;\n"
      "real twice = 2 * xi;\nreal half(real x) { return x / 2; }\ns += xj;\nn += 1;\n"
      "void finish() { mean = n > 0 ? s / n : 0; if (twice > 1) { real q = half(s); s = q + a; } else s = twice + "
      "i_index; }");
  const auto values = interpret(p, {.ni = 2, .nj = 2, .i = {{1, 0.25}}, .j = {{4, 8}}, .params = {3}}).values;
  EXPECT_EQ(values[0], (std::vector<double>{9, 1.5}));
  EXPECT_EQ(values[2], (std::vector<double>{6, 6}));
}

// ---- types ----

struct Typed {
  const char* statements;
  const char* dump;  // of the pair's graph
};

TEST(parse_types, join_as_the_language_says) {
  const Typed table[] = {
      {"s += 0.5 * xj;", "  %0 = const.real 0.5\n  %1 = input_j.real 0\n  %2 = mul.real %0 %1\n"},
      {"s += 0.5f;", "  %0 = const.real 0.5\n"},
      {"double d = xj; s += exp(d);",
       "  %0 = input_j.real 0\n  %1 = cast.double %0\n  %2 = exp.double %1\n  %3 = cast.real %2\n"},
      {"s += int(xj) + 1;",
       "  %0 = input_j.real 0\n  %1 = cast.int %0\n  %2 = const.int 1\n  %3 = add.int %1 %2\n  %4 = cast.real %3\n"},
      {"s += j_index;", "  %0 = j_index.index\n  %1 = cast.real %0\n"},
      {"s += max(xj, 0);", "  %0 = input_j.real 0\n  %1 = const.real 0\n  %2 = max.real %0 %1\n"},
      {"s += sqrt(i_index);", "  %0 = i_index.index\n  %1 = cast.real %0\n  %2 = sqrt.real %1\n"},
      {"s += float(xj);", "  %0 = input_j.real 0\n  %1 = cast.float %0\n  %2 = cast.real %1\n"},
      {"auto y = xj; s += static_cast<double>(y) > 1;",
       "  %0 = input_j.real 0\n  %1 = cast.double %0\n  %2 = const.double 1\n  %3 = lt.bool %2 %1\n  %4 = cast.real "
       "%3\n"},
  };
  for (const Typed& t : table) {
    const Pipeline p = parsed("input_j real xj;\noutput(sum) real s;\n" + std::string(t.statements));
    std::string dump = print(p.pair, p.roots());
    for (std::size_t at; (at = dump.find(" ;")) != std::string::npos;) {
      std::size_t begin = dump.find_last_not_of(' ', at) + 1;
      dump.erase(begin, dump.find('\n', at) - begin);
    }
    EXPECT_EQ(dump, t.dump) << t.statements;
  }
}

TEST(parse_types, an_unsuffixed_number_keeps_its_digits) { EXPECT_EQ(of_pair("s += 0.1;", 0, 0), 0.1); }

TEST(parse_types, integers_divide_as_in_c) {
  expect_same("int k = int(xi * 10), l = 3; k /= l; k += k % 4; s += k - 7 / 2;", [](double xi, double) {
    int k = int(xi * 10);
    k /= 3;
    k += k % 4;
    return k - 3;
  });
}

// ---- built-in functions ----

struct Function {
  const char* text;
  Pair value;
};

TEST(parse_functions, every_one) {
  const double pi = std::acos(-1.0);
  const Function table[] = {
      {"sqrt(xi + 2)", [](double x, double) { return std::sqrt(x + 2); }},
      {"rsqrt(xi + 2)", [](double x, double) { return 1 / std::sqrt(x + 2); }},
      {"cbrt(xi)", [](double x, double) { return std::cbrt(x); }},
      {"exp(xi)", [](double x, double) { return std::exp(x); }},
      {"exp2(xi)", [](double x, double) { return std::exp2(x); }},
      {"log(xi + 2)", [](double x, double) { return std::log(x + 2); }},
      {"log2(xi + 2)", [](double x, double) { return std::log2(x + 2); }},
      {"sin(xi)", [](double x, double) { return std::sin(x); }},
      {"cos(xi)", [](double x, double) { return std::cos(x); }},
      {"tan(xi)", [](double x, double) { return std::tan(x); }},
      {"sinpi(xi / 4)", [pi](double x, double) { return std::sin(pi * x / 4); }},
      {"cospi(xi / 5)", [pi](double x, double) { return std::cos(pi * x / 5); }},
      {"asin(xi / 4)", [](double x, double) { return std::asin(x / 4); }},
      {"acos(xi / 4)", [](double x, double) { return std::acos(x / 4); }},
      {"atan(xi)", [](double x, double) { return std::atan(x); }},
      {"sinh(xi)", [](double x, double) { return std::sinh(x); }},
      {"cosh(xi)", [](double x, double) { return std::cosh(x); }},
      {"tanh(xi)", [](double x, double) { return std::tanh(x); }},
      {"expm1(xi)", [](double x, double) { return std::expm1(x); }},
      {"log1p(xi + 2)", [](double x, double) { return std::log1p(x + 2); }},
      {"log10(xi + 2)", [](double x, double) { return std::log10(x + 2); }},
      {"asinh(xi)", [](double x, double) { return std::asinh(x); }},
      {"acosh(xi + 3)", [](double x, double) { return std::acosh(x + 3); }},
      {"atanh(xi / 4)", [](double x, double) { return std::atanh(x / 4); }},
      {"lgamma(xi + 3)", [](double x, double) { return std::lgamma(x + 3); }},
      {"tgamma(xi + 3)", [](double x, double) { return std::tgamma(x + 3); }},
      {"bessel_j0(xi)", [](double x, double) { return bessel_j0(x); }},
      {"bessel_j1(xi)", [](double x, double) { return bessel_j1(x); }},
      {"bessel_k0(xi + 3)", [](double x, double) { return bessel_k0(x + 3); }},
      {"bessel_k1(xi + 3)", [](double x, double) { return bessel_k1(x + 3); }},
      {"bessel_i0(xi)", [](double x, double) { return bessel_i0(x); }},
      {"bessel_i1(xi)", [](double x, double) { return bessel_i1(x); }},
      {"sign(xi)", [](double x, double) { return double(x > 0) - double(x < 0); }},
      {"hypot(xi, xj)", [](double x, double y) { return std::hypot(x, y); }},
      {"fmod(xi, xj)", [](double x, double y) { return std::fmod(x, y); }},
      {"erf(xi)", [](double x, double) { return std::erf(x); }},
      {"erfc(xi)", [](double x, double) { return std::erfc(x); }},
      {"floor(xi)", [](double x, double) { return std::floor(x); }},
      {"ceil(xi)", [](double x, double) { return std::ceil(x); }},
      {"round(xi)", [](double x, double) { return std::round(x); }},
      {"trunc(xi)", [](double x, double) { return std::trunc(x); }},
      {"fabs(xi)", [](double x, double) { return std::fabs(x); }},
      {"abs(int(xi))", [](double x, double) { return std::abs(int(x)); }},
      {"min(xi, xj)", [](double x, double y) { return std::min(x, y); }},
      {"max(xi, 1)", [](double x, double) { return std::max(x, 1.0); }},
      {"pow(xi + 2, xj)", [](double x, double y) { return std::pow(x + 2, y); }},
      {"atan2(xi, xj)", [](double x, double y) { return std::atan2(x, y); }},
      {"copysign(xi, xj)", [](double x, double y) { return std::copysign(x, y); }},
      {"fma(xi, xj, 2)", [](double x, double y) { return std::fma(x, y, 2); }},
      {"clamp(xi, 0, 0.5)", [](double x, double) { return std::clamp(x, 0.0, 0.5); }},
      {"select(xi > xj, 1, xj)", [](double x, double y) { return x > y ? 1 : y; }},
      {"nearest_image(xi, 2)", [](double x, double) { return x - 2 * std::nearbyint(x / 2); }},
      {"pi + two_pi + sqrt_pi + euler", [pi](double, double) { return 3 * pi + std::sqrt(pi) + std::exp(1.0); }},
  };
  for (const Function& f : table) expect_same("s += " + std::string(f.text) + ";", f.value);
}

// Texts that were written before these were functions mean what they meant.
TEST(parse_functions, names_that_a_text_declares_are_its_own) {
  expect_same("real sign(real x) { return 3 * x; }\ns += sign(xi) + sign(2);",
              [](double x, double) { return 3 * x + 6; });
  expect_same(
      "real softmax = xi, product = xj, count = 1.0;\nreal logsumexp(real a, real b) { return a - b; }\n"
      "s += logsumexp(softmax, product * count);",
      [](double x, double y) { return x - y; });
  expect_same("real hypot = xi, fmod = xj;\n{ real log10 = 2; s += log10 * hypot; }\ns += fmod + expm1(xi);",
              [](double x, double y) { return 2 * x + y + std::expm1(x); });
  expect_same("real bessel_j0(real x) { return 2 * x; }\nreal bessel_k1 = 3;\ns += bessel_j0(xi) + bessel_k1;",
              [](double x, double) { return 2 * x + 3; });
  expect_same("#define asinh 4\ns += asinh * xi;", [](double x, double) { return 4 * x; });
  expect_same("real both(real atanh, real x) { return atanh - x; }\ns += both(xi, xj);",
              [](double x, double y) { return x - y; });
  const Pipeline fields = parsed(
      "input_i real a, lgamma; input_j real tgamma; output(sum) real sign; "
      "sign += lgamma * tgamma + a;");
  EXPECT_EQ(fields.fields[1].name, "lgamma");
  EXPECT_EQ(fields.fields[3].name, "sign");
  // A use is no declaration.
  expect_same("s += 1 + (xi > 0 ? sign(xj) : -sign(xj)); if (xi > 0) s += hypot(3, 4);", [](double x, double y) {
    const double of_y = double(y > 0) - double(y < 0);
    return 1 + (x > 0 ? of_y + 5 : -of_y);
  });
}

TEST(parse_functions, sincos_sets_two_variables) {
  expect_same("real a, b;\nsincos(2 * xi, a, b);\ns += a + 10 * b;",
              [](double xi, double) { return std::sin(2 * xi) + 10 * std::cos(2 * xi); });
}

TEST(parse_operators, logic_and_comparison) {
  expect_same(
      "bool a = xi > xj, b = !(xi != xj) || xj >= 0;\ns += (a && b ? 1 : 0) + 2 * b + (xi <= xj and not a ? 4 : 8);",
      [](double xi, double xj) {
        const bool a = xi > xj, b = xi == xj || xj >= 0;
        return (a && b ? 1 : 0) + 2 * b + (xi <= xj && !a ? 4 : 8);
      });
}

// ---- Cunbody's dialect ----

double cunbody(const std::string& text, std::vector<double> i, std::vector<double> j, std::size_t output) {
  OracleInput input{.ni = 1, .nj = 1, .i = {}, .j = {}, .params = {}};
  for (double x : i) input.i.push_back({x});
  for (double x : j) input.j.push_back({x});
  return interpret(parsed(text), input).values[output][0];
}

TEST(parse_cunbody, dimensions_are_the_largest_index_used) {
  const Pipeline p = parsed("OUTPUT[2] += INPUT_I[4] * INPUT_J[0];");
  EXPECT_EQ(p.components(Role::InputI), 5);
  EXPECT_EQ(p.components(Role::InputJ), 1);
  EXPECT_EQ(p.components(Role::Output), 3);
}

TEST(parse_cunbody, dimensions_may_come_out_of_a_loop) {
  const std::string text =
      "#define N 3\nfloat d[N];\nfloat r2 = 0.01;\n"
      "for (int k = 0; k < N; ++k) { d[k] = INPUT_J[k] - INPUT_I[k]; r2 += d[k] * d[k]; }\n"
      "for (int k = 0; k < N; k++) OUTPUT[k] += INPUT_J[N] * d[k] / r2;";
  EXPECT_EQ(parsed(text).components(Role::InputJ), 4);
  EXPECT_DOUBLE_EQ(cunbody(text, {1, 2, 3}, {2, 4, 6, 5}, 2), 5 * 3 / 14.01);
}

TEST(parse_cunbody, dimensions_may_be_stated) {
  EXPECT_EQ(parsed("#define IDIM (4)\nOUTPUT[0] += INPUT_I[0];").components(Role::InputI), 4);
}

TEST(parse_cunbody, float_means_real) {
  EXPECT_EQ(parsed("float a = INPUT_J[0]; OUTPUT[0] += a;").fields[0].type, Type::Real);
}

Pipeline seed(const std::string& name) {
  return parse(read_source(test::source_folder() + "/../shared/seed_pipelines/" + name));
}

class seeds : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::source_folder() + "/../shared/seed_pipelines"))
      GTEST_SKIP() << "no seed pipelines here";
  }
};

TEST_F(seeds, force) {
  const auto out = interpret(seed("cunbody_force.pipe"),
                             {.ni = 1, .nj = 1, .i = {{1}, {2}, {3}, {0.5}}, .j = {{3}, {1}, {2}, {7}}, .params = {}});
  const double r3i = std::pow(4 + 1 + 1 + 0.5, -1.5);
  EXPECT_DOUBLE_EQ(out.values[0][0], 7 * 2 * r3i);
  EXPECT_DOUBLE_EQ(out.values[1][0], -7 * r3i);
  EXPECT_DOUBLE_EQ(out.values[2][0], -7 * r3i);
}

TEST_F(seeds, force_jerk_and_potential) {
  const Pipeline p = seed("cunbody_force_jerk_potential.pipe");
  EXPECT_EQ(p.components(Role::InputI), 6);
  EXPECT_EQ(p.components(Role::InputJ), 7);
  EXPECT_EQ(p.components(Role::Output), 7);
  const double x[3] = {2, -1, 1}, v[3] = {0.5, 1, -0.25}, m = 3, eps2 = 1.0 / 65536;
  OracleInput input{.ni = 1, .nj = 1, .i = {}, .j = {}, .params = {}};
  for (int k = 0; k < 6; ++k) input.i.push_back({1});
  for (int k = 0; k < 3; ++k) input.j.push_back({1 + x[k]});
  for (int k = 0; k < 3; ++k) input.j.push_back({1 + v[k]});
  input.j.push_back({m});
  const auto values = interpret(p, input).values;
  const double r2 = 6 + eps2, xv = 1 - 1 - 0.25;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(values[k][0], m * x[k] * std::pow(r2, -1.5), 1e-14);
    EXPECT_NEAR(values[3 + k][0], m * (v[k] * std::pow(r2, -1.5) - 3 * xv * x[k] * std::pow(r2, -2.5)), 1e-14);
  }
  EXPECT_NEAR(std::fabs(values[6][0]), m / std::sqrt(r2), 1e-14);
}

// ---- the text as it comes ----

TEST(parse_text, windows_line_ends_tabs_mark_and_foreign_comments) {
  EXPECT_EQ(of_pair("\t// \xc3\xa9\xe4\xb8\xad\r\n#define TWO 2\r\n\ts += TWO *\r\n  xj;\r\n", 0, 3), 6);
  EXPECT_EQ(parsed("\xef\xbb\xbfinput_j real m;\noutput(sum) real s;\ns += m;").fields.size(), 2u);
}

TEST(parse_text, a_mistake_in_a_macro_is_where_it_is_used) {
  try {
    parsed("#define C (3 * unknown)\noutput(sum) real s;\ns += 1 + C;");
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.diagnostics.at(0).where, (Location{3, 10}));
  }
}

TEST(parse_text, the_same_text_makes_the_same_graph) {
  const std::string path = test::source_folder() + "/pipelines/sph_force.pipe";
  EXPECT_EQ(print(parse(read_source(path))), print(parse(read_source(path))));
}

}  // namespace
}  // namespace nbcc
