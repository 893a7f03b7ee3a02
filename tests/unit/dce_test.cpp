#include "compiler/passes/dce.h"

#include <gtest/gtest.h>

#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

using test::input_i;
using test::input_j;

TEST(dce, drops_what_nothing_needs) {
  Pipeline p = test::sum_of([](Graph& g) {
    const NodeId value = g.binary(Op::Sub, input_j(g, 0), input_i(g, 0));
    g.unary(Op::Exp, value);
    return value;
  });
  dce(p);
  EXPECT_EQ(p.pair.size(), 3);
  EXPECT_EQ(p.pair[p.contributions[0].value].op, Op::Sub);
}

TEST(dce, keeps_guard_and_scale) {
  Pipeline p = test::sum_of([](Graph& g) { return g.constant(1); });
  p.contributions[0].guard = p.pair.binary(Op::Lt, input_i(p.pair, 0), input_j(p.pair, 0));
  p.contributions[0].scale = p.pair.leaf(Op::Param, 0, Type::Real);
  dce(p);
  EXPECT_EQ(p.pair.size(), 5);
  EXPECT_EQ(p.pair[p.contributions[0].guard].op, Op::Lt);
  EXPECT_EQ(p.pair[p.contributions[0].scale].op, Op::Param);
}

TEST(dce, drops_dead_nodes_of_finish) {
  Pipeline p = test::sum_of([](Graph& g) { return g.constant(1); });
  p.finish.unary(Op::Exp, p.finish.leaf(Op::Param, 0, Type::Real));
  p.finished = {p.finish.leaf(Op::Output, 0, Type::Real)};
  dce(p);
  EXPECT_EQ(p.finish.size(), 1);
  EXPECT_EQ(p.finish[p.finished[0]].op, Op::Output);
}

}  // namespace
}  // namespace nbcc
