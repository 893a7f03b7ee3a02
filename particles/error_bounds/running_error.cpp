// Computes values and error bounds of all nodes of a graph. Entry point: RunningError. Knows no particles.
#include "particles/error_bounds/running_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/ir/lattice.h"

namespace nbcc {
namespace {

// The distance of two results; infinite if one of them is NaN or they are different infinities.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? kUnbounded : difference;
}

// The rounding error of an index beyond 2^53 in the oracle's double.
double unrepresented(double index) { return std::fabs(index) > 0x1p53 ? std::fabs(index) * 0x1p-53 : 0; }

}  // namespace

double epsilon_of(Precision precision) {
  return precision == Precision::Double ? std::numeric_limits<double>::epsilon()
                                        : double(std::numeric_limits<float>::epsilon());
}

RunningError::RunningError(const Graph& graph, const std::vector<NodeId>& roots, const Options& options,
                           const Target& target, const std::vector<std::vector<double>>& tables, int width)
    : graph_(graph), options_(options), fused_(target.fused), tables_(tables), needed_(reachable(graph, roots)) {
  values_.resize(needed_.size());
  errors_.resize(needed_.size());
  for (std::vector<double>& moved : perturbed_) moved.resize(std::size_t(width));
  outcome_.resize(std::size_t(width));
  for (std::size_t id = 0; id < needed_.size(); ++id) {
    if (!needed_[id]) continue;
    const int numbers = width * numbers_in(graph[NodeId(id)].type);
    values_[id].resize(std::size_t(numbers));
    errors_[id].resize(std::size_t(numbers));
  }
  if (options.root == RootMode::Estimate && options.math == Math::Fast) {
    estimate_ = options.precision == Precision::Double ? target.rsqrt_error_double : target.rsqrt_error_float;
  }
}

double RunningError::epsilon(Type type) const {
  if (!is_floating(type)) return 0;
  if (type == Type::Real) return epsilon_of(options_.precision);
  return epsilon_of(type == Type::Double ? Precision::Double : Precision::Single);
}

std::span<const double> RunningError::table_of(const Node& node) const {
  return node.op == Op::Lookup ? std::span<const double>(tables_.at(std::size_t(node.payload)))
                               : std::span<const double>();
}

double RunningError::roundings(const Node& node) const {
  const Rounding& rounding = facts(node.op).rounding;
  return rounding.epsilons * epsilon(node.type) + rounding.estimates * estimate_;
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
  evaluate(node.op, node.type, type, args, values, count, table_of(node));
  if (facts(node.op).typing == Typing::OfVectors) {
    if (node.op == Op::Image) return bound_lattice_image(id, count);
    // The operation only packs or selects components, so the errors are packed or selected the same way.
    for (int a = 0; a < arguments; ++a) args[std::size_t(a)] = errors_[std::size_t(node.args[std::size_t(a)])].data();
    return evaluate(node.op, node.type, type, args, errors, count);
  }
  if (options_.precision == Precision::Mixed)
    if (const auto shift = image_shift(graph_, id)) return bound_box_image(id, *shift, count);

  // Kernels may reassociate sums, so a sum may be wrong by roundings relative to |a| + |b|. A difference of leaves is
  // never reassociated.
  const bool sum = (node.op == Op::Add || node.op == Op::Sub) && !of_leaves;
  const double roundings = this->roundings(node);
  const auto error_scale = facts(node.op).error_scale;
  const bool stored_as_two_floats = options_.precision == Precision::Mixed && is_input_difference(graph_, id);
  for (int k = 0; k < count; ++k) {
    const double size = sum           ? std::fabs(args[0][k]) + std::fabs(args[1][k])
                        : error_scale ? error_scale(args[0][k], values[k])
                                      : std::fabs(values[k]);
    errors[k] = roundings == 0 || std::isnan(size) ? 0 : roundings * size;
    if (stored_as_two_floats) errors[k] += low_float_error(args[0][k], args[1][k]);
  }
  if (!add_errors_of_sum_or_product(id, args, count)) add_argument_errors(id, args, count);
  if (node.type == Type::Index)
    for (int k = 0; k < count; ++k) errors[k] += unrepresented(values[k]);
}

// The error of a difference of two inputs in mixed precision, which stores each input as two floats.
double RunningError::low_float_error(double a, double b) {
  const double epsilon = epsilon_of(Precision::Mixed), size = std::fabs(a) + std::fabs(b);
  return std::isfinite(size) ? epsilon * epsilon * size : 0;
}

// In mixed precision the minimum image of a difference of inputs has only the error of its own rounding and of the low
// floats, unless the number of box lengths to subtract is uncertain.
void RunningError::bound_box_image(NodeId id, const ImageShift& shift, int count) {
  const double epsilon = epsilon_of(Precision::Mixed);
  const auto column = [](const std::vector<std::vector<double>>& of, NodeId node) {
    return of[std::size_t(node)].data();
  };
  for (int k = 0; k < count; ++k) {
    const double lengths = std::fabs(column(values_, shift.whole)[k] * column(values_, shift.length)[k]);
    // Without fused multiply-add the product of 3 or more and the length is rounded.
    const double product = !fused_ && std::fabs(column(values_, shift.whole)[k]) > 2 ? epsilon * lengths : 0;
    const Node& difference = graph_[shift.difference];
    const double ends = low_float_error(column(values_, difference.args[0])[k], column(values_, difference.args[1])[k]);
    const double lower =
        epsilon * epsilon * (std::fabs(column(values_, shift.difference)[k]) + lengths) + ends + product;
    errors_[std::size_t(id)][std::size_t(k)] =
        epsilon * std::fabs(column(values_, id)[k]) + lower +
        std::fabs(column(errors_, shift.whole)[k] * column(values_, shift.length)[k]);
  }
}

// The error of a minimum image in a lattice: the errors of the difference and of the subtracted multiples of the
// lattice vectors. If another image is equally short within this error, the device may choose that one. In mixed
// precision up to a few multiples are exact except for their low floats.
void RunningError::bound_lattice_image(NodeId id, int count) {
  constexpr double kRoundings = 8, kFewMultiples = 6;
  const Node& node = graph_[id];
  const std::vector<double>&d = values_[std::size_t(node.args[0])], &moved = errors_[std::size_t(node.args[0])];
  const std::vector<double>& cell = values_[std::size_t(node.args[1])];
  std::vector<double>&copies = values_[std::size_t(id)], &errors = errors_[std::size_t(id)];
  const bool mixed = options_.precision == Precision::Mixed;
  const double epsilon = epsilon_of(options_.precision);
  std::optional<Lattice> lattice;
  for (std::size_t k = 0; k < std::size_t(count); ++k) {
    if (k == 0 || !std::equal(&cell[9 * k], &cell[9 * k] + 9, &cell[9 * k - 9])) lattice.emplace(&cell[9 * k]);
    const Triple copy{copies[3 * k], copies[3 * k + 1], copies[3 * k + 2]};
    const auto size = [](const double* v) { return std::hypot(v[0], v[1], v[2]); };
    const double across = lattice->across(), way = size(&d[3 * k]) + across;
    const bool exact = mixed && way < kFewMultiples * across;
    const bool keeps_parts = mixed && std::ranges::all_of(graph_[node.args[0]].args,
                                                          [&](NodeId c) { return is_input_difference(graph_, c); });
    // The lengths that are compared to choose an image are rounded in every precision.
    const double doubt = kRoundings * epsilon * way + size(&moved[3 * k]);
    const Triple other = lattice->doubt(copy, doubt);
    for (std::size_t c = 0; c < 3; ++c) {
      const double carried = keeps_parts ? epsilon * epsilon * way : moved[3 * k + c];
      errors[3 * k + c] =
          kRoundings * epsilon * (exact ? std::fabs(copy[c]) + epsilon * way : way) + carried + other[c];
    }
  }
}

// The errors of the arguments of a sum, difference or product, without evaluating it again. Returns false for other
// operations, and if a result is not finite.
bool RunningError::add_errors_of_sum_or_product(NodeId id, const std::array<const double*, 3>& args, int count) {
  const Node& node = graph_[id];
  const bool product = node.op == Op::Mul;
  if (!is_floating(node.type) || !(product || node.op == Op::Add || node.op == Op::Sub)) return false;
  const double* const values = values_[std::size_t(id)].data();
  if (!std::all_of(values, values + count, [](double value) { return std::isfinite(value); })) return false;
  const double* const first = errors_[std::size_t(node.args[0])].data();
  const double* const second = errors_[std::size_t(node.args[1])].data();
  double* const errors = errors_[std::size_t(id)].data();
  for (int k = 0; k < count; ++k) {
    double error = first[k] + second[k];
    if (product && error < kUnbounded)
      error = std::fabs(args[0][k]) * second[k] + std::fabs(args[1][k]) * first[k] + first[k] * second[k];
    errors[k] += error;
  }
  return true;
}

// All arguments are perturbed together, because two arguments that depend on the same uncertain condition are wrong
// together: the error of their product may be just the product of their errors.
void RunningError::add_argument_errors(NodeId id, const std::array<const double*, 3>& args, int count) {
  const Node& node = graph_[id];
  const Type type = graph_[node.args[0]].type;
  std::vector<int> uncertain;
  for (int a = 0; a < arity(node.op); ++a) {
    const std::vector<double>& error = errors_[std::size_t(node.args[std::size_t(a)])];
    if (std::any_of(error.begin(), error.begin() + count, [](double e) { return e != 0; })) uncertain.push_back(a);
  }
  if (uncertain.empty()) return;
  std::vector<double> larger(std::size_t(count), 0.0);
  for (unsigned corner = 0; corner < 1u << uncertain.size(); ++corner) {
    std::array<const double*, 3> changed = args;
    for (std::size_t n = 0; n < uncertain.size(); ++n) {
      const auto a = std::size_t(uncertain[n]);
      const bool up = (corner >> n & 1) != 0, condition = graph_[node.args[a]].type == Type::Bool;
      const std::vector<double>& error = errors_[std::size_t(node.args[a])];
      for (std::size_t k = 0; k < std::size_t(count); ++k)
        perturbed_[a][k] =
            condition ? double((args[a][k] != 0) != (up && error[k] != 0)) : args[a][k] + (up ? error[k] : -error[k]);
      changed[a] = perturbed_[a].data();
    }
    evaluate(node.op, node.type, type, changed, outcome_.data(), count, table_of(node));
    for (std::size_t k = 0; k < std::size_t(count); ++k)
      larger[k] = std::max(larger[k], distance(outcome_[k], values_[std::size_t(id)][k]));
  }
  for (std::size_t k = 0; k < std::size_t(count); ++k) {
    const auto error_of = [&](int a) { return errors_[std::size_t(node.args[std::size_t(a)])][k]; };
    const bool lost =
        node.op != Op::Select && std::ranges::any_of(uncertain, [&](int a) { return error_of(a) == kUnbounded; });
    // The interval of such a divisor contains 0.
    const bool divides_by_zero =
        node.op == Op::Div && node.type >= Type::Float && error_of(1) > 0 && std::fabs(args[1][k]) <= error_of(1);
    errors_[std::size_t(id)][k] += lost || divides_by_zero ? kUnbounded : larger[k];
  }
}

// Constants have the rounding error of the precision in which they are used.
double RunningError::leaf_error(const Node& leaf, const Number& number) const {
  if (leaf.type == Type::Index) return number.error + unrepresented(number.value);
  const bool narrow = is_floating(leaf.type) && epsilon(leaf.type) > std::numeric_limits<double>::epsilon();
  if (leaf.op != Op::Const || !narrow) return number.error;
  return distance(double(float(number.value)), number.value);
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
      errors_[std::size_t(id)][std::size_t(k)] = leaf_error(graph_[id], number);
    }
  }
}

}  // namespace nbcc
