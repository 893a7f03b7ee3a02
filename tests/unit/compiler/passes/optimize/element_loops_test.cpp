// Loops over elements that are found in graphs which lowering has written out.
#include "compiler/passes/optimize/element_loops.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/optimize/loops_written_out.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kFields = R"(
input_i real xi[40];
input_j real xj[40];
input_j real wj;
input_i real ci;
input_i int ni[40];
input_j int nj[40];
input_j bool on[40];
param real p[40];
output(sum) real s;
output(sum) real g[40];
)";

std::string with_loops(const std::string& statements, Math math = Math::Fast) {
  const Pipeline found = with_element_loops(parse({"loops.pipe", kFields + statements}), math);
  verify(found, "element_loops");
  const std::string text = print(found);
  return text.substr(text.find("pair\n") + 5);
}

TEST(ElementLoopsFound, AreSumsOfLikeTerms) {
  const std::string text = with_loops(
      "real r2 = 0; for (int k = 0; k < 40; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]); s += wj * r2;"
      "for (int k = 0; k < 40; ++k) g[k] += wj * xj[k];");
  EXPECT_THAT(text, StartsWith("  %0 = element_of_j.real 0   ; j, xj[0]\n"
                               "  %1 = element_of_i.real 0   ; i, xi[0]\n"
                               "  %2 = sub.real %0 %1        ; pair\n"
                               "  %3 = mul.real %2 %2        ; pair\n"
                               "  %4 = sum_of_elements.real 0..39 %3 ; pair\n"
                               "  %5 = input_j.real 40       ; j, wj\n"
                               "  %6 = mul.real %5 %4        ; pair\n"
                               "  %7 = mul.real %5 %0        ; j\n"
                               "  s += %6\n"
                               "  g[0] += %7\n"
                               "  g[1] += %7\n"));
}

TEST(ElementLoopsFound, ArePartsOfASum) {
  const std::string text = with_loops("real r = wj; for (int k = 3; k < 40; ++k) r -= p[k] * xi[k]; r += ci; s += r;");
  EXPECT_THAT(text, HasSubstr("sum_of_elements.real 3..39"));
  // wj, the loop and ci, in this order.
  EXPECT_THAT(text, HasSubstr("%6 = sub.real %0 %5        ; pair\n  %7 = add.real %6 %1 "));
}

TEST(ElementLoopsFound, AreMinimaAndMaxima) {
  EXPECT_THAT(with_loops("real r = xi[0]; for (int k = 0; k < 40; ++k) r = min(r, xj[k] - xi[k]); s += r;"),
              HasSubstr("min_of_elements.real 0..39"));
  EXPECT_THAT(with_loops("real r = 0; for (int k = 0; k < 40; ++k) r = max(r, abs(xj[k] - xi[k])); s += r;"),
              HasSubstr("max_of_elements.real 0..39"));
}

TEST(ElementLoopsFound, InPreciseMathematicsKeepTheOrderOfSums) {
  const std::string behind = "real r = 0; for (int k = 0; k < 40; ++k) r += xj[k] * xi[k]; s += r + wj;",
                    within = "real r = wj; for (int k = 0; k < 40; ++k) r += xj[k] * xi[k]; s += r;";
  EXPECT_THAT(with_loops(behind, Math::Precise), HasSubstr("sum_of_elements"));
  EXPECT_THAT(with_loops(within, Math::Precise), Not(HasSubstr("sum_of_elements")));
  EXPECT_THAT(with_loops(within, Math::Fast), HasSubstr("sum_of_elements"));
}

struct Found {
  const char *what, *statements, *loop;  // part of the printed graph
};
const Found kFound[] = {
    {"neighbouring elements", "real r = 0; for (int k = 0; k < 39; ++k) r += xj[k + 1] * xi[k]; s += r;",
     "element_of_j.real 1 "},
    {"a value of the pair", "real w = wj * ci, r = 0; for (int k = 0; k < 40; ++k) r += w * xj[k] * xi[k]; s += r;",
     "sum_of_elements.real 0..39"},
    {"counters", "int c = 0; for (int k = 0; k < 40; ++k) c += ni[k] != nj[k]; s += c;", "sum_of_elements.int 0..39"},
    {"integer minima", "int c = 1; for (int k = 0; k < 40; ++k) c = min(c, ni[k] * nj[k]); s += c;",
     "min_of_elements.int 0..39"},
    {"terms under a condition", "real r = 0; for (int k = 0; k < 40; ++k) if (xi[k] < xj[k]) r += xj[k]; s += r;",
     "sum_of_elements.real 0..39"},
    {"two conditions",
     "real r = ci; for (int k = 0; k < 40; ++k) if (on[k]) if (xi[k] < xj[k]) r -= xj[k]; else r += p[k]; s += r;",
     "sum_of_elements.real 0..39"},
    {"a maximum under a condition", "real r = 0; for (int k = 0; k < 40; ++k) if (on[k]) r = max(r, xi[k]); s += r;",
     "max_of_elements.real 0..39"},
    {"an output under a condition", "for (int k = 0; k < 40; ++k) if (xi[k] < xj[k]) g[k] += wj * xj[k];",
     "g[39] += %6\n"},
    {"an output of other elements", "for (int k = 0; k < 37; ++k) g[k + 3] += xi[k] * xj[k];", "element_of_i.real -3 "},
};

class ElementLoopsOf : public ::testing::TestWithParam<Found> {};

TEST_P(ElementLoopsOf, AreFound) { EXPECT_THAT(with_loops(GetParam().statements), HasSubstr(GetParam().loop)); }

constexpr auto kNameOfWhat = [](const auto& info) {
  std::string name = info.param.what;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
};
INSTANTIATE_TEST_SUITE_P(Text, ElementLoopsOf, ::testing::ValuesIn(kFound), kNameOfWhat);

// Extremes and whole numbers do not depend on the order of their terms.
TEST(ElementLoopsFound, InPreciseMathematicsBeginWithinExtremesAndCounts) {
  EXPECT_THAT(with_loops("real r = wj; for (int k = 0; k < 40; ++k) r = min(r, xj[k] - xi[k]); s += r;", Math::Precise),
              HasSubstr("min_of_elements"));
  EXPECT_THAT(with_loops("int c = nj[3]; for (int k = 0; k < 40; ++k) c += ni[k] * nj[k]; s += c;", Math::Precise),
              HasSubstr("sum_of_elements"));
}

struct NoLoop {
  const char* what;
  const char* statements;
};
const NoLoop kNoLoops[] = {
    {"few terms", "real r = 0; for (int k = 0; k < 32; ++k) r += xj[k] * xi[k]; s += r;"},
    {"elements at growing distances", "real r = 0; for (int k = 0; k < 20; ++k) r += xj[2 * k] * xi[k]; s += r;"},
    {"rounds that differ", "real r = 0; for (int k = 0; k < 40; ++k) r += k * xj[k] * xi[k]; s += r;"},
    {"a chain", "real r = 1; for (int k = 0; k < 40; ++k) r = r * xi[k] + xj[k]; s += r;"},
};

class NoElementLoops : public ::testing::TestWithParam<NoLoop> {};

TEST_P(NoElementLoops, AreFound) { EXPECT_THAT(with_loops(GetParam().statements), Not(HasSubstr("element_of"))); }

INSTANTIATE_TEST_SUITE_P(Of, NoElementLoops, ::testing::ValuesIn(kNoLoops), kNameOfWhat);

struct Reported {
  const char *what, *statements;
  int column;
  const char* reason;  // part of it; empty: nothing is reported
};
const Reported kReported[] = {
    {"rounds that differ", "real r = 0; for (int k = 0; k < 300; ++k) r += k * x[k] * y[k]; s += r;", 45,
     "rounds differ"},
    {"a chain", "real r = 1; for (int k = 0; k < 300; ++k) r = r * x[k] + y[k]; s += r;", 49, "the round before"},
    {"vectors", "real r = 0; for (int k = 0; k < 300; ++k) r += dot(v[k], v[k]); s += r;", 45, "array of vectors"},
    {"a loop", "real r = 0; for (int k = 0; k < 300; ++k) r += x[k] * y[k]; s += r;", 0, ""},
    {"few rounds", "real r = 0; for (int k = 0; k < 200; ++k) r += k * x[k] * y[k]; s += r;", 0, ""},
};

class LoopsWrittenOut : public ::testing::TestWithParam<Reported> {};

TEST_P(LoopsWrittenOut, AreReported) {
  const std::string fields = "input_i real x[300]; input_j real y[300]; input_j vec2 v[300]; output(sum) real s;\n";
  const auto found = loops_written_out(parse({"loops.pipe", fields + GetParam().statements}), Math::Fast);
  ASSERT_EQ(found.size(), *GetParam().reason ? 1u : 0u);
  if (found.empty()) return;
  EXPECT_EQ(found[0].where.line, 2);
  EXPECT_EQ(found[0].where.column, GetParam().column);
  EXPECT_GE(found[0].rounds, 299);
  EXPECT_THAT(found[0].reason, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(Of, LoopsWrittenOut, ::testing::ValuesIn(kReported), kNameOfWhat);

// The derivatives by all elements are made at once: their number of operations grows with the length, not its square.
TEST(ElementLoopsFound, AreDerivatives) {
  const auto nodes_for = [](int length) {
    const std::string text = fmt::format(
        "input_i real xi[{0}]; input_j real xj[{0}]; output(sum) real g[{0}];\n"
        "real r2 = 0; for (int k = 0; k < {0}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);\n"
        "real e = exp(-r2); for (int k = 0; k < {0}; ++k) g[k] += grad(e, xi[k]);",
        length);
    const Pipeline parsed = parse({"grad.pipe", text});
    EXPECT_LT(with_element_loops(parsed, Math::Fast).pair.size(), 20);
    return double(parsed.pair.size());
  };
  EXPECT_NEAR(nodes_for(1000) / nodes_for(100), 10, 1);
}

}  // namespace
}  // namespace nbcc
