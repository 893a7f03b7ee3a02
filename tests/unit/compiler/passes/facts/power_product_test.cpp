#include "compiler/passes/facts/power_product.h"

#include <gtest/gtest.h>

#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

class power_product : public testing::Test {
 protected:
  NodeId make(Op op, NodeId a, NodeId b = kNone) { return b == kNone ? graph.unary(op, a) : graph.binary(op, a, b); }
  NodeId number(double value) { return graph.constant(value); }

  Graph graph;
  NodeId x = test::input_i(graph, 0), y = test::input_j(graph, 0);
};

TEST_F(power_product, multiplies_by_a_power) {
  PowerProduct product{3, {{x, 1}, {y, 2}}};
  product.multiply({2, {{x, 0.5}, {y, 1}}}, -2);
  EXPECT_EQ(product.coefficient, 0.75);
  EXPECT_EQ(product.exponents, (Exponents{{x, 0}, {y, 0}}));
  drop_zeros(product.exponents);
  EXPECT_TRUE(product.exponents.empty());
}

TEST_F(power_product, has_one_exponent_for_each_base) {
  const NodeId root = make(Op::Sqrt, x);
  const NodeId product =
      make(Op::Div, make(Op::Mul, make(Op::Mul, root, number(4)), y), make(Op::Mul, y, make(Op::Mul, y, y)));
  const PowerProduct read = read_product(graph, product);
  EXPECT_EQ(read.exponents, (Exponents{{x, 0.5}, {y, -2}}));
  EXPECT_EQ(read.coefficient, 4);
}

TEST_F(power_product, keeps_products_under_a_root) {
  // sqrt(x x) is |x|.
  const NodeId square = make(Op::Mul, x, x);
  EXPECT_EQ(read_product(graph, make(Op::Sqrt, square)).exponents, (Exponents{{square, 0.5}}));
}

TEST_F(power_product, becomes_nodes_again) {
  const NodeId quotient = make(Op::Div, x, make(Op::Mul, y, y));
  EXPECT_EQ(make_product(graph, read_product(graph, quotient), Type::Real), quotient);
}

}  // namespace
}  // namespace nbcc
