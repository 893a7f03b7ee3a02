#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "tests/support/hand_made.h"
#include "tests/support/random_source.h"

namespace nbcc {
namespace {

using test::input_i;
using test::input_j;

struct FoldCase {
  const char* name;
  std::function<NodeId(Graph&)> build;
  const char* folded;  // the IR without its comments and indentation, lines joined by "; "
};

std::string short_form(const std::string& dump) {
  std::string result;
  for (std::size_t at = 0; at < dump.size(); at = dump.find('\n', at) + 1) {
    const std::string line = dump.substr(at + 2, dump.find(';', at) - at - 2);
    result += (at == 0 ? "" : "; ") + line.substr(0, line.find_last_not_of(' ') + 1);
  }
  return result;
}

// So that values of any type can be a contribution.
std::string fold_of(const std::function<NodeId(Graph&)>& build) {
  Pipeline p = test::sum_of([&](Graph& g) {
    const NodeId value = build(g);
    return g[value].type == Type::Bool ? g.select(value, input_i(g, 0), input_j(g, 0)) : value;
  });
  fold(p);
  verify(p, "fold");
  return short_form(print(p.pair, p.roots()));
}

template <std::size_t n>
void expect_folds(const FoldCase (&table)[n]) {
  for (const FoldCase& c : table) EXPECT_EQ(fold_of(c.build), c.folded) << c.name;
}

NodeId x(Graph& g) { return input_j(g, 0); }
NodeId y(Graph& g) { return input_i(g, 0); }
NodeId less(Graph& g) {
  const NodeId a = x(g);
  return g.binary(Op::Lt, a, y(g));
}
NodeId neg(Graph& g, NodeId a) { return g.unary(Op::Neg, a); }
NodeId c(Graph& g, double value, Type type = Type::Real) { return g.constant(value, type); }
NodeId index(Graph& g) { return g.leaf(Op::JIndex, 0, Type::Index); }
// Both leaves in a fixed order of numbers: %0 is x, %1 is y.
template <class Build>
auto xy(const Build& build) {
  return [build](Graph& g) {
    const NodeId a = x(g), b = y(g);
    return build(g, a, b);
  };
}
#define X "%0 = input_j.real 0"
#define XY "%0 = input_j.real 0; %1 = input_i.real 0"

const FoldCase kArithmetic[] = {
    {"add_constants", [](Graph& g) { return g.binary(Op::Add, c(g, 2), c(g, 0.5)); }, "%0 = const.real 2.5"},
    {"function_of_constant", [](Graph& g) { return g.unary(Op::Sqrt, c(g, 16)); }, "%0 = const.real 4"},
    {"fma_of_constants", [](Graph& g) { return g.make(Op::Fma, Type::Real, {c(g, 2), c(g, 3), c(g, 4)}); },
     "%0 = const.real 10"},
    {"float_is_rounded", [](Graph& g) { return g.binary(Op::Add, c(g, 0.1f, Type::Float), c(g, 1e-12, Type::Float)); },
     "%0 = const.float 0.10000000149011612"},
    {"real_keeps_double", [](Graph& g) { return g.binary(Op::Add, c(g, 1), c(g, 1e-12)); },
     "%0 = const.real 1.000000000001"},
    {"int_wraps", [](Graph& g) { return g.binary(Op::Add, c(g, 2147483647, Type::Int), c(g, 1, Type::Int)); },
     "%0 = const.int -2147483648"},
    {"int_division_truncates", [](Graph& g) { return g.binary(Op::Div, c(g, -7, Type::Int), c(g, 2, Type::Int)); },
     "%0 = const.int -3"},
    {"int_division_by_zero_stays",
     [](Graph& g) {
       const NodeId one = c(g, 1, Type::Int);
       return g.binary(Op::Div, one, c(g, 0, Type::Int));
     },
     "%0 = const.int 1; %1 = const.int 0; %2 = div.int %0 %1"},
    {"infinite_result_stays",
     [](Graph& g) {
       const NodeId one = c(g, 1);
       return g.binary(Op::Div, one, c(g, 0));
     },
     "%0 = const.real 1; %1 = const.real 0; %2 = div.real %0 %1"},
    {"x_plus_0", [](Graph& g) { return g.binary(Op::Add, x(g), c(g, 0)); }, X},
    {"0_plus_x", [](Graph& g) { return g.binary(Op::Add, c(g, 0), x(g)); }, X},
    {"x_minus_0", [](Graph& g) { return g.binary(Op::Sub, x(g), c(g, 0)); }, X},
    {"0_minus_x", [](Graph& g) { return g.binary(Op::Sub, c(g, 0), x(g)); }, X "; %1 = neg.real %0"},
    {"x_times_1", [](Graph& g) { return g.binary(Op::Mul, x(g), c(g, 1)); }, X},
    {"1_times_x", [](Graph& g) { return g.binary(Op::Mul, c(g, 1), x(g)); }, X},
    {"x_times_minus_1", [](Graph& g) { return g.binary(Op::Mul, x(g), c(g, -1)); }, X "; %1 = neg.real %0"},
    {"x_times_0_stays",
     [](Graph& g) {
       const NodeId a = x(g);
       return g.binary(Op::Mul, a, c(g, 0));
     },
     X "; %1 = const.real 0; %2 = mul.real %0 %1"},
    {"x_minus_x_stays", [](Graph& g) { return g.binary(Op::Sub, x(g), x(g)); }, X "; %1 = sub.real %0 %0"},
    {"x_over_1", [](Graph& g) { return g.binary(Op::Div, x(g), c(g, 1)); }, X},
    {"x_over_power_of_two",
     [](Graph& g) {
       const NodeId a = x(g);
       return g.binary(Op::Div, a, c(g, -8));
     },
     X "; %1 = const.real -0.125; %2 = mul.real %0 %1"},
    {"x_over_3_stays",
     [](Graph& g) {
       const NodeId a = x(g);
       return g.binary(Op::Div, a, c(g, 3));
     },
     X "; %1 = const.real 3; %2 = div.real %0 %1"},
    {"x_over_a_power_that_float_cannot_invert_stays",
     [](Graph& g) {
       const NodeId a = x(g);
       return g.binary(Op::Div, a, c(g, 0x1p130));
     },
     X "; %1 = const.real 1.361129467683754e+39; %2 = div.real %0 %1"},
    {"index_over_2_stays",
     [](Graph& g) {
       const NodeId a = index(g);
       return g.binary(Op::Div, a, c(g, 2, Type::Index));
     },
     "%0 = j_index.index; %1 = const.index 2; %2 = div.index %0 %1"},
};

const FoldCase kSigns[] = {
    {"double_negation", [](Graph& g) { return neg(g, neg(g, x(g))); }, X},
    {"x_minus_negative", xy([](Graph& g, NodeId a, NodeId b) { return g.binary(Op::Sub, a, neg(g, b)); }),
     XY "; %2 = add.real %0 %1"},
    {"x_plus_negative", xy([](Graph& g, NodeId a, NodeId b) { return g.binary(Op::Add, a, neg(g, b)); }),
     XY "; %2 = sub.real %0 %1"},
    {"negative_plus_x", xy([](Graph& g, NodeId a, NodeId b) { return g.binary(Op::Add, neg(g, a), b); }),
     XY "; %2 = sub.real %1 %0"},
    {"product_of_negatives", xy([](Graph& g, NodeId a, NodeId b) { return g.binary(Op::Mul, neg(g, a), neg(g, b)); }),
     XY "; %2 = mul.real %0 %1"},
    {"quotient_of_negatives", xy([](Graph& g, NodeId a, NodeId b) { return g.binary(Op::Div, neg(g, a), neg(g, b)); }),
     XY "; %2 = div.real %0 %1"},
    {"abs_of_negative", [](Graph& g) { return g.unary(Op::Abs, neg(g, x(g))); }, X "; %1 = abs.real %0"},
    {"abs_of_abs", [](Graph& g) { return g.unary(Op::Abs, g.unary(Op::Abs, x(g))); }, X "; %1 = abs.real %0"},
    {"min_of_one", [](Graph& g) { return g.binary(Op::Min, x(g), x(g)); }, X},
    {"a_result_folds_again",
     xy([](Graph& g, NodeId a, NodeId) { return g.binary(Op::Sub, c(g, 0), g.binary(Op::Sub, c(g, 0), a)); }), X},
};

#define LESS XY "; %2 = lt.bool %0 %1"
#define CHOICE "%3 = select.real %2 %1 %0"

const FoldCase kLogic[] = {
    {"select_true", xy([](Graph& g, NodeId a, NodeId b) { return g.select(c(g, 1, Type::Bool), a, b); }), X},
    {"select_false", xy([](Graph& g, NodeId a, NodeId b) { return g.select(c(g, 0, Type::Bool), b, a); }), X},
    {"select_of_equals", [](Graph& g) { return g.select(less(g), x(g), x(g)); }, X},
    {"select_of_not", xy([](Graph& g, NodeId a, NodeId b) { return g.select(g.unary(Op::Not, less(g)), a, b); }),
     LESS "; " CHOICE},
    {"not_not", [](Graph& g) { return g.unary(Op::Not, g.unary(Op::Not, less(g))); }, LESS "; " CHOICE},
    {"and_true", [](Graph& g) { return g.binary(Op::And, less(g), c(g, 1, Type::Bool)); }, LESS "; " CHOICE},
    {"or_false", [](Graph& g) { return g.binary(Op::Or, c(g, 0, Type::Bool), less(g)); }, LESS "; " CHOICE},
    {"and_false", [](Graph& g) { return g.binary(Op::And, less(g), c(g, 0, Type::Bool)); }, X},
    {"or_true", [](Graph& g) { return g.binary(Op::Or, less(g), c(g, 1, Type::Bool)); }, "%0 = input_i.real 0"},
    {"and_of_equals", [](Graph& g) { return g.binary(Op::And, less(g), less(g)); }, LESS "; " CHOICE},
    {"select_true_false", [](Graph& g) { return g.select(less(g), c(g, 1, Type::Bool), c(g, 0, Type::Bool)); },
     LESS "; " CHOICE},
    {"select_false_true", [](Graph& g) { return g.select(less(g), c(g, 0, Type::Bool), c(g, 1, Type::Bool)); },
     LESS "; %3 = select.real %2 %0 %1"},
};

const FoldCase kCasts[] = {
    {"there_and_back", [](Graph& g) { return g.cast(g.cast(x(g), Type::Double), Type::Real); }, X},
    {"a_rounding_stays", [](Graph& g) { return g.cast(g.cast(x(g), Type::Float), Type::Real); },
     X "; %1 = cast.float %0; %2 = cast.real %1"},
    {"a_truncation_stays", [](Graph& g) { return g.cast(g.cast(x(g), Type::Int), Type::Real); },
     X "; %1 = cast.int %0; %2 = cast.real %1"},
    {"of_a_constant", [](Graph& g) { return g.cast(c(g, -2.75), Type::Int); }, "%0 = const.int -2"},
    {"out_of_range_stays", [](Graph& g) { return g.cast(c(g, 1e10), Type::Int); },
     "%0 = const.real 10000000000; %1 = cast.int %0"},
};

TEST(fold, arithmetic) { expect_folds(kArithmetic); }

TEST(fold, signs) { expect_folds(kSigns); }

TEST(fold, logic) { expect_folds(kLogic); }

TEST(fold, casts) { expect_folds(kCasts); }

TEST(fold, a_guard_that_always_holds_is_none) {
  Pipeline p = test::sum_of([](Graph& g) { return x(g); });
  p.contributions[0].guard = p.pair.unary(Op::Not, c(p.pair, 0, Type::Bool));
  fold(p);
  EXPECT_EQ(p.contributions[0].guard, kNone);
}

TEST(fold, a_guard_that_never_holds_stays) {
  Pipeline p = test::sum_of([](Graph& g) { return x(g); });
  p.contributions[0].guard = c(p.pair, 0, Type::Bool);
  fold(p);
  EXPECT_TRUE(p.pair.is_constant(p.contributions[0].guard, 0));
}

TEST(fold, estimates_are_the_targets) {
  Pipeline p = test::sum_of([](Graph& g) { return g.unary(Op::RsqrtEstimate, c(g, 4)); });
  fold(p);
  EXPECT_EQ(p.pair[p.contributions[0].value].op, Op::RsqrtEstimate);
}

TEST(fold, reaches_finish) {
  Pipeline p = test::sum_of([](Graph& g) { return x(g); });
  p.finished = {p.finish.binary(Op::Mul, p.finish.leaf(Op::Output, 0, Type::Real), p.finish.constant(1))};
  fold(p);
  EXPECT_EQ(p.finish[p.finished[0]].op, Op::Output);
}

// A random graph over x, y and a few constants. No division by what may be zero: the sign of zero is not kept.
NodeId random_value(Graph& g, test::RandomSource& random) {
  std::vector<NodeId> known{x(g), y(g)};
  for (double value : {0.0, 1.0, -1.0, 2.0, 3.0}) known.push_back(c(g, value));
  static const std::vector<Op> ops{Op::Neg, Op::Abs, Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Div, Op::Select};
  for (int n = 0; n < 12; ++n) {
    const Op op = random.pick(ops);
    const NodeId a = random.pick(known), b = random.pick(known), d = random.pick(known);
    if (op == Op::Select) {
      const NodeId less_than = g.binary(Op::Lt, a, b), not_less = g.unary(Op::Not, less_than);
      known.push_back(g.select(g.binary(random.chance(50) ? Op::And : Op::Or, less_than, not_less), a, d));
      known.push_back(g.select(not_less, b, d));
    } else if (op == Op::Div) {
      known.push_back(g.binary(op, a, c(g, random.between(1, 4))));
    } else {
      known.push_back(arity(op) == 1 ? g.unary(op, a) : g.binary(op, a, b));
    }
  }
  NodeId value = known.back();
  // All of them count: the later ones weigh more, so that no two cancel.
  for (std::size_t k = 7; k < known.size(); ++k)
    value = g.binary(Op::Add, g.binary(Op::Mul, value, c(g, 1.25)), known[k]);
  return value;
}

TEST(fold, keeps_the_value_of_random_graphs) {
  OracleInput input{.ni = 3, .nj = 1, .i = {{-1.5, NAN, INFINITY}}, .j = {{0.75}}, .params = {1}};
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    test::RandomSource random(seed);
    Pipeline p = test::sum_of([&](Graph& g) { return random_value(g, random); });
    const std::vector<double> before = interpret(p, input).values[0];
    fold(p);
    verify(p, "fold");
    const std::vector<double> after = interpret(p, input).values[0];
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(before[i] == after[i] || (std::isnan(before[i]) && std::isnan(after[i]))) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace nbcc
