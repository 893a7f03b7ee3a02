// How far rounding may carry a sum, by a running error analysis of the pipeline's graph: every operation of every pair
// may be wrong by 2 ulp (the language's promise), what its arguments may be wrong by goes through it by differences,
// and the terms' errors add up. To first order a bound, so nothing here is fitted to what a device happens to do; and
// where a term is a small difference of large parts, it is the parts that count. Its one door is reduction_errors().
//
// Conditions are taken as exact: tests choose particles for which no comparison depends on rounding.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/ir/interpret.h"

namespace nbcc::test {

enum class Inputs {
  Exact,    // the working precision holds them
  Rounded,  // each is good to half an ulp of itself
};

class RunningErrors {
 public:
  RunningErrors(const Graph& graph, const std::vector<NodeId>& roots, const OracleInput& input, Inputs inputs)
      : graph_(graph), input_(input), input_error_(inputs == Inputs::Rounded ? kEpsilon / 2 : 0) {
    const std::vector<bool> needed = reachable(graph, roots);
    for (NodeId id = 0; id < graph.size(); ++id) {
      values.emplace_back(needed[std::size_t(id)] ? kBatch : 0);
      errors.emplace_back(needed[std::size_t(id)] ? kBatch : 0);
      if (needed[std::size_t(id)]) order_.push_back(id);
    }
  }

  void evaluate_batch(std::int64_t i, std::int64_t j, int count) {
    for (const NodeId id : order_) {
      if (arity(graph_[id].op) == 0) {
        leaf(id, i, j, count);
      } else {
        operation(id, count);
      }
    }
  }

  static constexpr int kBatch = 256;
  static constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  std::vector<std::vector<double>> values, errors;  // [node][pair of the batch]

 private:
  void leaf(NodeId id, std::int64_t i, std::int64_t j, int count) {
    const Node& node = graph_[id];
    double* out = values[std::size_t(id)].data();
    const auto component = std::size_t(node.payload);
    double relative = node.op == Op::InputI || node.op == Op::InputJ ? input_error_ : 0;
    if (node.op == Op::Const) std::fill_n(out, count, graph_.constant_value(id));
    if (node.op == Op::Param) std::fill_n(out, count, input_.params.at(component));
    if (node.op == Op::InputI) std::fill_n(out, count, input_.i.at(component).at(std::size_t(i)));
    if (node.op == Op::InputJ) std::copy_n(input_.j.at(component).begin() + j, count, out);
    if (node.op == Op::IIndex) std::fill_n(out, count, double(i + input_.i_offset));
    for (int k = 0; node.op == Op::JIndex && k < count; ++k) out[k] = double(j + k + input_.j_offset);
    // Constants and parameters are rounded once, unless the working precision holds them.
    if (node.op == Op::Const || node.op == Op::Param) relative = double(float(out[0])) == out[0] ? 0 : kEpsilon / 2;
    for (int k = 0; k < count; ++k) errors[std::size_t(id)][std::size_t(k)] = relative * std::fabs(out[k]);
  }

  void operation(NodeId id, int count) {
    const Node& node = graph_[id];
    double *out = values[std::size_t(id)].data(), *error = errors[std::size_t(id)].data();
    std::array<const double*, 3> args{};
    for (std::size_t k = 0; k < std::size_t(arity(node.op)); ++k) args[k] = values[std::size_t(node.args[k])].data();
    const Type argument = graph_[node.args[0]].type;
    evaluate(node.op, node.type, argument, args, out, count);
    std::fill_n(error, count, 0.0);
    if (node.type < Type::Float) return;
    const double own = is_exact(node.op) ? 0 : 2 * kEpsilon;
    for (int k = 0; k < count; ++k) error[k] = own * std::fabs(out[k]);
    for (std::size_t a = 0; a < std::size_t(arity(node.op)); ++a) {
      if (graph_[node.args[a]].type >= Type::Float) pass_on(node, argument, args, a, out, error, count);
    }
  }

  void pass_on(const Node& node, Type argument, std::array<const double*, 3> args, std::size_t moved, const double* out,
               double* error, int count) {
    const std::vector<double>&value = values[std::size_t(node.args[moved])],
          &uncertain = errors[std::size_t(node.args[moved])];
    double shifted[kBatch], low[kBatch], high[kBatch];
    args[moved] = shifted;
    for (int k = 0; k < count; ++k) shifted[k] = value[std::size_t(k)] - uncertain[std::size_t(k)];
    evaluate(node.op, node.type, argument, args, low, count);
    for (int k = 0; k < count; ++k) shifted[k] = value[std::size_t(k)] + uncertain[std::size_t(k)];
    evaluate(node.op, node.type, argument, args, high, count);
    for (int k = 0; k < count; ++k) {
      const double change = std::max(std::fabs(low[k] - out[k]), std::fabs(high[k] - out[k]));
      if (std::isfinite(change)) error[k] += change;
    }
  }

  static bool is_exact(Op op) {
    return op == Op::Neg || op == Op::Abs || op == Op::Select || op == Op::Min || op == Op::Max || op == Op::CopySign;
  }

  const Graph& graph_;
  const OracleInput& input_;
  double input_error_;
  std::vector<NodeId> order_;
};

// [output component][i], before finish(), for single precision; other precisions scale it. A tile of 128 terms is
// summed in working precision, in at least 2 lanes: at most 64 additions of half an ulp follow one another, and then
// the lanes'.
inline std::vector<std::vector<double>> reduction_errors(const Pipeline& pipeline, const OracleInput& input,
                                                         Inputs inputs) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double adding = (double(std::min<std::int64_t>(input.nj, 128)) / 4 + 1) * RunningErrors::kEpsilon;
  RunningErrors running(pipeline.pair, pipeline.roots(), input, inputs);
  const std::size_t outputs = pipeline.contributions.size();
  std::vector<std::vector<double>> result(outputs, std::vector<double>(std::size_t(input.ni)));
  for (std::int64_t i = 0; i < input.ni; ++i) {
    // Of a minimum or maximum: the smallest and largest that it may be, and what it is.
    std::vector<double> low(outputs, infinity), high(outputs, infinity), extreme(outputs, infinity);
    for (std::int64_t j = 0; j < input.nj; j += RunningErrors::kBatch) {
      const int count = int(std::min<std::int64_t>(RunningErrors::kBatch, input.nj - j));
      running.evaluate_batch(i, j, count);
      for (std::size_t c = 0; c < outputs; ++c) {
        const Contribution& contribution = pipeline.contributions[c];
        const Reduction reduction = pipeline.field_of(Role::Output, int(c)).reduction;
        const double sign = reduction == Reduction::Max ? -1 : 1;
        for (std::size_t k = 0; k < std::size_t(count); ++k) {
          if (contribution.guard != kNone && running.values[std::size_t(contribution.guard)][k] == 0) continue;
          const double value = running.values[std::size_t(contribution.value)][k];
          const double error = running.errors[std::size_t(contribution.value)][k];
          if (reduction == Reduction::Sum) result[c][std::size_t(i)] += error + adding * std::fabs(value);
          low[c] = std::min(low[c], sign * value - error);
          high[c] = std::min(high[c], sign * value + error);
          extreme[c] = std::min(extreme[c], sign * value);
        }
      }
    }
    for (std::size_t c = 0; c < outputs; ++c) {
      const Reduction reduction = pipeline.field_of(Role::Output, int(c)).reduction;
      const bool one_of = reduction == Reduction::Min || reduction == Reduction::Max;
      // Without any j they are infinite, and so exactly known.
      if (one_of && extreme[c] < infinity) {
        result[c][std::size_t(i)] = std::max(extreme[c] - low[c], high[c] - extreme[c]);
      }
    }
  }
  return result;
}

}  // namespace nbcc::test
