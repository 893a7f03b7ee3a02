#include "compiler/ir/ir.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "compiler/text/diagnostic.h"
#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

TEST(ir, equal_expressions_are_one_node) {
  Graph g;
  const NodeId a = g.binary(Op::Add, g.leaf(Op::InputI, 0, Type::Real), g.constant(2));
  const NodeId b = g.binary(Op::Add, g.leaf(Op::InputI, 0, Type::Real), g.constant(2), {7, 3});
  EXPECT_EQ(a, b);
  EXPECT_EQ(g.size(), 3);
}

TEST(ir, type_payload_and_argument_order_tell_nodes_apart) {
  Graph g;
  const NodeId x = g.leaf(Op::InputI, 0, Type::Real), y = g.leaf(Op::InputI, 1, Type::Real);
  const std::set<NodeId> ids{x,
                             y,
                             g.leaf(Op::InputI, 0, Type::Double),
                             g.leaf(Op::InputJ, 0, Type::Real),
                             g.constant(0),
                             g.constant(-0.0),
                             g.constant(0, Type::Int),
                             g.binary(Op::Sub, x, y),
                             g.binary(Op::Sub, y, x)};
  EXPECT_EQ(ids.size(), 9u);
}

TEST(ir, many_nodes_stay_distinct) {
  Graph g;
  for (int k = 0; k < 20000; ++k) g.constant(k * 0.5);
  EXPECT_EQ(g.size(), 20000);
}

TEST(ir, keeps_the_first_place_of_a_node) {
  Graph g;
  const NodeId a = g.constant(1, Type::Real, {3, 4});
  g.constant(1, Type::Real, {8, 1});
  EXPECT_EQ(g[a].where, (Location{3, 4}));
}

TEST(ir, a_node_has_the_joined_binding_of_its_arguments) {
  Graph g;
  const NodeId p = g.leaf(Op::Param, 0, Type::Real), i = g.leaf(Op::InputI, 0, Type::Real);
  const NodeId j = g.leaf(Op::InputJ, 0, Type::Real), c = g.constant(1);
  EXPECT_EQ(g[g.binary(Op::Add, c, c)].binding, Binding::Constant);
  EXPECT_EQ(g[g.binary(Op::Add, c, p)].binding, Binding::Param);
  EXPECT_EQ(g[g.binary(Op::Add, p, i)].binding, Binding::I);
  EXPECT_EQ(g[g.binary(Op::Add, p, j)].binding, Binding::J);
  EXPECT_EQ(g[g.binary(Op::Add, i, j)].binding, Binding::Pair);
  EXPECT_EQ(g[g.leaf(Op::Output, 0, Type::Real)].binding, Binding::I);
}

TEST(ir, a_node_has_the_joined_type_of_its_arguments) {
  Graph g;
  const NodeId n = g.constant(1, Type::Int), r = g.constant(1, Type::Real), d = g.constant(1, Type::Double);
  EXPECT_EQ(g[g.binary(Op::Mul, r, d)].type, Type::Double);
  EXPECT_EQ(g[g.unary(Op::Neg, n)].type, Type::Int);
  const NodeId less = g.binary(Op::Lt, r, d);
  EXPECT_EQ(g[less].type, Type::Bool);
  EXPECT_EQ(g[g.unary(Op::Not, less)].type, Type::Bool);
  EXPECT_EQ(g[g.select(less, n, r)].type, Type::Real);
}

TEST(ir, a_cast_to_its_own_type_is_no_node) {
  Graph g;
  const NodeId x = g.leaf(Op::InputI, 0, Type::Real);
  EXPECT_EQ(g.cast(x, Type::Real), x);
  EXPECT_NE(g.cast(x, Type::Double), x);
}

TEST(ir, a_constant_keeps_every_bit) {
  Graph g;
  EXPECT_EQ(g.constant_value(g.constant(0.1)), 0.1);
  EXPECT_TRUE(std::signbit(g.constant_value(g.constant(-0.0))));
  EXPECT_TRUE(std::isnan(g.constant_value(g.constant(NAN))));
  EXPECT_EQ(g.constant(NAN), g.constant(NAN));
}

TEST(ir, reachable_follows_arguments_of_roots_only) {
  Graph g;
  const NodeId x = g.constant(1), dead = g.constant(2), root = g.unary(Op::Neg, x);
  const std::vector<bool> needed = reachable(g, {root, kNone});
  EXPECT_TRUE(needed[std::size_t(x)]);
  EXPECT_TRUE(needed[std::size_t(root)]);
  EXPECT_FALSE(needed[std::size_t(dead)]);
}

TEST(ir, every_op_has_its_own_name) {
  std::set<std::string_view> names;
  for (int op = 0; op < kOpCount; ++op) names.insert(name(Op(op)));
  EXPECT_EQ(names.size(), std::size_t(kOpCount));
}

TEST(ir, names_and_arities_stand_at_their_ops) {
  const std::vector<std::tuple<Op, std::string_view, int>> table{
      {Op::Const, "const", 0}, {Op::Output, "output", 0}, {Op::Neg, "neg", 1},           {Op::CosPi, "cospi", 1},
      {Op::Trunc, "trunc", 1}, {Op::Add, "add", 2},       {Op::CopySign, "copysign", 2}, {Op::Eq, "eq", 2},
      {Op::Fma, "fma", 3},     {Op::Select, "select", 3}};
  for (const auto& [op, text, arguments] : table) {
    EXPECT_EQ(name(op), text);
    EXPECT_EQ(arity(op), arguments) << text;
  }
}

TEST(ir, fields_are_found_by_name_and_by_component) {
  const Pipeline p = test::pipeline_of(
      {test::field(Role::InputI, "xi", 3), test::field(Role::InputJ, "xj", 3), test::field(Role::InputJ, "mj")});
  EXPECT_EQ(p.components(Role::InputJ), 4);
  EXPECT_EQ(p.field_of(Role::InputJ, 2).name, "xj");
  EXPECT_EQ(p.field_of(Role::InputJ, 3).name, "mj");
  EXPECT_EQ(p.find("mj")->first, 3);
  EXPECT_EQ(p.find("m"), nullptr);
  EXPECT_THROW(p.field_of(Role::InputJ, 4), InternalError);
}

TEST(ir, roots_are_values_guards_and_scales_that_are_there) {
  Pipeline p = test::pipeline_of({test::output("a"), test::output("b")});
  p.contributions[0] = {.value = 4, .guard = 2, .scale = kNone};
  p.contributions[1] = {.value = 5, .guard = kNone, .scale = 1};
  EXPECT_EQ(p.roots(), (std::vector<NodeId>{4, 2, 5, 1}));
}

}  // namespace
}  // namespace nbcc
