// angle(u, v): what a text means by it, its derivative, and the note of `nbcc check` where a text takes acos() of a
// cosine. tests/numeric/angle_test.cpp measures kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "compiler/ir/interpret.h"
#include "compiler/passes/facts/cosines.h"
#include "compiler/source/parse.h"
#include "compiler/text/diagnostic.h"
#include "tests/support/command.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Pipeline parsed(const std::string& text) { return parse(Source{"p.pipe", text}); }

// The sums over one pair of no fields but x = 1.
std::vector<double> of(const std::string& text) {
  OracleInput input{.ni = 1, .nj = 1, .i = {}, .j = {{1}}, .params = {}};
  std::vector<double> values;
  for (const std::vector<double>& value : interpret(parsed("input_j real one;\n" + text), input).values)
    values.push_back(value[0]);
  return values;
}

TEST(Angle, IsThatBetweenTwoVectors) {
  const std::vector<double> angles =
      of("output(sum) real a, b, c, d, e, f;\n"
         "a += one * angle(vec3(1, 0, 0), vec3(0, 3, 0)); b += one * angle(vec2(1, 0), vec2(-1, 1));\n"
         "c += one * angle(vec4(1, 1, 1, 1), vec4(2, 2, 2, 2)); d += one * angle(vec3(1, 2, 3), vec3(-2, -4, -6));\n"
         "e += one * angle(vec3(1, 1e-9, 0), vec3(1, 0, 0)); f += one * angle(vec2(0, 0), vec2(1, 0));\n");
  EXPECT_DOUBLE_EQ(angles[0], std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(angles[1], 3 * std::numbers::pi / 4);
  EXPECT_EQ(angles[2], 0);
  EXPECT_DOUBLE_EQ(angles[3], std::numbers::pi);
  EXPECT_NEAR(angles[4], 1e-9, 1e-16);  // of acos() nothing but 0 would be left
  EXPECT_TRUE(std::isnan(angles[5]));
}

// At a right angle |du/dtheta| is 1/|u|; at parallel vectors the derivative is 0, and not NaN.
TEST(Angle, HasADerivative) {
  const std::string fields = "input_i vec3 u; input_i vec3 v; output(sum) vec3 g;\n";
  const auto gradient = [&](const std::vector<double>& u, const std::vector<double>& v) {
    OracleInput input{.ni = 1, .nj = 1, .i = {}, .j = {{1}}, .params = {}};
    for (const double x : u) input.i.push_back({x});
    for (const double x : v) input.i.push_back({x});
    std::vector<double> g;
    for (const auto& value :
         interpret(parsed("input_j real one;\n" + fields + "g += one * grad(angle(u, v), u);"), input).values)
      g.push_back(value[0]);
    return g;
  };
  const std::vector<double> right = gradient({2, 0, 0}, {0, 3, 0});
  EXPECT_NEAR(right[0], 0, 1e-15);
  EXPECT_NEAR(right[1], -0.5, 1e-15);
  EXPECT_NEAR(right[2], 0, 1e-15);
  EXPECT_EQ(gradient({2, 0, 0}, {1, 0, 0}), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(gradient({2, 0, 0}, {-1, 0, 0}), (std::vector<double>{0, 0, 0}));
}

TEST(Angle, ATextMayHaveTheNameForItself) {
  EXPECT_EQ(of("output(sum) real s;\nreal angle = 3;\ns += one * angle;\n")[0], 3);
  EXPECT_EQ(of("output(sum) real s;\nreal angle(real a) { return 2 * a; }\ns += one * angle(2);\n")[0], 4);
}

TEST(Angle, RefusesWhatIsNoPairOfVectors) {
  const auto message = [](const std::string& call) -> std::string {
    try {
      parsed("input_j vec3 x; output(sum) real s;\ns += " + call + ";\n");
    } catch (const CompileError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("angle(x, 1.0)"),
              HasSubstr("the arguments do not fit 'angle': it is written angle(u, v), of two vectors of one length"));
  EXPECT_THAT(message("angle(x, vec2(1, 0))"), HasSubstr("of two vectors of one length"));
}

// The lines on which acos() may be NaN.
std::vector<int> lines_of(const std::string& body) {
  std::vector<int> lines;
  for (const Location& where :
       find_acos_of_cosines(parsed("input_i vec3 xi; input_j vec3 xj; param real l = 2; output(sum) real s;\n" + body)))
    lines.push_back(where.line);
  return lines;
}

TEST(Angle, AcosOfACosineIsFound) {
  EXPECT_EQ(lines_of("s += acos(dot(xi, xj) / (length(xi) * length(xj)));\n"), std::vector{2});
  EXPECT_EQ(lines_of("s += 1.0;\ns += acos(dot(normalize(xi), normalize(xj)));\n"), std::vector{3});
  EXPECT_EQ(lines_of("s += acos(-dot(xi, xj) * rsqrt(dot(xi, xi) * dot(xj, xj)));\n"), std::vector{2});
  EXPECT_EQ(lines_of("real z = xj.z / length(xj);\ns += acos(z) + acos(z);\n"), std::vector{3});
  // Neither quotients nor dot products, or clamped.
  EXPECT_EQ(lines_of("s += acos(xj.z / 2.0) + acos(xj.z / l) + acos(0.5 * xj.z) + acos(xj.x + xi.x);\n"
                     "s += acos(clamp(dot(xi, xj) / (length(xi) * length(xj)), -1.0, 1.0));\n"
                     "s += angle(xi, xj) + acos(tanh(xi.x * xj.x));\n"),
            std::vector<int>());
}

TEST(Angle, CheckNamesIt) {
  const Shell shell;
  shell.write("bend.pipe",
              "input_i vec3 xi; input_j vec3 xj; output(sum) real s;\n"
              "s += acos(dot(xi, xj) / (length(xi) * length(xj)));\n");
  const Outcome checked = shell.nbcc("check bend.pipe");
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.err, HasSubstr("bend.pipe:2:6: note: acos() is NaN where rounding carries this cosine beyond 1, "
                                     "as of parallel vectors; the angle between two vectors is angle(u, v)"));
  shell.write("bend.pipe", "input_i vec3 xi; input_j vec3 xj; output(sum) real s;\ns += angle(xi, xj);\n");
  EXPECT_THAT(shell.nbcc("check bend.pipe").err, Not(HasSubstr("acos")));
}

}  // namespace
}  // namespace nbcc::test
