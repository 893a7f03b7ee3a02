// Derivatives against differences and against the complex step, which knows no rule of ours.
#include "compiler/passes/derive/derivative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include "compiler/ir/interpret.h"
#include "tests/support/graph_values.h"
#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

using std::fabs;
using test::Complex, test::Values, test::Wide;

// Derivatives of `y` by leaf k, h -> 0 without a difference.
Wide complex_step(const Graph& graph, NodeId y, const std::vector<double>& at, std::size_t k) {
  constexpr Wide h = 1e-30L;
  std::vector<Complex> leaves(at.begin(), at.end());
  leaves[k] += Complex(0, h);
  return Values<Complex>(graph, leaves)[y].imag() / h;
}

// ---- each operation

double value_of(Op op, double a, double b, double c) {
  double out = 0;
  evaluate(op, Type::Double, Type::Double, {&a, &b, &c}, &out, 1);
  return out;
}

// By Richardson's extrapolation of central differences, and how wrong that may be: as far as its last two steps are
// apart, and by the roundings of the values, each `epsilons` of its size, over the step.
std::pair<double, double> difference(const std::function<double(double)>& f, double x, double epsilons) {
  constexpr int kRows = 8;
  double table[kRows][kRows];
  double best = 0, error = HUGE_VAL;
  double h = 0.02 * std::max(1.0, fabs(x));
  for (int row = 0; row < kRows; ++row, h /= 2) {
    const double right = f(x + h), left = f(x - h);
    const double rounding =
        epsilons * 0x1p-53 * (fabs(right) + fabs(left)) / h + 0x1p-53 * fabs(x) / h * fabs(right - left) / (2 * h);
    table[row][0] = (right - left) / (2 * h);
    for (int k = 1, power = 4; k <= row; ++k, power *= 4) {
      table[row][k] = (power * table[row][k - 1] - table[row - 1][k - 1]) / (power - 1);
      const double apart =
          std::max(fabs(table[row][k] - table[row][k - 1]), fabs(table[row][k] - table[row - 1][k - 1]));
      if (apart + rounding < error) best = table[row][k], error = apart + rounding;
    }
  }
  return {best, error};
}

// Of a graph that holds constants, and what the table of operations computes of them.
double table_value(const Graph& graph, NodeId id) {
  const Node& n = graph[id];
  if (n.op == Op::Const) return graph.constant_value(id);
  double args[3] = {};
  for (std::size_t k = 0; k < std::size_t(arity(n.op)); ++k) args[k] = table_value(graph, n.args[k]);
  return value_of(n.op, args[0], args[1], args[2]);
}

class InDouble final : public Arithmetic {
 public:
  explicit InDouble(Graph& graph) : graph_(graph) {}
  NodeId number(double value) override { return graph_.constant(value, Type::Double); }
  NodeId make(Op op, NodeId a, NodeId b) override { return b == kNone ? graph_.unary(op, a) : graph_.binary(op, a, b); }
  NodeId select(NodeId condition, NodeId yes, NodeId no) override { return graph_.select(condition, yes, no); }

 private:
  Graph& graph_;
};

TEST(derivative, of_each_operation_is_that_of_differences) {
  struct Range {
    Op op;
    double from, to;  // of the first argument
    double b_from = 0.3, b_to = 2.5;
  };
  const Range table[] = {
      {Op::Neg, -3, 3},       {Op::Abs, 0.1, 3},        {Op::Abs, -3, -0.1},    {Op::Sqrt, 0.1, 5},
      {Op::Rsqrt, 0.1, 5},    {Op::Cbrt, 0.1, 5},       {Op::Cbrt, -5, -0.1},   {Op::Exp, -3, 3},
      {Op::Exp2, -3, 3},      {Op::Log, 0.1, 5},        {Op::Log2, 0.1, 5},     {Op::Expm1, -2, 2},
      {Op::Log1p, -0.8, 4},   {Op::Log10, 0.1, 5},      {Op::Sin, -4, 4},       {Op::Cos, -4, 4},
      {Op::SinPi, -2, 2},     {Op::CosPi, -2, 2},       {Op::Tan, -1.2, 1.2},   {Op::Asin, -0.9, 0.9},
      {Op::Acos, -0.9, 0.9},  {Op::Atan, -4, 4},        {Op::Sinh, -3, 3},      {Op::Cosh, -3, 3},
      {Op::Tanh, -3, 3},      {Op::Asinh, -4, 4},       {Op::Acosh, 1.2, 5},    {Op::Atanh, -0.9, 0.9},
      {Op::Erf, -2, 2},       {Op::Erfc, -2, 2},        {Op::BesselJ0, 0.1, 9}, {Op::BesselJ1, 0.1, 9},
      {Op::BesselK0, 0.3, 5}, {Op::BesselK1, 0.3, 5},   {Op::BesselI0, -3, 3},  {Op::BesselI1, 0.1, 3},
      {Op::Cast, -3, 3},      {Op::Add, -3, 3},         {Op::Sub, -3, 3},       {Op::Mul, -3, 3},
      {Op::Div, -3, 3},       {Op::Pow, 0.3, 4},        {Op::Atan2, -3, 3},     {Op::Hypot, -3, 3},
      {Op::CopySign, 0.2, 3}, {Op::CopySign, -3, -0.2}, {Op::Fma, -3, 3},       {Op::Fmod, 3.1, 3.9, 1.05, 1.3}};
  std::mt19937_64 random(20);
  std::set<Op> tested;
  for (const Range& range : table)
    for (int trial = 0; trial < 20; ++trial) {
      double args[3] = {std::uniform_real_distribution(range.from, range.to)(random),
                        std::uniform_real_distribution(range.b_from, range.b_to)(random), 0.7};
      for (int k = 0; k < arity(range.op); ++k) {
        Graph graph;
        std::array<NodeId, 3> nodes{kNone, kNone, kNone};
        for (std::size_t a = 0; a < std::size_t(arity(range.op)); ++a) nodes[a] = graph.constant(args[a], Type::Double);
        const NodeId y = graph.make(range.op, Type::Double, nodes);
        ASSERT_NE(facts(range.op).partial, nullptr) << name(range.op);
        InDouble with(graph);
        const NodeId made = facts(range.op).partial(with, {y, nodes}, k);
        const double partial = made == kNone ? 0 : table_value(graph, made);
        const auto f = [&](double x) {
          double moved[3] = {args[0], args[1], args[2]};
          moved[k] = x;
          return value_of(range.op, moved[0], moved[1], moved[2]);
        };
        const double epsilons = std::max(1.0, facts(range.op).rounding.epsilons);
        const auto [expected, error] = difference(f, args[k], epsilons);
        EXPECT_NEAR(partial, expected, 2 * error + 4 * epsilons * 0x1p-53 * fabs(expected))
            << name(range.op) << " by argument " << k << " at " << args[0] << ", " << args[1];
      }
      tested.insert(range.op);
    }
  // Whoever adds an operation of real numbers says what its derivative is, or that it has none.
  const std::set<Op> without{Op::Lgamma, Op::Tgamma,        Op::RsqrtEstimate, Op::Min,          Op::Max,
                             Op::Select, Op::SumOfElements, Op::MinOfElements, Op::MaxOfElements};
  for (int op = int(Op::Neg); op <= int(Op::Select); ++op) {
    const OpFacts& of = facts(Op(op));
    const bool is_of_reals = of.typing == Typing::Real || of.typing == Typing::Number || of.typing == Typing::Choice;
    if (!is_of_reals || of.partial == &partials::none) continue;
    EXPECT_EQ(tested.contains(Op(op)), !without.contains(Op(op))) << of.name;
    EXPECT_EQ(of.partial == nullptr, without.contains(Op(op))) << of.name;
  }
}

// ---- random expressions

class RandomGraph {
 public:
  RandomGraph(Graph& graph, unsigned seed) : graph_(graph), random_(seed) {
    for (int k = 0; k < kLeaves; ++k) nodes_.push_back(test::input_i(graph, k));
  }
  static constexpr int kLeaves = 3;

  NodeId make(int operations) {
    for (int k = 0; k < operations; ++k) nodes_.push_back(next());
    return nodes_.back();
  }

 private:
  NodeId any() {
    if (one_of(8) == 0) return graph_.constant(0.5 * (one_of(9) - 4) + 0.25);
    // Those made last more often, so that expressions are deep.
    const int last = int(nodes_.size()) - 1;
    return nodes_[std::size_t(std::max(one_of(last + 1), one_of(last + 1)))];
  }
  // 1.25 + x^2, or the square root of that: what roots and logarithms can be taken of
  NodeId positive() {
    const NodeId x = any();
    return graph_.binary(Op::Add, graph_.binary(Op::Mul, x, x), graph_.constant(1.25));
  }
  NodeId next() {
    switch (one_of(16)) {
      case 0:
      case 1:
        return graph_.binary(Op::Add, any(), any());
      case 2:
        return graph_.binary(Op::Sub, any(), any());
      case 3:
      case 4:
      case 5:
        return graph_.binary(Op::Mul, any(), any());
      case 6:
        return graph_.binary(Op::Div, any(), positive());
      case 7:
        return graph_.unary(one_of(2) == 0 ? Op::Sqrt : Op::Rsqrt, positive());
      case 8:
        return graph_.unary(one_of(2) == 0 ? Op::Sin : Op::Cos, any());
      case 9:
        return graph_.unary(one_of(2) == 0 ? Op::Exp : Op::Exp2, graph_.unary(Op::Sin, any()));
      case 10:
        return graph_.unary(one_of(2) == 0 ? Op::Tanh : Op::Neg, any());
      case 11:
        return graph_.unary(Op::Log, positive());
      case 12:
        return graph_.binary(Op::Pow, positive(), graph_.constant(0.5 * (one_of(13) - 8)));
      case 13:
        return graph_.select(graph_.binary(Op::Lt, any(), any()), any(), any());
      case 14:
        return graph_.binary(one_of(2) == 0 ? Op::Min : Op::Max, any(), any());
      default:
        return one_of(2) == 0 ? graph_.unary(Op::Abs, any()) : graph_.make(Op::Fma, Type::Real, {any(), any(), any()});
    }
  }
  int one_of(int count) { return int(random_() % std::uint64_t(count)); }

  Graph& graph_;
  std::mt19937_64 random_;
  std::vector<NodeId> nodes_;
};

// As wrong as the same graph in double is against long double, and by roundings of the result.
Wide tolerance(Wide wide, double narrow, Wide other_wide, double other_narrow) {
  return 8 * (fabs(wide - narrow) + fabs(other_wide - other_narrow)) + 64 * 0x1p-53L * fabs(wide) + 1e-50L;
}

double complex_step_in_double(const Graph& graph, NodeId y, const std::vector<double>& at, std::size_t k) {
  std::vector<std::complex<double>> leaves(at.begin(), at.end());
  leaves[k] += std::complex<double>(0, 1e-30);
  return Values<std::complex<double>>(graph, leaves)[y].imag() / 1e-30;
}

struct Trial {
  Graph graph;
  NodeId y = kNone;
  std::vector<NodeId> leaves;
  std::vector<double> at;

  explicit Trial(unsigned seed) {
    std::mt19937_64 random(seed);
    y = RandomGraph(graph, seed).make(4 + int(random() % 20));
    for (int k = 0; k < RandomGraph::kLeaves; ++k) {
      leaves.push_back(test::input_i(graph, k));
      at.push_back(std::uniform_real_distribution(-2.0, 2.0)(random));
    }
  }
  bool is_moderate() const {
    const Wide value = Values<Wide>(graph, {at.begin(), at.end()})[y];
    return std::isfinite(value) && fabs(value) < 1e6;
  }
};

TEST(derivative, of_ten_thousand_expressions_is_that_of_the_complex_step) {
  int compared = 0;
  for (unsigned seed = 0; seed < 10000; ++seed) {
    Trial t(seed);
    if (!t.is_moderate()) continue;
    const std::vector<NodeId> by = gradient(t.graph, t.y, t.leaves);
    const Values<Wide> wide(t.graph, {t.at.begin(), t.at.end()});
    const Values<double> narrow(t.graph, t.at);
    for (std::size_t k = 0; k < by.size(); ++k) {
      const Wide expected = complex_step(t.graph, t.y, t.at, k);
      const Wide found = by[k] == kNone ? 0 : wide[by[k]];
      const double found_narrow = by[k] == kNone ? 0 : narrow[by[k]];
      if (!std::isfinite(expected)) continue;
      ASSERT_NEAR(double(found - expected), 0,
                  double(tolerance(found, found_narrow, expected, complex_step_in_double(t.graph, t.y, t.at, k))))
          << "seed " << seed << ", by leaf " << k << ": " << double(found) << ", not " << double(expected);
      ++compared;
    }
  }
  EXPECT_GT(compared, 25000);
}

TEST(derivative, of_the_second_order_is_that_of_the_first_ones_complex_step) {
  for (unsigned seed = 20000; seed < 21000; ++seed) {
    Trial t(seed);
    if (!t.is_moderate()) continue;
    const NodeId first = gradient(t.graph, t.y, t.leaves)[0];
    if (first == kNone) continue;
    const std::vector<NodeId> second = gradient(t.graph, first, t.leaves);
    const Values<Wide> wide(t.graph, {t.at.begin(), t.at.end()});
    const Values<double> narrow(t.graph, t.at);
    for (std::size_t k = 0; k < second.size(); ++k) {
      const Wide expected = complex_step(t.graph, first, t.at, k);
      const Wide found = second[k] == kNone ? 0 : wide[second[k]];
      if (!std::isfinite(expected) || fabs(expected) > 1e9L) continue;
      ASSERT_NEAR(double(found - expected), 0,
                  double(tolerance(found, second[k] == kNone ? 0 : narrow[second[k]], expected,
                                   complex_step_in_double(t.graph, first, t.at, k))))
          << "seed " << seed << ", by leaf " << k;
    }
  }
}

// A rate is the gradient times the rates of the leaves, by another way through the graph.
TEST(derivative, forwards_is_the_derivative_backwards) {
  for (unsigned seed = 30000; seed < 34000; ++seed) {
    Trial t(seed);
    if (!t.is_moderate()) continue;
    const double speeds[] = {0.75, -1.5, 2.25};
    std::map<NodeId, NodeId> rates;
    for (std::size_t k = 0; k < 3; ++k) rates[t.leaves[k]] = t.graph.constant(speeds[k]);
    const NodeId rate = rates_of_change(t.graph, std::span(&t.y, 1), rates)[0];
    const std::vector<NodeId> by = gradient(t.graph, t.y, t.leaves);
    const Values<Wide> wide(t.graph, {t.at.begin(), t.at.end()});
    const Values<double> narrow(t.graph, t.at);
    Wide expected = 0;
    double expected_narrow = 0, size = 0;
    for (std::size_t k = 0; k < 3; ++k)
      if (by[k] != kNone) {
        expected += speeds[k] * wide[by[k]], expected_narrow += speeds[k] * narrow[by[k]];
        size += double(fabs(speeds[k] * wide[by[k]]));
      }
    const Wide found = rate == kNone ? 0 : wide[rate];
    if (!std::isfinite(expected)) continue;
    ASSERT_NEAR(double(found - expected), 0,
                double(tolerance(found, rate == kNone ? 0 : narrow[rate], expected, expected_narrow)) + 0x1p-50 * size)
        << "seed " << seed;
  }
}

// ---- what the differences cannot tell

TEST(derivative, drops_the_branch_that_is_not_taken) {
  // x > 0 ? sqrt(x) : 0 at 0: the root's derivative is infinite there.
  Graph g;
  const NodeId x = test::input_i(g, 0), zero = g.constant(0);
  const NodeId y = g.select(g.binary(Op::Lt, zero, x), g.unary(Op::Sqrt, x), zero);
  const NodeId by = gradient(g, y, std::span(&x, 1))[0];
  EXPECT_EQ(Values<double>(g, {0.0})[by], 0);
  EXPECT_EQ(Values<double>(g, {4.0})[by], 0.25);
}

TEST(derivative, of_a_product_with_zeros_is_finite) {
  Graph g;
  const NodeId x = test::input_i(g, 0), y = test::input_i(g, 1);
  const NodeId cube = g.binary(Op::Mul, g.binary(Op::Mul, x, x), g.binary(Op::Mul, x, y));
  const auto by = gradient(g, cube, std::vector{x, y});
  const Values<double> values(g, {0.0, 0.0});
  EXPECT_EQ(values[by[0]], 0);
  EXPECT_EQ(values[by[1]], 0);
}

TEST(derivative, of_what_stands_still_is_none) {
  Graph g;
  const NodeId x = test::input_i(g, 0), y = test::input_i(g, 1);
  EXPECT_EQ(gradient(g, g.unary(Op::Floor, x), std::span(&x, 1))[0], kNone);
  EXPECT_EQ(gradient(g, g.unary(Op::Exp, y), std::span(&x, 1))[0], kNone);
  EXPECT_EQ(gradient(g, g.cast(g.cast(x, Type::Int), Type::Real), std::span(&x, 1))[0], kNone);
}

TEST(derivative, of_a_variable_in_between_leaves_what_it_is_made_of_alone) {
  Graph g;
  const NodeId x = test::input_i(g, 0), r = g.unary(Op::Exp, x), y = g.binary(Op::Mul, r, x);
  const auto by = gradient(g, y, std::vector{x, r});
  EXPECT_EQ(by[0], r);
  EXPECT_EQ(by[1], x);
}

TEST(derivative, of_the_gamma_function_is_refused) {
  Graph g;
  const NodeId x = test::input_i(g, 0), y = g.unary(Op::Lgamma, x);
  EXPECT_THROW(gradient(g, y, std::span(&x, 1)), NotDifferentiable);
}

// Of the nearest image: by the vector 1, by a lattice vector as often as that was taken off, the other way round.
TEST(derivative, of_a_nearest_image_counts_the_copies) {
  Graph g;
  std::array<NodeId, 3> d{}, cell{};
  std::vector<NodeId> lattice;
  for (std::size_t k = 0; k < 3; ++k) d[k] = test::input_i(g, int(k));
  for (std::size_t m = 0; m < 3; ++m) {
    std::array<NodeId, 3> v{};
    for (std::size_t k = 0; k < 3; ++k)
      lattice.push_back(v[k] = g.leaf(Op::Param, std::int64_t(3 * m + k), Type::Real));
    cell[m] = g.make(Op::Vector, Type::Vector, v);
  }
  const NodeId image =
      g.make(Op::Image, Type::Vector, {g.make(Op::Vector, Type::Vector, d), g.make(Op::Cell, Type::Cell, cell), kNone});
  const NodeId y = g.make(Op::Y, Type::Real, {image, kNone, kNone});
  std::vector<NodeId> variables(d.begin(), d.end());
  variables.insert(variables.end(), lattice.begin(), lattice.end());
  const auto by = gradient(g, y, variables);
  // Read as outputs of a pipeline of one pair: dx = (13, 4, -9) in a cell of (10, 0, 0), (3, 8, 0), (1, 2, 9).
  OracleInput input;
  input.ni = input.nj = 1;
  input.i = {{13}, {4}, {-9}};
  input.params = {10, 0, 0, 3, 8, 0, 1, 2, 9};
  Field cells = test::field(Role::Param, "cell", 3), outputs = test::output("o");
  cells.length = 3;
  outputs.length = int(by.size()) + 3;
  Pipeline pipeline = test::pipeline_of({test::field(Role::InputI, "d", 3), cells, outputs});
  pipeline.contributions.clear();
  for (const NodeId one : by) pipeline.contributions.push_back({.value = one == kNone ? g.constant(0) : one});
  for (const Op component : {Op::X, Op::Y, Op::Z})
    pipeline.contributions.push_back({.value = g.make(component, Type::Real, {image, kNone, kNone})});
  pipeline.pair = g;
  const auto values = interpret(pipeline, input).values;
  EXPECT_EQ(values[0][0], 0);
  EXPECT_EQ(values[1][0], 1);
  // d - image = n_a a + n_b b + n_c c
  double moved[3];
  for (std::size_t k = 0; k < 3; ++k) moved[k] = input.i[k][0] - values[by.size() + k][0];
  const double nc = moved[2] / 9, nb = (moved[1] - 2 * nc) / 8, na = (moved[0] - 3 * nb - nc) / 10;
  EXPECT_NE(nc, 0);
  const double counted[] = {na, nb, nc};
  for (std::size_t m = 0; m < 3; ++m)
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(values[3 + 3 * m + k][0], k == 1 ? -counted[m] : 0) << m << k;
}

}  // namespace
}  // namespace nbcc
