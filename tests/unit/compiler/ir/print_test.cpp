#include "compiler/ir/print.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

using test::input_i;
using test::input_j;

TEST(print, a_node_a_line_with_its_binding) {
  Graph g;
  const NodeId i = input_i(g, 1), j = input_j(g, 0);
  EXPECT_EQ(print(g, {g.binary(Op::Sub, j, i)}),
            "  %0 = input_i.real 1        ; i\n"
            "  %1 = input_j.real 0        ; j\n"
            "  %2 = sub.real %1 %0        ; pair\n");
}

TEST(print, leaves_dead_nodes_out_and_renumbers) {
  Graph g;
  input_i(g, 0);
  const NodeId j = input_j(g, 0);
  EXPECT_EQ(print(g, {g.unary(Op::Neg, j)}),
            "  %0 = input_j.real 0        ; j\n"
            "  %1 = neg.real %0           ; j\n");
}

TEST(print, constants_round_trip) {
  Graph g;
  const auto text = [&](double value, Type type) { return print_operation(g[g.constant(value, type)], {}); };
  EXPECT_EQ(text(0.1, Type::Real), "const.real 0.1");
  EXPECT_EQ(text(-3, Type::Int), "const.int -3");
  EXPECT_EQ(text(1.0 / 3, Type::Double), "const.double 0.3333333333333333");
  EXPECT_EQ(text(-0.0, Type::Real), "const.real -0");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity(), Type::Real), "const.real inf");
}

Pipeline nearest() {
  Field box = test::field(Role::Param, "box", 2);
  box.defaults = {1, 2.5};
  Field table = test::field(Role::InputI, "t", 2, Type::Float);
  table.length = 2;
  Pipeline p = test::pipeline_of(
      {table, test::field(Role::InputJ, "xj"), box, test::output("s"), test::output("near", Reduction::ArgMin)});
  Graph& g = p.pair;
  const NodeId x = g.leaf(Op::InputI, 3, Type::Float), guard = g.binary(Op::Lt, x, g.constant(1, Type::Float));
  p.contributions[0] = {.value = input_j(g, 0), .guard = guard, .scale = g.leaf(Op::Param, 1, Type::Real)};
  p.contributions[1].value = g.cast(g.leaf(Op::JIndex, 0, Type::Index), Type::Real);
  return p;
}

TEST(print, a_pipeline_with_its_fields_and_contributions) {
  Pipeline p = nearest();
  p.flops = 38;
  EXPECT_EQ(print(p),
            "pipeline hand_made\n"
            "input_i float vec2 t[2]\n"
            "input_j real xj\n"
            "param real vec2 box = 1, 2.5\n"
            "output(sum) real s\n"
            "output(argmin) index near\n"
            "flops 38\n"
            "pair\n"
            "  %0 = input_i.float 3       ; i, t[1].y\n"
            "  %1 = const.float 1         ; constant\n"
            "  %2 = lt.bool %0 %1         ; i\n"
            "  %3 = input_j.real 0        ; j, xj\n"
            "  %4 = param.real 1          ; param, box.y\n"
            "  %5 = j_index.index         ; j\n"
            "  %6 = cast.real %5          ; j\n"
            "  s += %3 if %2 times %4 after the sum\n"
            "  near = argmin(near, %6)\n");
}

TEST(print, finish_has_its_own_numbers) {
  Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  p.finished = {p.finish.unary(Op::Sqrt, p.finish.leaf(Op::Output, 0, Type::Real))};
  const std::string text = print(p);
  EXPECT_EQ(text.substr(text.find("finish\n")),
            "finish\n"
            "  %0 = output.real 0         ; i, s\n"
            "  %1 = sqrt.real %0          ; i\n"
            "  s = %1\n");
}

TEST(print, places_and_dead_nodes_do_not_show) {
  Pipeline a = test::sum_of([](Graph& g) { return input_j(g, 0); });
  Pipeline b = test::sum_of([](Graph& g) {
    g.constant(7);
    return g.leaf(Op::InputJ, 0, Type::Real, {5, 6});
  });
  EXPECT_EQ(print(a), print(b));
}

}  // namespace
}  // namespace nbcc
