// Graph and leaves -> values and error bounds of all nodes. The door is RunningError. Knows no particles.
#include "cli/running_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compiler/evaluate.h"

namespace nbcc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How far apart two outcomes are; infinitely where one of them is no number.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? kInfinity : difference;
}

bool is_integral(Type type) { return type == Type::Bool || type == Type::Int || type == Type::Index; }

}  // namespace

double epsilon_of(Precision precision) {
  return precision == Precision::Double ? std::numeric_limits<double>::epsilon()
                                        : double(std::numeric_limits<float>::epsilon());
}

RunningError::RunningError(const Graph& graph, const std::vector<NodeId>& roots, const Options& options,
                           const Target& target, int width)
    : graph_(graph), options_(options), needed_(reachable(graph, roots)) {
  values_.resize(needed_.size());
  errors_.resize(needed_.size());
  moved_.resize(std::size_t(width));
  outcome_.resize(std::size_t(width));
  for (std::size_t id = 0; id < needed_.size(); ++id) {
    if (!needed_[id]) continue;
    values_[id].resize(std::size_t(width));
    errors_[id].resize(std::size_t(width));
  }
  if (options.root == RootMode::Estimate && options.math == Math::Fast) {
    estimate_ = options.precision == Precision::Double ? target.rsqrt_error_double : target.rsqrt_error_float;
  }
}

double RunningError::epsilon(Type type) const {
  if (is_integral(type)) return 0;
  if (type == Type::Real) return epsilon_of(options_.precision);
  return epsilon_of(type == Type::Double ? Precision::Double : Precision::Single);
}

// Fast math may multiply in another order and replace quotients and powers by products of reciprocal roots, which are
// good to 2 ulp; vectorised functions are good to 4.
double RunningError::roundings(const Node& node) const {
  const double epsilon = this->epsilon(node.type);
  switch (node.op) {
    case Op::Neg:
    case Op::Abs:
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Trunc:
    case Op::Min:
    case Op::Max:
    case Op::CopySign:
    case Op::Select:
      return 0;
    case Op::Add:
    case Op::Sub:
    case Op::Cast:
    case Op::Fma:
      return epsilon;
    case Op::Mul:
      return 2 * epsilon;
    case Op::Div:
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Cbrt:
      return 4 * epsilon + 2 * estimate_;
    case Op::Pow:
      return 16 * epsilon + 16 * estimate_;
    default:
      return 8 * epsilon;
  }
}

void RunningError::compute_node(NodeId id, int count) {
  const Node& node = graph_[id];
  const int arguments = arity(node.op);
  const Type type = graph_[node.args[0]].type;
  std::array<const double*, 3> args{};
  bool of_leaves = true;
  for (int a = 0; a < arguments; ++a) {
    const NodeId arg = node.args[std::size_t(a)];
    args[std::size_t(a)] = values_[std::size_t(arg)].data();
    of_leaves = of_leaves && arity(graph_[arg].op) == 0;
  }
  double* const values = values_[std::size_t(id)].data();
  double* const errors = errors_[std::size_t(id)].data();
  evaluate(node.op, node.type, type, args, values, count);

  // Sums may be reassociated, which moves the rounding of one term into another; a difference of inputs stays.
  const bool sum = (node.op == Op::Add || node.op == Op::Sub) && !of_leaves;
  const double roundings = this->roundings(node);
  for (int k = 0; k < count; ++k) {
    const double size = sum ? std::fabs(args[0][k]) + std::fabs(args[1][k]) : std::fabs(values[k]);
    errors[k] = roundings == 0 || std::isnan(size) ? 0 : roundings * size;
  }
  for (int a = 0; a < arguments; ++a) {
    const std::vector<double>& error = errors_[std::size_t(node.args[std::size_t(a)])];
    if (std::all_of(error.begin(), error.begin() + count, [](double e) { return e == 0; })) continue;
    std::array<const double*, 3> changed = args;
    std::vector<double> larger(std::size_t(count), 0.0);
    for (const double sign : {-1.0, 1.0}) {
      for (int k = 0; k < count; ++k) moved_[std::size_t(k)] = args[std::size_t(a)][k] + sign * error[std::size_t(k)];
      changed[std::size_t(a)] = moved_.data();
      evaluate(node.op, node.type, type, changed, outcome_.data(), count);
      for (int k = 0; k < count; ++k) {
        if (error[std::size_t(k)] == 0) continue;
        const double there = error[std::size_t(k)] == kInfinity && node.op != Op::Select
                                 ? kInfinity
                                 : distance(outcome_[std::size_t(k)], values[k]);
        larger[std::size_t(k)] = std::max(larger[std::size_t(k)], there);
      }
    }
    for (int k = 0; k < count; ++k) errors[k] += larger[std::size_t(k)];
  }
}

void RunningError::compute(int count, const Leaf& leaf) {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!needed_[std::size_t(id)]) continue;
    if (arity(graph_[id].op) > 0) {
      compute_node(id, count);
      continue;
    }
    for (int k = 0; k < count; ++k) {
      const Number number = graph_[id].op == Op::Const ? Number{graph_.constant_value(id), 0} : leaf(graph_[id], k);
      values_[std::size_t(id)][std::size_t(k)] = number.value;
      errors_[std::size_t(id)][std::size_t(k)] = number.error;
    }
  }
}

}  // namespace nbcc
