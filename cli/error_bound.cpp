// The oracle's sums -> values, their scale, and how wrong a device may be. The doors are in the header. Runs nothing but
// the interpreter.
#include "cli/error_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compiler/emit_cpu.h"
#include "compiler/evaluate.h"

namespace nbcc {
namespace {

// finish() for all asked i at once. `sums` are what the Output leaves read.
Figures finish(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
               const Figures& sums) {
  if (pipeline.finished.empty()) return sums;
  const Graph& graph = pipeline.finish;
  const std::size_t count = which.size();
  const std::vector<bool> needed = reachable(graph, pipeline.finished);
  Figures values(needed.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!needed[std::size_t(id)]) continue;
    const Node& node = graph[id];
    std::vector<double>& out = values[std::size_t(id)];
    out.resize(count);
    const auto component = std::size_t(node.payload);
    for (std::size_t k = 0; k < count && arity(node.op) == 0; ++k) {
      out[k] = node.op == Op::Const    ? graph.constant_value(id)
               : node.op == Op::Param  ? input.params[component]
               : node.op == Op::InputI ? input.i[component][std::size_t(which[k])]
               : node.op == Op::IIndex ? double(which[k] + input.i_offset)
                                       : sums[component][k];
    }
    if (arity(node.op) == 0) continue;
    std::array<const double*, 3> args{};
    for (int a = 0; a < arity(node.op); ++a) args[std::size_t(a)] = values[std::size_t(node.args[std::size_t(a)])].data();
    evaluate(node.op, node.type, graph[node.args[0]].type, args, out.data(), int(count));
  }
  Figures finished;
  for (const NodeId id : pipeline.finished) finished.push_back(values[std::size_t(id)]);
  return finished;
}

// How far the finished outputs move when each sum is wrong by its error, one at a time and either way.
Figures moved_by(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
                 const Figures& sums, const Figures& errors) {
  if (pipeline.finished.empty()) return errors;
  const Figures centre = finish(pipeline, input, which, sums);
  Figures moved(sums.size(), std::vector<double>(which.size()));
  for (std::size_t s = 0; s < sums.size(); ++s) {
    Figures larger(sums.size(), std::vector<double>(which.size()));
    for (const double sign : {-1.0, 1.0}) {
      Figures there = sums;
      for (std::size_t k = 0; k < which.size(); ++k) there[s][k] += sign * errors[s][k];
      const Figures finished = finish(pipeline, input, which, there);
      for (std::size_t c = 0; c < moved.size(); ++c) {
        for (std::size_t k = 0; k < which.size(); ++k) {
          const double change = std::fabs(finished[c][k] - centre[c][k]);
          if (std::isfinite(change)) larger[c][k] = std::max(larger[c][k], change);
        }
      }
    }
    for (std::size_t c = 0; c < moved.size(); ++c)
      for (std::size_t k = 0; k < which.size(); ++k) moved[c][k] += larger[c][k];
  }
  return moved;
}

OracleInput rounded_to_float(OracleInput input) {
  for (auto* side : {&input.i, &input.j})
    for (auto& column : *side)
      for (double& value : column) value = double(float(value));
  for (double& value : input.params) value = double(float(value));
  return input;
}

bool is_exact(const Field& field) {
  return field.reduction == Reduction::ArgMin || field.reduction == Reduction::ArgMax || field.type == Type::Int ||
         field.type == Type::Index || field.type == Type::Bool;
}

}  // namespace

double epsilon_of(Precision precision) {
  return precision == Precision::Double ? std::numeric_limits<double>::epsilon()
                                        : double(std::numeric_limits<float>::epsilon());
}

double relative_bound(const Options& options, Isa isa) {
  const double rounding = kRoundings * epsilon_of(options.precision);
  if (options.root != RootMode::Estimate || options.math != Math::Fast) return rounding;
  const Target target = cpu_target(isa);
  const double estimate =
      options.precision == Precision::Double ? target.rsqrt_error_double : target.rsqrt_error_float;
  return rounding + 16 * estimate;  // 12 in r^-12, and some for what stands beside it
}

Expectation expect(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
                   const Options& options, Isa isa) {
  Pipeline unfinished = pipeline;
  unfinished.finished.clear();
  const OracleOutput sums = interpret(unfinished, input, which);
  Expectation expected;
  expected.values = finish(pipeline, input, which, sums.values);

  const double relative = relative_bound(options, isa);
  // Terms below the range of float vanish; that is as much as they can lack.
  const double smallest =
      options.precision == Precision::Double ? std::numeric_limits<double>::min() : double(std::numeric_limits<float>::min());
  Figures errors = sums.magnitudes;
  for (auto& column : errors)
    for (double& error : column) error *= relative;
  expected.scale = moved_by(pipeline, input, which, sums.values, errors);
  for (auto& column : errors)
    for (double& error : column) error += double(input.nj) * smallest;
  if (options.precision == Precision::Single) {
    const OracleOutput rounded = interpret(unfinished, rounded_to_float(input), which);
    for (std::size_t c = 0; c < errors.size(); ++c) {
      for (std::size_t k = 0; k < which.size(); ++k) {
        const double shift = std::fabs(rounded.values[c][k] - sums.values[c][k]);
        if (std::isfinite(shift)) errors[c][k] += shift;
      }
    }
  }
  expected.bound = moved_by(pipeline, input, which, sums.values, errors);
  for (std::size_t c = 0; c < expected.bound.size(); ++c) {
    const bool exact = is_exact(pipeline.field_of(Role::Output, int(c)));
    for (std::size_t k = 0; k < which.size(); ++k) {
      expected.scale[c][k] /= relative;
      double& bound = expected.bound[c][k];
      if (exact) bound = 0;
      // finish() itself rounds.
      if (!exact && !pipeline.finished.empty()) bound += relative * std::fabs(expected.values[c][k]);
    }
  }
  return expected;
}

}  // namespace nbcc
