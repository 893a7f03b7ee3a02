// Terms of two types are computed before the loop over pairs, and the results of the pipeline stay.
#include "compiler/passes/optimize/type_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

Pipeline parsed(const std::string& value) {
  return parse({"one.pipe",
                "input_i real xi; input_i int ti; input_j real xj; input_j int tj; param real rc = 2.5;\n"
                "param real s[2][3] = {{1, 2, 3}, {4, 5, 6}}; param real n[2][3] = {{1, 2, 3}, {2, 3, 4}};\n"
                "param real of_one[3] = {0.5, 1.5, 2.5}; param real large[4][4]; output(sum) real sum;\n"
                "real r = abs(xi - xj) + 1.0; sum += " +
                    value + " + 0.0 * (large[0][0] + of_one[tj] + s[ti][tj] + n[ti][tj]) * rc;"});
}

// The number of functions, divisions not counted, that are computed for each pair.
int functions_of_pairs(const Pipeline& pipeline) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  int functions = 0;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (!needed[std::size_t(id)] || node.binding != Binding::Pair) continue;
    functions += facts(node.op).is_function && node.op != Op::Div ? 1 : 0;
  }
  return functions;
}

struct Case {
  const char* value;
  int functions;  // of a pair, behind the pass
};
constexpr Case kCases[] = {
    {"pow(s[ti][tj] / rc, n[ti][tj]) * r", 0},
    {"r * (pow(s[ti][tj] / rc, n[ti][tj]) - exp(-s[ti][tj]))", 0},
    {"pow(s[ti][tj] / r, n[ti][tj]) - pow(s[ti][tj] / rc, n[ti][tj])", 1},
    {"exp(of_one[tj] * s[ti][1]) * r", 0},
    {"log(of_one[tj] + real(tj) + s[ti][tj]) * r", 1},  // the type itself has no limits
    {"exp(-large[ti][tj]) * r", 1},                     // too many elements
    {"exp(-s[ti][tj] * r)", 1},
};

TEST(TypeTerms, AreComputedOnceForEachTwoTypes) {
  for (const Case& one : kCases) {
    Pipeline pipeline = parsed(one.value);
    type_terms(pipeline);
    verify(pipeline, "type_terms");
    EXPECT_EQ(functions_of_pairs(pipeline), one.functions) << one.value;
    EXPECT_EQ(functions_of_pairs(optimize(parsed(one.value), {}, {})), one.functions) << one.value;
  }
}

TEST(TypeTerms, KeepResults) {
  OracleInput input{.ni = 12, .nj = 12, .i = {{}, {}}, .j = {}, .params = {}};
  for (int k = 0; k < 12; ++k) {
    input.i[0].push_back(0.3 * k);
    input.i[1].push_back(k % 5 - 1);  // also beyond the tables
  }
  input.j = input.i;
  std::ranges::reverse(input.j[1]);
  for (const Case& one : kCases) {
    const Pipeline pipeline = parsed(one.value);
    input.params.assign(std::size_t(pipeline.components(Role::Param)), 0.0);
    for (const Field& field : pipeline.fields)
      if (field.role == Role::Param)
        for (std::size_t k = 0; k < field.defaults.size(); ++k)
          input.params[std::size_t(field.first) + k] = field.defaults[k];
    const OracleOutput expected = interpret(pipeline, input), got = interpret(optimize(pipeline, {}, {}), input);
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_NEAR(got.values[0][i], expected.values[0][i], 1e-9 * (1 + std::fabs(expected.values[0][i]))) << one.value;
  }
}

}  // namespace
}  // namespace nbcc
