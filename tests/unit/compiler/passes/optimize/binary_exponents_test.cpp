#include <gtest/gtest.h>

#include <numbers>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/passes/passes.h"
#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

Pipeline gaussian(Type type) {
  return test::sum_of([type](Graph& g) {
    const NodeId x = g.cast(test::input_j(g, 0), type);
    return g.unary(Op::Exp, g.binary(Op::Mul, g.binary(Op::Mul, x, x), g.constant(-0.5, type)));
  });
}

int count(const Pipeline& pipeline, Op op) {
  const std::vector<bool> alive = reachable(pipeline.pair, pipeline.roots());
  int found = 0;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) found += alive[std::size_t(id)] && pipeline.pair[id].op == op;
  return found;
}

TEST(binary_exponents, multiply_the_exponent_by_log2_e) {
  Pipeline p = gaussian(Type::Real);
  binary_exponents(p, {.precision = Precision::Mixed});
  const Node& power = p.pair[p.contributions[0].value];
  ASSERT_EQ(power.op, Op::Exp2);
  EXPECT_TRUE(p.pair.is_constant(p.pair[power.args[0]].args[1], std::numbers::log2e));
}

TEST(binary_exponents, are_not_for_doubles) {
  Pipeline real = gaussian(Type::Real), wide = gaussian(Type::Double);
  binary_exponents(real, {.precision = Precision::Double});
  binary_exponents(wide, {.precision = Precision::Single});
  EXPECT_EQ(count(real, Op::Exp2) + count(wide, Op::Exp2), 0);
}

TEST(binary_exponents, cost_nothing_where_the_exponent_has_a_constant_factor) {
  const Options options{.precision = Precision::Single};
  const Pipeline optimized = optimize(gaussian(Type::Real), options, cuda_target());
  EXPECT_EQ(count(optimized, Op::Exp2), 1);
  EXPECT_EQ(count(optimized, Op::Mul), 2);
  // Precise mathematics leaves the exponential as it is.
  EXPECT_EQ(count(optimize(gaussian(Type::Real), {.math = Math::Precise}, cuda_target()), Op::Exp), 1);
}

}  // namespace
}  // namespace nbcc
