#include "compiler/passes/facts/terms.h"

#include <gtest/gtest.h>

#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

using Terms = std::map<NodeId, double>;

class terms : public testing::Test {
 protected:
  NodeId make(Op op, NodeId a, NodeId b = kNone) { return b == kNone ? graph.unary(op, a) : graph.binary(op, a, b); }
  NodeId number(double value) { return graph.constant(value); }

  Graph graph;
  NodeId x = test::input_i(graph, 0), y = test::input_j(graph, 0);
};

TEST_F(terms, of_a_sum_are_added_up) {
  const NodeId twice = make(Op::Mul, number(2), x);
  const LinearSum sum =
      read_sum(graph, make(Op::Sub, make(Op::Add, twice, number(3)), make(Op::Neg, make(Op::Add, x, y))));
  EXPECT_EQ(sum.terms, (Terms{{x, 3}, {y, 1}}));
  EXPECT_EQ(sum.constant, 3);
}

TEST_F(terms, that_cancel_are_omitted) {
  EXPECT_EQ(read_difference(graph, make(Op::Add, x, y), x).terms, (Terms{{y, 1}}));
}

TEST_F(terms, of_an_fma_are_its_product_and_its_sum) {
  const NodeId sum = graph.make(Op::Fma, Type::Real, {x, y, make(Op::Add, x, number(1))});
  EXPECT_EQ(read_sum(graph, sum).terms, (Terms{{x, 1}, {make(Op::Mul, x, y), 1}}));
}

TEST_F(terms, of_whole_numbers_are_none) {
  const NodeId k = graph.leaf(Op::InputI, 1, Type::Int), sum = graph.binary(Op::Add, k, k);
  EXPECT_EQ(read_sum(graph, sum).terms, (Terms{{sum, 1}}));
}

TEST_F(terms, shared_thousandfold_are_read_at_once) {
  NodeId sum = x;
  for (int k = 0; k < 200; ++k) sum = make(Op::Add, sum, sum);
  EXPECT_EQ(read_sum(graph, sum).terms, (Terms{{x, 0x1p200}}));
}

TEST_F(terms, become_a_sum_again) {
  const NodeId difference = make(Op::Sub, x, y);
  EXPECT_EQ(make_sum(graph, read_sum(graph, difference), Type::Real), difference);
  EXPECT_EQ(make_sum(graph, {}, Type::Real), number(0));
}

}  // namespace
}  // namespace nbcc
