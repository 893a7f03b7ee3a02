#include "compiler/passes/optimize/coincident.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/ir/interpret.h"
#include "compiler/passes/optimize/optimize.h"
#include "tests/support/pass_dump.h"

namespace nbcc {
namespace {

int count(const Graph& graph, Op op, const Pipeline& pipeline) {
  const std::vector<bool> alive = reachable(graph, pipeline.roots());
  int n = 0;
  for (NodeId id = 0; id < graph.size(); ++id) n += alive[std::size_t(id)] && graph[id].op == op;
  return n;
}

struct CoincidentCase {
  const char* name;
  const char* text;
  int tests;  // comparisons with 0 that are left: one for each difference, or the one that was there
};

const CoincidentCase kCoincidentCases[] = {
    {"two", "real a = xi - xj; real b = hi - mj; real r2 = a * a + b * b; skip_if(r2 == 0.0); s += rsqrt(r2 + p);", 2},
    {"zero_comes_first", "real a = xi - xj; real b = hi - mj; skip_if(0.0 == a * a + b * b); s += 1.0;", 2},
    {"not_equal", "real a = xi - xj; real b = hi - mj; if (a * a + b * b != 0.0) s += p;", 2},
    {"other_constant", "real a = xi - xj; real b = hi - mj; skip_if(a * a + b * b == 1.0); s += p;", 1},
    {"one_square", "real a = xi - xj; skip_if(a * a == 0.0); s += p;", 1},
    {"a_product_of_two", "real a = xi - xj; real b = hi - mj; skip_if(a * b + b * b == 0.0); s += p;", 1},
    {"a_difference_of_squares", "real a = xi - xj; real b = hi - mj; skip_if(a * a - b * b == 0.0); s += p;", 1},
    {"with_softening", "real a = xi - xj; real b = hi - mj; skip_if(a * a + b * b + p == 0.0); s += p;", 1},
    {"squares_of_more", "real a = xi - xj + p; real b = hi - mj; skip_if(a * a + b * b == 0.0); s += p;", 1},
    {"less", "real a = xi - xj; real b = hi - mj; skip_if(a * a + b * b <= 0.0); s += p;", 0},
};

TEST(Coincident, Table) {
  for (const CoincidentCase& c : kCoincidentCases) {
    Pipeline pipeline = test::cleaned(c.text);
    test_differences(pipeline);
    EXPECT_EQ(count(pipeline.pair, Op::Eq, pipeline), c.tests) << c.name << ": " << c.text;
  }
}

TEST(Coincident, TheDifferencesAreFoundAgain) {
  Pipeline pipeline = test::cleaned(kCoincidentCases[0].text);
  test_differences(pipeline);
  const Node& guard = pipeline.pair[pipeline.contributions[0].guard];
  ASSERT_EQ(guard.op, Op::Not);
  EXPECT_EQ(differences_tested(pipeline.pair, guard.args[0]).size(), 2u);
  EXPECT_TRUE(differences_tested(pipeline.pair, pipeline.contributions[0].value).empty());
}

// Sums and conditions whose parts are shared are not followed to the end of every path.
TEST(Coincident, LooksNoDeeperThanSpaceHasDimensions) {
  Pipeline pipeline = test::cleaned(kCoincidentCases[0].text);
  Graph& graph = pipeline.pair;
  NodeId sum = graph[graph[pipeline.contributions[0].guard].args[0]].args[0], test = graph.binary(Op::Eq, sum, sum);
  ASSERT_EQ(graph[sum].op, Op::Add);
  for (int k = 0; k < 60; ++k) sum = graph.binary(Op::Add, sum, sum), test = graph.binary(Op::And, test, test);
  pipeline.contributions[0].guard = graph.binary(Op::Eq, sum, graph.constant(0));
  EXPECT_TRUE(differences_tested(graph, test).empty());
  test_differences(pipeline);
  EXPECT_EQ(count(pipeline.pair, Op::Eq, pipeline), 1);
}

TEST(Coincident, KeepsTheOraclesAnswer) {
  const std::string text = kCoincidentCases[0].text;
  const OracleInput input{1, 3, {{1}, {2}}, {{1, 1, 4}, {2, 5, 2}}, {7}};
  Pipeline pipeline = test::cleaned(text);
  const double before = interpret(pipeline, input).values[0][0];
  test_differences(pipeline);
  EXPECT_EQ(interpret(pipeline, input).values[0][0], before);
  EXPECT_EQ(before, 0.25 + 0.25);  // 1/sqrt(3^2 + 7), twice; not 1/sqrt(7)
}

TEST(Coincident, LeavesR2ToBeginWithTheSoftening) {
  const Pipeline pipeline = optimize(test::cleaned(kCoincidentCases[0].text), {}, cuda_target());
  EXPECT_EQ(count(pipeline.pair, Op::Fma, pipeline), 2);
  EXPECT_EQ(count(pipeline.pair, Op::Add, pipeline), 0);
  EXPECT_NE(pipeline.contributions[0].guard, kNone);
}

}  // namespace
}  // namespace nbcc
