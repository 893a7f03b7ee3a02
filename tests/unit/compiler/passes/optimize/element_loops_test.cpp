// Loops over elements that are found in graphs which lowering has written out.
#include "compiler/passes/optimize/element_loops.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
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

struct NoLoop {
  const char* what;
  const char* statements;
};
const NoLoop kNoLoops[] = {
    {"few terms", "real r = 0; for (int k = 0; k < 32; ++k) r += xj[k] * xi[k]; s += r;"},
    {"neighbouring elements", "real r = 0; for (int k = 1; k < 40; ++k) r += xj[k] * xi[k - 1]; s += r;"},
    {"a value of the pair", "real w = wj * ci, r = 0; for (int k = 0; k < 40; ++k) r += w * xj[k] * xi[k]; s += r;"},
    {"a condition of a particle",
     "real r = 0; for (int k = 0; k < 40; ++k) r += wj > 0.0 ? xj[k] * xi[k] : xi[k]; s += r;"},
    {"rounds that differ", "real r = 0; for (int k = 0; k < 40; ++k) r += k * xj[k] * xi[k]; s += r;"},
    {"a chain", "real r = 1; for (int k = 0; k < 40; ++k) r = r * xi[k] + xj[k]; s += r;"},
};

class NoElementLoops : public ::testing::TestWithParam<NoLoop> {};

TEST_P(NoElementLoops, AreFound) { EXPECT_THAT(with_loops(GetParam().statements), Not(HasSubstr("element_of"))); }

INSTANTIATE_TEST_SUITE_P(Of, NoElementLoops, ::testing::ValuesIn(kNoLoops), [](const auto& info) {
  std::string name = info.param.what;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

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
