#include "compiler/ir/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

using test::input_i;
using test::input_j;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

// The particles of sum_of()'s pipelines.
OracleInput particles(std::vector<double> xi, std::vector<double> xj, double p = 0) {
  OracleInput input;
  input.ni = std::int64_t(xi.size());
  input.nj = std::int64_t(xj.size());
  input.i = {std::move(xi)};
  input.j = {std::move(xj)};
  input.params = {p};
  return input;
}

// The sum over j of `value` for one i at `xi`.
double sum(const std::function<NodeId(Graph&)>& value, std::vector<double> xj, double xi = 0, double p = 0) {
  return interpret(test::sum_of(value), particles({xi}, std::move(xj), p)).values[0][0];
}

double op(Op op, double a, double b = 0, Type type = Type::Double) {
  return sum(
      [&](Graph& g) {
        const NodeId first = g.constant(a, type);
        return arity(op) == 1 ? g.unary(op, first) : g.binary(op, first, g.constant(b, type));
      },
      {0});
}

double xj_reduced(Reduction reduction, std::vector<double> xj, std::int64_t j_offset = 0) {
  Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  p.fields.back().reduction = reduction;
  OracleInput input = particles({0}, std::move(xj));
  input.j_offset = j_offset;
  return interpret(p, input).values[0][0];
}

TEST(interpret, sums_over_j_for_each_i) {
  const Pipeline p = test::sum_of([](Graph& g) { return g.binary(Op::Sub, input_j(g, 0), input_i(g, 0)); });
  EXPECT_EQ(interpret(p, particles({0, 10}, {1, 2, 4})).values[0], (std::vector<double>{7, -23}));
}

// Two places, what goes along with the last of them, and what stands where there is none.
TEST(interpret, choices_of_several_places) {
  Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  Field& near = p.fields.back();
  near.reduction = Reduction::ArgMin;
  near.type = Type::Index;
  near.length = 2;
  Field along = near;
  along.name = "along";
  along.reduction = Reduction::At;
  along.type = Type::Real;
  along.first = 2;
  along.follows = 0;
  p.fields.push_back(along);
  const Contribution chosen = p.contributions.front();
  const NodeId twice = p.pair.binary(Op::Add, chosen.value, chosen.value);
  p.contributions = {chosen, chosen, {twice}, {twice}};
  const auto results = [&](std::vector<double> xj) {
    std::vector<double> all;
    for (const auto& column : interpret(p, particles({0}, std::move(xj))).values) all.push_back(column[0]);
    return all;
  };
  EXPECT_EQ(results({3, kNan, 1, 2, 1}), (std::vector<double>{2, 4, 2, 2}));
  EXPECT_EQ(results({kInf, 3, 1}), (std::vector<double>{2, 1, 2, 6}));
  const std::vector<double> one = results({kNan, 5});
  EXPECT_EQ(one[0], 1);
  EXPECT_EQ(one[1], -1);
  EXPECT_EQ(one[2], 10);
  EXPECT_TRUE(std::isnan(one[3]));
}

TEST(interpret, more_j_than_a_batch) {
  for (std::size_t n : {255, 256, 257, 513}) {
    EXPECT_EQ(sum([](Graph& g) { return input_j(g, 0); }, std::vector<double>(n, 1.0)), double(n));
  }
}

TEST(interpret, the_asked_i_in_their_order) {
  const Pipeline p = test::sum_of([](Graph& g) { return input_i(g, 0); });
  const std::int64_t which[] = {2, 0};
  EXPECT_EQ(interpret(p, particles({5, 6, 7}, {0}), which).values[0], (std::vector<double>{7, 5}));
}

TEST(interpret, params_are_read) {
  EXPECT_EQ(sum([](Graph& g) { return g.leaf(Op::Param, 0, Type::Real); }, {0, 0}, 0, 2.5), 5.0);
}

TEST(interpret, sums_are_compensated) {
  EXPECT_EQ(sum([](Graph& g) { return input_j(g, 0); }, {1, 1e100, 1, -1e100}), 2.0);
}

TEST(interpret, magnitude_is_the_sum_of_absolute_terms) {
  const Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  EXPECT_EQ(interpret(p, particles({0}, {1, -2, 4})).magnitudes[0][0], 7.0);
}

TEST(interpret, infinity_and_nan_reach_the_sum) {
  const auto xj = [](Graph& g) { return input_j(g, 0); };
  EXPECT_EQ(sum(xj, {1, kInf, 2}), kInf);
  EXPECT_EQ(sum(xj, {1, -kInf, 2, 3}), -kInf);
  EXPECT_TRUE(std::isnan(sum(xj, {1, kNan, 2})));
  EXPECT_TRUE(std::isnan(sum(xj, {kInf, -kInf})));
}

TEST(interpret, nan_disturbs_no_other_i) {
  const Pipeline p = test::sum_of([](Graph& g) { return g.binary(Op::Mul, input_j(g, 0), input_i(g, 0)); });
  const auto values = interpret(p, particles({1, kNan, 3}, {1, 1})).values[0];
  EXPECT_EQ(values[0], 2);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 6);
}

TEST(interpret, a_guarded_value_is_ignored_even_if_nan) {
  Pipeline p = test::sum_of([](Graph& g) { return g.unary(Op::Sqrt, input_j(g, 0)); });
  p.contributions[0].guard = p.pair.binary(Op::Le, p.pair.constant(0), input_j(p.pair, 0));
  EXPECT_EQ(interpret(p, particles({0}, {4, -1, 9})).values[0][0], 5);
  EXPECT_EQ(interpret(p, particles({0}, {4, -1, 9})).magnitudes[0][0], 5);
}

TEST(interpret, scale_is_applied_after_the_sum) {
  Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  p.contributions[0].scale = input_i(p.pair, 0);
  const OracleOutput out = interpret(p, particles({-2}, {0.5, 4}));
  EXPECT_EQ(out.values[0][0], -9);
  EXPECT_EQ(out.magnitudes[0][0], 9);
}

TEST(interpret, empty_reductions) {
  EXPECT_EQ(xj_reduced(Reduction::Sum, {}), 0);
  EXPECT_EQ(xj_reduced(Reduction::Min, {}), kInf);
  EXPECT_EQ(xj_reduced(Reduction::Max, {}), -kInf);
  EXPECT_EQ(xj_reduced(Reduction::ArgMin, {}), -1);
  EXPECT_EQ(xj_reduced(Reduction::ArgMax, {}), -1);
  EXPECT_EQ(xj_reduced(Reduction::LogSumExp, {}), -kInf);
  EXPECT_EQ(xj_reduced(Reduction::Product, {}), 1);
  EXPECT_EQ(xj_reduced(Reduction::Count, {}), 0);
}

TEST(interpret, exponentials_do_not_overflow) {
  EXPECT_EQ(xj_reduced(Reduction::LogSumExp, {-1e4}), -1e4);
  EXPECT_DOUBLE_EQ(xj_reduced(Reduction::LogSumExp, {1e4, 1e4, -kInf}), 1e4 + std::log(2));
  EXPECT_EQ(xj_reduced(Reduction::LogSumExp, {1, kInf}), kInf);
  EXPECT_TRUE(std::isnan(xj_reduced(Reduction::LogSumExp, {kInf, kNan})));
  Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  p.fields.back().reduction = Reduction::Softmax;
  p.contributions[0].logit = p.pair.unary(Op::Neg, input_j(p.pair, 0));
  const OracleOutput out = interpret(p, particles({0}, {-1000, 1000, -1000}));
  EXPECT_EQ(out.values[0][0], -1000);
  EXPECT_EQ(out.magnitudes[0][0], 1000);
  EXPECT_TRUE(std::isnan(interpret(p, particles({0}, {})).values[0][0]));
}

TEST(interpret, products) { EXPECT_EQ(xj_reduced(Reduction::Product, {3, -5, 7}), -105); }

TEST(interpret, no_i_at_all) {
  const Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  EXPECT_TRUE(interpret(p, particles({}, {1})).values[0].empty());
}

TEST(interpret, min_and_max_propagate_nan) {
  EXPECT_EQ(xj_reduced(Reduction::Min, {3, 1, 2}), 1);
  EXPECT_EQ(xj_reduced(Reduction::Max, {1, 3, 2}), 3);
  EXPECT_TRUE(std::isnan(xj_reduced(Reduction::Min, {3, kNan, 2})));
  EXPECT_TRUE(std::isnan(xj_reduced(Reduction::Max, {3, kNan, 4})));
}

TEST(interpret, the_lowest_j_wins_ties) {
  EXPECT_EQ(xj_reduced(Reduction::ArgMin, {3, 1, 1}), 1);
  EXPECT_EQ(xj_reduced(Reduction::ArgMax, {3, 5, 5}), 1);
}

TEST(interpret, nan_is_never_nearest) {
  EXPECT_EQ(xj_reduced(Reduction::ArgMin, {kNan, 2, kNan, 1}), 3);
  EXPECT_EQ(xj_reduced(Reduction::ArgMax, {kNan, 2, kNan, 1}), 1);
  EXPECT_EQ(xj_reduced(Reduction::ArgMin, {kNan}), -1);
}

TEST(interpret, the_kept_index_has_the_callers_offset) {
  std::vector<double> xj(300, 1.0);
  xj[290] = 0;
  EXPECT_EQ(xj_reduced(Reduction::ArgMin, xj, 1000), 1290);
}

TEST(interpret, indices_have_the_callers_offsets) {
  const Pipeline p = test::sum_of([](Graph& g) {
    const NodeId i = g.leaf(Op::IIndex, 0, Type::Index), j = g.leaf(Op::JIndex, 0, Type::Index);
    return g.cast(g.binary(Op::Sub, j, i), Type::Real);
  });
  OracleInput input = particles({0, 0}, {0, 0});
  input.i_offset = 10;
  input.j_offset = 100;
  EXPECT_EQ(interpret(p, input).values[0], (std::vector<double>{181, 179}));
}

TEST(interpret, finish_reads_sums_and_inputs) {
  Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  Graph& g = p.finish;
  const NodeId s = g.leaf(Op::Output, 0, Type::Real);
  p.finished = {g.binary(Op::Mul, g.unary(Op::Sqrt, s), g.leaf(Op::InputI, 0, Type::Real))};
  const OracleOutput out = interpret(p, particles({2, 3}, {7, 9}));
  EXPECT_EQ(out.values[0], (std::vector<double>{8, 12}));
  EXPECT_EQ(out.magnitudes[0], (std::vector<double>{16, 16}));
}

TEST(interpret, integers_truncate_and_wrap) {
  EXPECT_EQ(op(Op::Div, -7, 2, Type::Int), -3);
  EXPECT_EQ(op(Op::Rem, -7, 2, Type::Index), -1);
  EXPECT_EQ(op(Op::Mul, 65536, 65536, Type::Int), 0);
  EXPECT_EQ(op(Op::Mul, 65536, 65536, Type::Index), 4294967296.0);
  EXPECT_EQ(op(Op::Neg, -2147483648.0, 0, Type::Int), -2147483648.0);
  EXPECT_EQ(op(Op::Div, -2147483648.0, -1, Type::Int), -2147483648.0);
}

TEST(interpret, casts_to_integers_truncate) {
  const auto cast = [](double x, Type from, Type to) {
    return sum([&](Graph& g) { return g.cast(g.cast(g.constant(x, from), to), Type::Double); }, {0});
  };
  EXPECT_EQ(cast(-2.75, Type::Real, Type::Int), -2);
  EXPECT_EQ(cast(1e10, Type::Real, Type::Index), 1e10);
  EXPECT_EQ(cast(4294967298.0, Type::Index, Type::Int), 2);
  EXPECT_EQ(cast(0.5, Type::Real, Type::Bool), 1);
  EXPECT_EQ(cast(0.1, Type::Double, Type::Float), 0.1);
}

TEST(interpret, rounds_half_away_from_zero) {
  EXPECT_EQ(op(Op::Round, 2.5), 3);
  EXPECT_EQ(op(Op::Round, -2.5), -3);
  EXPECT_EQ(op(Op::Rint, 2.5), 2);
  EXPECT_EQ(op(Op::Rint, -3.5), -4);
  EXPECT_EQ(op(Op::Floor, -2.5), -3);
  EXPECT_EQ(op(Op::Ceil, -2.5), -2);
  EXPECT_EQ(op(Op::Trunc, -2.5), -2);
}

TEST(interpret, min_and_max_of_two_give_nan) {
  for (Op extreme : {Op::Min, Op::Max}) {
    EXPECT_TRUE(std::isnan(op(extreme, kNan, 1)));
    EXPECT_TRUE(std::isnan(op(extreme, 1, kNan)));
  }
  EXPECT_EQ(op(Op::Min, 1, 2), 1);
  EXPECT_EQ(op(Op::Max, 1, 2), 2);
}

TEST(interpret, multiples_of_pi_are_exact) {
  EXPECT_EQ(op(Op::SinPi, 1e15), 0);
  EXPECT_EQ(op(Op::SinPi, 2.5), 1);
  EXPECT_EQ(op(Op::SinPi, -0.5), -1);
  EXPECT_EQ(op(Op::CosPi, 1e15 + 1), -1);
  EXPECT_EQ(op(Op::CosPi, 0.5), 0);
  EXPECT_DOUBLE_EQ(op(Op::SinPi, 0.3), std::sin(0.3 * std::numbers::pi));
  EXPECT_DOUBLE_EQ(op(Op::CosPi, 0.8), std::cos(0.8 * std::numbers::pi));
  EXPECT_TRUE(std::isnan(op(Op::SinPi, kInf)));
}

TEST(interpret, functions_are_those_of_their_names) {
  struct Known {
    Op op;
    double argument, value;
  };
  const Known table[] = {{Op::Neg, 2, -2},
                         {Op::Abs, -2, 2},
                         {Op::Sqrt, 2, std::numbers::sqrt2},
                         {Op::Rsqrt, 0.25, 2},
                         {Op::RsqrtEstimate, 0.25, 2},
                         {Op::Cbrt, -27, -3},
                         {Op::Exp, 1, std::numbers::e},
                         {Op::Exp2, 3, 8},
                         {Op::Log, 2, std::numbers::ln2},
                         {Op::Log2, 8, 3},
                         {Op::Sin, 1, 0.8414709848078965},
                         {Op::Cos, 1, 0.5403023058681398},
                         {Op::Tan, 1, 1.5574077246549023},
                         {Op::Asin, 0.5, std::numbers::pi / 6},
                         {Op::Acos, 0.5, std::numbers::pi / 3},
                         {Op::Atan, 1, std::numbers::pi / 4},
                         {Op::Sinh, 1, 1.1752011936438014},
                         {Op::Cosh, 1, 1.5430806348152437},
                         {Op::Tanh, 1, 0.7615941559557649},
                         {Op::Expm1, 1e-9, 1.0000000005e-9},
                         {Op::Log1p, 1e-9, 9.999999995e-10},
                         {Op::Log10, 1000, 3},
                         {Op::Asinh, 1, 0.881373587019543},
                         {Op::Acosh, 2, 1.3169578969248166},
                         {Op::Atanh, 0.5, 0.5493061443340548},
                         {Op::Lgamma, 10, 12.801827480081469},
                         {Op::Tgamma, 5, 24},
                         {Op::BesselJ0, 1, 0.7651976865579666},
                         {Op::BesselJ1, 1, 0.4400505857449335},
                         {Op::BesselK0, 1, 0.42102443824070834},
                         {Op::BesselK1, 1, 0.6019072301972346},
                         {Op::BesselI0, 1, 1.2660658777520084},
                         {Op::BesselI1, 1, 0.565159103992485},
                         {Op::Erf, 1, 0.8427007929497149},
                         {Op::Erfc, 1, 0.15729920705028513}};
  for (const Known& known : table) EXPECT_DOUBLE_EQ(op(known.op, known.argument), known.value) << name(known.op);
}

TEST(interpret, functions_of_two_have_their_arguments_in_order) {
  EXPECT_EQ(op(Op::Sub, 5, 2), 3);
  EXPECT_EQ(op(Op::Div, 1, 4), 0.25);
  EXPECT_EQ(op(Op::Pow, 2, 10), 1024);
  EXPECT_DOUBLE_EQ(op(Op::Atan2, 1, 0), std::numbers::pi / 2);
  EXPECT_EQ(op(Op::CopySign, 3, -0.0), -3);
  EXPECT_EQ(op(Op::Hypot, 3, -4), 5);
  EXPECT_EQ(op(Op::Fmod, -7, 4), -3);
}

TEST(interpret, logic_and_comparisons) {
  const auto truth = [](Op op, double a, double b, Type type) {
    return sum(
        [&](Graph& g) {
          const NodeId first = g.constant(a, type);
          const NodeId condition = arity(op) == 1 ? g.unary(op, first) : g.binary(op, first, g.constant(b, type));
          return g.select(condition, g.constant(1), g.constant(kNan));
        },
        {0});
  };
  EXPECT_EQ(truth(Op::Lt, 1, 2, Type::Real), 1);
  EXPECT_EQ(truth(Op::Le, 2, 2, Type::Real), 1);
  EXPECT_EQ(truth(Op::Eq, 2, 2, Type::Int), 1);
  EXPECT_EQ(truth(Op::And, 1, 1, Type::Bool), 1);
  EXPECT_EQ(truth(Op::Or, 0, 1, Type::Bool), 1);
  EXPECT_EQ(truth(Op::Not, 0, 0, Type::Bool), 1);
  EXPECT_TRUE(std::isnan(truth(Op::Lt, 2, 2, Type::Real)));
  EXPECT_TRUE(std::isnan(truth(Op::Le, 2, kNan, Type::Real)));
  EXPECT_TRUE(std::isnan(truth(Op::Eq, kNan, kNan, Type::Real)));
  EXPECT_TRUE(std::isnan(truth(Op::And, 1, 0, Type::Bool)));
  EXPECT_TRUE(std::isnan(truth(Op::Or, 0, 0, Type::Bool)));
  EXPECT_TRUE(std::isnan(truth(Op::Not, 1, 0, Type::Bool)));
}

TEST(interpret, fma_rounds_once) {
  const double a = 1 + 0x1p-30;
  EXPECT_EQ(
      sum([&](Graph& g) { return g.make(Op::Fma, Type::Real, {g.constant(a), g.constant(a), g.constant(-1)}); }, {0}),
      std::fma(a, a, -1));
}

TEST(interpret, refuses_particles_that_do_not_fit) {
  const Pipeline p = test::sum_of([](Graph& g) { return input_j(g, 0); });
  OracleInput short_column = particles({0}, {1, 2});
  short_column.j[0].pop_back();
  EXPECT_THROW(interpret(p, short_column), std::invalid_argument);
  OracleInput no_param = particles({0}, {1, 2});
  no_param.params.clear();
  EXPECT_THROW(interpret(p, no_param), std::invalid_argument);
  const std::int64_t which[] = {1};
  EXPECT_THROW(interpret(p, particles({0}, {1}), which), std::out_of_range);
}

}  // namespace
}  // namespace nbcc
