// grad and ddt as texts write them: which variable is meant, and what branches that are not taken do to it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/interpret.h"
#include "compiler/ir/limits.h"
#include "compiler/passes/derive/derivative.h"
#include "compiler/source/parse.h"
#include "compiler/text/own_stack.h"
#include "tests/support/random_source.h"

namespace nbcc {
namespace {

// Of one i and one j: what a text adds to g.
double g_of(const std::string& text, double x, double y) {
  const Pipeline pipeline = parse(Source{"case", "input_i real x; input_j real y; output(sum) real g;\n" + text});
  OracleInput input;
  input.ni = input.nj = 1;
  input.i = {{x}};
  input.j = {{y}};
  for (const Field& field : pipeline.fields)
    if (field.role == Role::Param) input.params = field.defaults;
  return interpret(pipeline, input).values[0][0];
}

TEST(lower_derivative, tells_elements_apart_that_have_been_set_alike) {
  const std::string alike = "real a[2] = {x, y}; a[0] = a[1]; real u = a[0] * 3.0 + a[1] * 5.0;";
  EXPECT_EQ(g_of(alike + "g += grad(u, a[0]);", 2, 7), 3);
  EXPECT_EQ(g_of(alike + "g += grad(u, a[1]);", 2, 7), 8);  // a[0] is made of it
  EXPECT_EQ(g_of("vec2 v = vec2(x, y); v.x = v.y; g += grad(3.0 * v.x + 5.0 * v.y, v).x;", 2, 7), 3);
  EXPECT_EQ(g_of("vec2 v = vec2(x, y); v.x = v.y; g += ddt(3.0 * v.x + 5.0 * v.y, v, vec2(10, 100));", 2, 7), 530);
  EXPECT_EQ(
      g_of("mat2 m = mat2(vec2(x, x * y), vec2(y, x)); m[0].y = m[1].x; g += grad(determinant(m), m[0]).y;", 2, 3), -3);
}

TEST(lower_derivative, does_not_follow_what_a_variable_was_before) {
  const std::string swap = "real a[2] = {x, y}; real old = a[0] * 7.0; real t = a[0]; a[0] = a[1]; a[1] = t;";
  EXPECT_EQ(g_of(swap + "g += grad(a[1] * old, a[1]);", 3, 5), 21);
  EXPECT_EQ(g_of("real a[2] = {x, y}; real u = a[0] * 2.0; a[0] = a[0]; g += grad(u + a[0], a[0]);", 3, 5), 1);
  // Each turn of a loop has a variable of its own.
  EXPECT_EQ(g_of("real last = x * y, s = 0;\n"
                 "for (int k = 0; k < 2; ++k) { real t = last; s += t * t; if (k == 1) g += grad(s, t); last = t; }",
                 2, 3),
            12);
}

TEST(lower_derivative, keeps_the_elements_that_a_branch_leaves_alone) {
  const std::string text = "real a[2] = {x, y}; real u = a[0] * 3.0; if (y > 6.0) a[1] = x; g += grad(u * a[1], ";
  EXPECT_EQ(g_of(text + "a[0]);", 2, 7), 6);
  EXPECT_EQ(g_of(text + "a[0]);", 2, 5), 15);
  EXPECT_EQ(g_of(text + "a[1]);", 2, 7), 6);
}

TEST(lower_derivative, leaves_infinities_of_other_branches_out) {
  EXPECT_EQ(g_of("g += grad(y > 0.0 ? x * log(y) : 0.0, x);", 2, 0), 0);
  EXPECT_EQ(g_of("g += grad(y > 0.0 ? x * log(y) : 0.0, x);", 2, 1), 0);
  EXPECT_EQ(g_of("g += ddt(y > 0.0 ? x * log(y) : 0.0, x, 1.0);", 2, 0), 0);
  const std::string chain =
      "vec3 d = vec3(x - y, 0.0, 0.0); real r2 = dot(d, d), m = 1.0 / sqrt(r2), u = 0;\n"
      "if (r2 > 1.0) u = m; else if (r2 > 0.0) u = 2.0 * m;\ng += grad(u, x);";
  EXPECT_EQ(g_of(chain, 3, 3), 0);
  EXPECT_EQ(g_of(chain, 3.5, 3), -8);
  EXPECT_EQ(g_of(chain, 5, 3), -0.25);
  // What comes by both branches, by one of them only under a condition of its own.
  const std::string both =
      "real m = sqrt(x), u = 0;\nif (y > 0.0) { u = m; } else { if (y < -1.0) u = 3.0 * m; }\ng += grad(u + x, x);";
  EXPECT_EQ(g_of(both, 0, -0.5), 1);
  EXPECT_EQ(g_of(both, 4, 1), 1.25);
  EXPECT_EQ(g_of(both, 4, -2), 1.75);
}

// Where the value is finite, and an exponential or the square of a hyperbolic cosine in it is not.
TEST(lower_derivative, is_finite_where_the_value_is) {
  const std::string texts[] = {
      "real u = 1.0 / (1.0 + exp(-x));",         "real u = y / (exp(-x) + 1.0);",  "real u = 1.0 / (exp(-x) - 1.0);",
      "real u = 1.0 / (1.0 - exp2(-x));",        "real u = exp(-exp(-x));",        "real u = 1.0 / cosh(x);",
      "real u = pow(1.0 + exp(-x), -1.5);",      "real u = rsqrt(2.0 + cosh(x));", "real u = grad(tanh(x), x);",
      "real u = grad(1.0 / (1.0 + exp(-x)), x);"};
  for (const std::string& text : texts)
    for (const double x : {-90000.0, -2000.0, -800.0, -712.0, 800.0}) {
      EXPECT_LE(std::fabs(g_of(text + "g += grad(u, x);", x, 1)), 1e-100) << text << x;
      EXPECT_LE(std::fabs(g_of(text + "g += ddt(u, x, 1.0);", x, 1)), 1e-100) << text << x;
    }
  EXPECT_NEAR(g_of("g += grad(1.0 / (1.0 + exp(-x)), x);", -600, 1) / std::exp(-600.0), 1, 1e-13);
  EXPECT_NEAR(g_of("g += grad(hypot(3e200 * x, 4e200 * y), x);", 1, 1) / 1.8e200, 1, 1e-15);
  EXPECT_NEAR(g_of("g += ddt(hypot(3e200 * x, 4e200 * y), x, 1.0);", 1, 1) / 1.8e200, 1, 1e-15);
}

// Functions that saturate, and such functions of each other: finite everywhere, whatever overflows on the way. Of the
// former the second derivatives are, too.
class SaturatingAuthor {
 public:
  explicit SaturatingAuthor(std::uint64_t seed) : random_(seed) {}

  std::string write(int depth) {
    const std::string x = depth == 0 ? "(" + random_.pick(kScales) + " * x)" : "(" + write(depth - 1) + ")";
    const std::string other = depth == 0 ? "y" : "(" + write(0) + ")";
    const std::string form = random_.pick(kForms);
    return fmt::format(fmt::runtime(form), x, other);
  }

 private:
  const std::vector<std::string> kScales{"1.0", "-1.0", "0.5", "-2.5", "30.0"};
  const std::vector<std::string> kForms{"1.0 / (1.0 + exp({0}))",
                                        "{1} / (exp({0}) + 2.5)",
                                        "1.0 / (1.5 + exp2({0}))",
                                        "exp(-exp({0}))",
                                        "tanh({0})",
                                        "1.0 / cosh({0})",
                                        "{1} / (3.0 + cosh({0}))",
                                        "pow(1.0 + exp({0}), -1.5)",
                                        "rsqrt(1.0 + exp({0}))",
                                        "erf({0})",
                                        "{1} * atan({0})",
                                        "exp(-{0} * {0})",
                                        "rsqrt(1.0 + {0} * {0})",
                                        "exp(-2.0 * exp(-{0}) - exp({0}))",
                                        "{1} * erfc({0})"};
  test::RandomSource random_;
};

TEST(lower_derivative, of_random_functions_that_saturate_is_finite) {
  const std::vector<double> xs{-1e5, -5000, -800, -400, -50, 50, 400, 800, 5000, 1e5};
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string text =
        "input_i real x; input_j real y; output(sum) real o; output(sum) real g;\n"
        "output(sum) real r; output(sum) real h;\nreal u = " +
        SaturatingAuthor(seed).write(int(seed % 2)) +
        ";\nreal v = grad(u, x); o += u; g += v; r += ddt(u, x, 1.0); h += grad(v, x);\n";
    const OracleInput input{.ni = std::int64_t(xs.size()), .nj = 1, .i = {xs}, .j = {{0.75}}};
    const auto values = interpret(parse(Source{"saturating", text}), input).values;
    for (std::size_t k = 0; k < xs.size(); ++k)
      for (const std::size_t c : {1, 2, 3}) {
        const bool nested = seed % 2 != 0;
        if (c == 3 && nested) continue;
        if (!std::isfinite(values[0][k]) || std::isfinite(values[c][k])) continue;
        if (++wrong <= 5) ADD_FAILURE() << "seed " << seed << ", output " << c << " at " << xs[k] << "\n" << text;
      }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(lower_derivative, is_nan_where_a_nan_is_looked_up) {
  const double nan = std::nan("");
  for (const char* const function : {"table(t, x)", "spline(t, x)", "table(t, 2.0 * x * y) * y"}) {
    const std::string text = std::string("param real t[3] = {1, 2, 4};\nreal u = ") + function + ";";
    EXPECT_TRUE(std::isnan(g_of(text + "g += grad(u, x);", nan, 1))) << function;
    EXPECT_TRUE(std::isnan(g_of(text + "g += ddt(u, x, 1.0);", nan, 1))) << function;
  }
  EXPECT_EQ(g_of("g += grad(min(x, y), x) + 2.0 * grad(min(x, y), y);", 3, 3), 2);  // of equal numbers the second
}

// 40 factors, of which the product is infinite, as are the products of fewer that derivatives are made of.
TEST(lower_derivative, of_reciprocals_of_infinite_products_is_0) {
  const std::string product = "real p = 1; for (int k = 1; k <= 40; ++k) p = p * (x * y + k); real u = ";
  for (const char* const u : {"1.0 / p", "x / p", "rsqrt(p)"}) {
    EXPECT_EQ(g_of(product + u + "; g += grad(u, x);", 1, 1e30), 0) << u;
    EXPECT_EQ(g_of(product + u + "; g += ddt(u, x, 1.0);", 1, 1e30), 0) << u;
  }
}

// Of a product of many factors, parts of which are differentiated each by itself: by the sum of the reciprocals.
TEST(lower_derivative, of_long_products_is_that_of_their_factors) {
  for (const int n : {12, 13, 32, 33, 34, 65, 66, 100}) {
    const std::string factors = fmt::format("for (int k = 1; k <= {}; ++k) ", n);
    double product = 1, reciprocals = 0;
    for (int k = 1; k <= n; ++k) product *= (0.3 + k) / k, reciprocals += 1 / (0.3 + k);
    const auto is_near = [](double value, double expected) {
      EXPECT_NEAR(value, expected, 1e-12 * std::fabs(expected));
    };
    for (const char* const v : {"grad(u, x)", "ddt(u, x, 1.0)"}) {
      const std::string g = fmt::format("g += {};", v);
      SCOPED_TRACE(fmt::format("{} of {}", v, n));
      is_near(g_of("real u = 1; " + factors + "u = u * ((x + k) / k);" + g, 0.3, 0), product * reciprocals);
      is_near(g_of("real u = 1; " + factors + "u = u / ((x + k) / k);" + g, 0.3, 0), -reciprocals / product);
      is_near(g_of("real p = 1; " + factors + "p = p * ((x + k) / k); real u = 1.0 / p + p;" + g, 0.3, 0),
              reciprocals * (product - 1 / product));
      // Where a factor is 0.
      double others = 1;
      for (int k = 2; k <= n; ++k) others *= (k - 1.0) / k;
      is_near(g_of("real u = 1; " + factors + "u = u * ((x + k) / k);" + g, -1, 0), others);
    }
  }
}

// A choice in a choice in a choice: each number of them, and what comes by the last two.
TEST(lower_derivative, of_nested_choices_is_that_of_the_one_taken) {
  for (const int n : {7, 8, 9, 10, 30}) {
    std::string text = "real u = x * y;\n", choices = "u = 0.25 * x * x;";
    for (int k = n; k > 0; --k) choices = fmt::format("if (y > {}) {{ {} }} else {{ u = x * {}; }}", k, choices, k);
    for (const char* const v : {"grad(u, x)", "grad(u * sqrt(x), x) / sqrt(x) - 0.5 * u / x"})
      for (int taken = 1; taken <= n + 1; ++taken)
        EXPECT_NEAR(g_of(text + choices + fmt::format("g += {};", v), 3, taken - 0.5), taken > n ? 1.5 : taken, 1e-12)
            << n << " choices, " << taken << ": " << v;
  }
}

TEST(lower_derivative, counts_operations_while_they_are_made) {
  Pipeline pipeline = parse(Source{"case",
                                   "input_i real x; output(sum) real g; real s = 1;\n"
                                   "for (int k = 1; k <= 9999; ++k) s = s + sin(x * k) * s * cos(x + k);\n"
                                   "g += s;"});
  Graph& graph = pipeline.pair;
  ASSERT_LE(graph.size(), kMaxNodes);
  const std::vector<NodeId> by{pipeline.pair.leaf(Op::InputI, 0, Type::Real)};
  run_on_own_stack(kDeepStack, [&] {
    EXPECT_THROW(gradient(graph, pipeline.contributions[0].value, by), TooManyNodes);
    EXPECT_LE(graph.size(), kMaxNodes + 100);
    EXPECT_THROW(rates_of_change(graph, std::vector{pipeline.contributions[0].value}, {{by[0], graph.constant(1)}}),
                 TooManyNodes);
    EXPECT_LE(graph.size(), kMaxNodes + 200);
  });
}

}  // namespace
}  // namespace nbcc
