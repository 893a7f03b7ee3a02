#include "compiler/passes/facts/signs.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

struct SignsCase {
  const char* name;
  NodeId (*build)(Graph&);
  SignSet signs;
};

NodeId x(Graph& g) { return test::input_i(g, 0); }
NodeId y(Graph& g) { return test::input_j(g, 0); }
NodeId number(Graph& g, double value) { return g.constant(value); }
NodeId size(Graph& g) { return g.unary(Op::Abs, x(g)); }
NodeId square(Graph& g) { return g.binary(Op::Mul, y(g), y(g)); }
NodeId power(Graph& g) { return g.unary(Op::Exp, x(g)); }

constexpr SignSet kNotNegative = kZero | kPositive;

TEST(signs, follow_from_operations) {
  const SignsCase table[] = {
      {"a number of a particle", x, kAnySign},
      {"-2", [](Graph& g) { return number(g, -2); }, kNegative},
      {"NaN", [](Graph& g) { return number(g, std::numeric_limits<double>::quiet_NaN()); }, kAnySign},
      {"|x|", size, kNotNegative},
      {"-|x|", [](Graph& g) { return g.unary(Op::Neg, size(g)); }, kZero | kNegative},
      {"y y", square, kNotNegative},
      {"x y", [](Graph& g) { return g.binary(Op::Mul, x(g), y(g)); }, kAnySign},
      {"y y + 1", [](Graph& g) { return g.binary(Op::Add, square(g), number(g, 1)); }, kPositive},
      {"y y - 1", [](Graph& g) { return g.binary(Op::Sub, square(g), number(g, 1)); }, kAnySign},
      {"1 / (y y)", [](Graph& g) { return g.binary(Op::Div, number(g, 1), square(g)); }, kPositive},
      {"1 / x", [](Graph& g) { return g.binary(Op::Div, number(g, 1), x(g)); }, kAnySign},
      {"1 / -|x|", [](Graph& g) { return g.binary(Op::Div, number(g, 1), g.unary(Op::Neg, size(g))); }, kAnySign},
      {"exp x", power, kPositive},
      {"sqrt exp x", [](Graph& g) { return g.unary(Op::Sqrt, power(g)); }, kPositive},
      {"max(x, 0)", [](Graph& g) { return g.binary(Op::Max, x(g), number(g, 0)); }, kNotNegative},
      {"max(x, 2)", [](Graph& g) { return g.binary(Op::Max, x(g), number(g, 2)); }, kPositive},
      {"min(x, 2)", [](Graph& g) { return g.binary(Op::Min, x(g), number(g, 2)); }, kAnySign},
      {"x ? |x| : 1", [](Graph& g) { return g.select(g.binary(Op::Lt, x(g), y(g)), size(g), number(g, 1)); },
       kNotNegative},
      {"fma(y, y, 1)", [](Graph& g) { return g.make(Op::Fma, Type::Real, {y(g), y(g), number(g, 1)}); }, kPositive},
      {"pow(x, 2)", [](Graph& g) { return g.binary(Op::Pow, x(g), number(g, 2)); }, kNotNegative},
      {"pow(x, 3)", [](Graph& g) { return g.binary(Op::Pow, x(g), number(g, 3)); }, kAnySign},
      {"whole numbers wrap around",
       [](Graph& g) {
         const NodeId i = g.leaf(Op::InputI, 1, Type::Int);
         return g.binary(Op::Mul, i, i);
       },
       kAnySign},
  };
  for (const SignsCase& c : table) {
    Graph graph;
    const NodeId id = c.build(graph);
    EXPECT_EQ(Signs(graph).of(id), c.signs) << c.name;
  }
}

TEST(signs, are_assumed_until_forgotten) {
  Graph graph;
  const NodeId inverse = graph.binary(Op::Div, number(graph, 1), x(graph));
  Signs signs(graph);
  EXPECT_FALSE(signs.is_positive(inverse));
  signs.assume(x(graph), kPositive);
  EXPECT_TRUE(signs.is_positive(inverse));
  signs.forget();
  EXPECT_FALSE(signs.is_positive(inverse));
}

}  // namespace
}  // namespace nbcc
