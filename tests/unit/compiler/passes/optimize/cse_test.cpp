#include <gtest/gtest.h>

#include <array>

#include "compiler/passes/passes.h"
#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

using test::input_i;
using test::input_j;

// The pair graph's size after cse of (a op b) - (b op a), whose leaves are two and whose sum is one node.
int size_after(Op op) {
  Pipeline p = test::sum_of([&](Graph& g) {
    const NodeId a = input_i(g, 0), b = input_j(g, 0);
    return g.binary(Op::Sub, g.binary(op, a, b), g.binary(op, b, a));
  });
  cse(p);
  return p.pair.size();
}

TEST(cse, commuted_arguments_are_one_node) {
  for (Op op : {Op::Add, Op::Mul, Op::Min, Op::Max}) EXPECT_EQ(size_after(op), 4) << name(op);
}

TEST(cse, other_operations_do_not_commute) {
  for (Op op : {Op::Sub, Op::Div, Op::Pow, Op::Atan2, Op::CopySign}) EXPECT_EQ(size_after(op), 5) << name(op);
}

TEST(cse, comparisons_and_logic) {
  Pipeline p = test::sum_of([](Graph& g) {
    const NodeId a = input_i(g, 0), b = input_j(g, 0);
    const NodeId less = g.binary(Op::Lt, a, b), more = g.binary(Op::Lt, b, a);
    const NodeId both = g.binary(Op::Or, g.binary(Op::And, less, more), g.binary(Op::And, more, less));
    const NodeId equal = g.binary(Op::Or, g.binary(Op::Eq, a, b), g.binary(Op::Eq, b, a));
    return g.select(g.binary(Op::And, both, equal), a, b);
  });
  cse(p);
  // a, b, two comparisons, their And, Or of one, Eq, Or of one, And, Select
  EXPECT_EQ(p.pair.size(), 10);
}

TEST(cse, factors_of_fma_commute) {
  Pipeline p = test::sum_of([](Graph& g) {
    const NodeId a = input_i(g, 0), b = input_j(g, 0);
    const NodeId x = g.make(Op::Fma, Type::Real, {a, b, a}), y = g.make(Op::Fma, Type::Real, {b, a, a});
    return g.binary(Op::Sub, x, y);
  });
  cse(p);
  EXPECT_EQ(p.pair.size(), 4);
}

TEST(cse, equality_of_arguments_carries_to_their_users) {
  Pipeline p = test::sum_of([](Graph& g) {
    const NodeId a = input_i(g, 0), b = input_j(g, 0);
    const NodeId x = g.unary(Op::Exp, g.binary(Op::Mul, a, b)), y = g.unary(Op::Exp, g.binary(Op::Mul, b, a));
    return g.binary(Op::Add, x, y);
  });
  cse(p);
  EXPECT_EQ(p.pair.size(), 5);
}

TEST(cse, a_constant_comes_second) {
  Pipeline p = test::sum_of([](Graph& g) {
    const NodeId two = g.constant(2);
    return g.binary(Op::Mul, two, input_j(g, 0));
  });
  cse(p);
  EXPECT_TRUE(p.pair.is_constant(p.pair[p.contributions[0].value].args[1], 2));
}

TEST(cse, drops_what_nothing_needs) {
  Pipeline p = test::sum_of([](Graph& g) {
    const NodeId value = g.binary(Op::Sub, input_j(g, 0), input_i(g, 0));
    g.unary(Op::Exp, value);
    return value;
  });
  cse(p);
  EXPECT_EQ(p.pair.size(), 3);
  EXPECT_EQ(p.pair[p.contributions[0].value].op, Op::Sub);
}

TEST(cse, keeps_guard_and_scale) {
  Pipeline p = test::sum_of([](Graph& g) { return g.constant(1); });
  p.contributions[0].guard = p.pair.binary(Op::Lt, input_i(p.pair, 0), input_j(p.pair, 0));
  p.contributions[0].scale = p.pair.leaf(Op::Param, 0, Type::Real);
  cse(p);
  EXPECT_EQ(p.pair.size(), 5);
  EXPECT_EQ(p.pair[p.contributions[0].guard].op, Op::Lt);
  EXPECT_EQ(p.pair[p.contributions[0].scale].op, Op::Param);
}

TEST(cse, drops_dead_nodes_of_finish) {
  Pipeline p = test::sum_of([](Graph& g) { return g.constant(1); });
  p.finish.unary(Op::Exp, p.finish.leaf(Op::Param, 0, Type::Real));
  p.finished = {p.finish.leaf(Op::Output, 0, Type::Real)};
  cse(p);
  EXPECT_EQ(p.finish.size(), 1);
  EXPECT_EQ(p.finish[p.finished[0]].op, Op::Output);
}

}  // namespace
}  // namespace nbcc
