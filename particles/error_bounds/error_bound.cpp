// Computes the oracle's outputs, their scale and the error bounds of a device. Entry point: expect().
#include "particles/error_bounds/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "compiler/ir/period.h"
#include "compiler/table.h"
#include "particles/error_bounds/running_error.h"
#include "particles/error_bounds/sum_error.h"
#include "particles/error_bounds/undecided_pairs.h"

namespace nbcc {
namespace {

using Number = RunningError::Number;

// The components of the sums that finish() computes each output component from: [output component].
std::vector<std::vector<int>> sums_of_outputs(const Pipeline& pipeline) {
  std::vector<std::vector<int>> sums(pipeline.contributions.size());
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (pipeline.finished.empty()) {
      sums[c] = {int(c)};
      continue;
    }
    const std::vector<bool> needed = reachable(pipeline.finish, {pipeline.finished[c]});
    for (NodeId id = 0; id < pipeline.finish.size(); ++id)
      if (needed[std::size_t(id)] && pipeline.finish[id].op == Op::Output)
        sums[c].push_back(int(pipeline.finish[id].payload));
  }
  return sums;
}

// Error bounds of the sums before finish(), and the numbers of pairs in which rounding decides something.
struct SumErrors {
  Figures errors;
  std::vector<std::vector<std::int64_t>> undecided;  // [asked i][output field]
};

// `rounded_input`, `rounded_sums`: the inputs after conversion to the device's precision, and the oracle's sums of
// these; the same objects as `input` and `sums` if nothing is rounded.
SumErrors sum_errors(const Pipeline& pipeline, const OracleInput& input, const Figures& sums,
                     const OracleInput& rounded_input, const Figures& rounded_sums, std::span<const std::int64_t> which,
                     const Options& options, const Target& target) {
  const bool is_rounded = &input != &rounded_input;
  SumError exact(pipeline, input, sums, options, target),
      rounded(pipeline, rounded_input, rounded_sums, options, target);
  UndecidedPairs pairs(pipeline, sums_of_outputs(pipeline));
  SumErrors result{Figures(sums.size(), std::vector<double>(which.size())), {}};
  for (std::size_t k = 0; k < which.size(); ++k) {
    exact.begin(k, which[k]);
    if (is_rounded) rounded.begin(k, which[k]);
    for (int count = 0; (count = exact.next()) > 0;) {
      if (is_rounded) rounded.next();
      pairs.count(exact.pairs(), is_rounded ? rounded.pairs() : exact.pairs(), count);
    }
    const std::vector<double> here = exact.end(), there = is_rounded ? rounded.end() : here;
    for (std::size_t c = 0; c < sums.size(); ++c) result.errors[c][k] = std::max(here[c], there[c]);
    result.undecided.push_back(pairs.take());
  }
  for (const Field& field : pipeline.fields) {
    if (!field.is_histogram()) continue;
    const std::vector<double>& here = exact.histograms().at(field.first);
    const std::vector<double>& there = is_rounded ? rounded.histograms().at(field.first) : here;
    for (int c = field.first; c < field.first + field.components(); ++c) result.errors[std::size_t(c)].clear();
    for (std::size_t e = 0; e < here.size(); ++e)
      result.errors[std::size_t(field.first)].push_back(std::max(here[e], there[e]));
  }
  return result;
}

// [component] True if a real input is used in other operations than differences j - i. Mixed precision keeps both
// floats of an input only for such differences.
std::vector<bool> used_outside_differences(const Pipeline& pipeline, Op leaf) {
  const Graph& graph = pipeline.pair;
  std::vector<bool> alone(std::size_t(pipeline.components(leaf == Op::InputI ? Role::InputI : Role::InputJ)));
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    const bool difference = node.op == Op::Sub && arity(graph[node.args[0]].op) == 0 &&
                            arity(graph[node.args[1]].op) == 0 && node.binding == Binding::Pair;
    for (int a = 0; a < arity(node.op); ++a) {
      const Node& argument = graph[node.args[std::size_t(a)]];
      if (argument.op == leaf && !difference) alone[std::size_t(argument.payload)] = true;
    }
  }
  return alone;
}

// True if inputs of this type are converted to float for the device.
bool is_rounded(Type type, Precision precision) {
  return type == Type::Float || (type == Type::Real && precision != Precision::Double);
}

bool rounds_any(const Pipeline& pipeline, const Options& options) {
  return std::ranges::any_of(pipeline.fields,
                             [&](const Field& field) { return is_rounded(field.type, options.precision); });
}

// [param component] True if a param is used only as a length or lattice vector of a periodic box. Mixed precision keeps
// the low float of such a param. Its quotient with the difference is used only for the number of lengths to subtract.
std::vector<bool> lengths_of_images(const Pipeline& pipeline) {
  const Graph& graph = pipeline.pair;
  std::set<NodeId> users;
  std::set<std::int64_t> lengths;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto shift = image_shift(graph, id);
    const NodeId length = shift ? length_of_period(graph, shift->length) : kNone;
    if (length == kNone || graph[length].op != Op::Param) continue;
    lengths.insert(graph[length].payload);
    users.insert({graph[id].args[1], graph[shift->whole].args[0]});
    for (const NodeId user : nodes_of_period(graph, shift->length)) users.insert(user);
  }
  // Lattice vectors.
  for (NodeId id = 0; id < graph.size(); ++id)
    if (graph[id].op == Op::Cell)
      for (const NodeId vector : graph[id].args) {
        users.insert(vector);
        for (const NodeId number : graph[vector].args)
          if (graph[number].op == Op::Param) lengths.insert(graph[number].payload);
      }
  std::vector<bool> only(std::size_t(pipeline.components(Role::Param)), false);
  for (const std::int64_t c : lengths) only[std::size_t(c)] = true;
  const std::vector<bool> needed = reachable(graph, pipeline.roots());
  for (NodeId id = 0; id < graph.size(); ++id)
    for (const NodeId arg : graph[id].args)
      if (needed[std::size_t(id)] && arg != kNone && graph[arg].op == Op::Param && !users.count(id))
        only[std::size_t(graph[arg].payload)] = false;
  for (NodeId id = 0; id < pipeline.finish.size(); ++id)
    if (pipeline.finish[id].op == Op::Param) only[std::size_t(pipeline.finish[id].payload)] = false;
  return only;
}

OracleInput rounded_input(const Pipeline& pipeline, OracleInput input, const Options& options) {
  const std::vector<bool> lengths = lengths_of_images(pipeline);
  const std::vector<bool> i_alone = used_outside_differences(pipeline, Op::InputI),
                          j_alone = used_outside_differences(pipeline, Op::InputJ);
  for (const Field& field : pipeline.fields) {
    if (field.role == Role::Output || !is_rounded(field.type, options.precision)) continue;
    for (int k = field.first; k < field.first + field.components(); ++k) {
      const auto c = std::size_t(k);
      if (field.role == Role::Param) {
        // Elements of tables are rounded at the lookup.
        const bool kept = field.is_table() || (options.precision == Precision::Mixed && lengths[c]);
        if (!kept) input.params[c] = double(float(input.params[c]));
        continue;
      }
      if (field.role == Role::InputPair) {
        for (double& value : input.pair[c]) value = double(float(value));
        continue;
      }
      const bool of_i = field.role == Role::InputI;
      const bool whole = options.precision == Precision::Mixed && field.type == Type::Real;
      if (whole && !(of_i ? i_alone : j_alone)[c]) continue;
      for (double& value : (of_i ? input.i : input.j)[c]) value = double(float(value));
    }
  }
  return input;
}

// Applies finish() to the sums and their error bounds.
void finish(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
            const Figures& sums, const Figures& errors, const Options& options, const Target& target, Figures& values,
            Figures& bounds) {
  values = sums;
  bounds = errors;
  if (pipeline.finished.empty()) return;
  const std::vector<std::vector<double>> tables = tables_of(pipeline.tables, input.params);
  RunningError finished(pipeline.finish, pipeline.finished, options, target, tables, 1);
  for (std::size_t k = 0; k < which.size(); ++k) {
    finished.compute(1, [&](const Node& leaf, int) {
      const auto component = std::size_t(leaf.payload);
      const bool is_element = leaf.op == Op::Output && pipeline.field_of(Role::Output, int(component)).is_histogram();
      if (is_element) return Number{};  // finish() reads no histogram
      return leaf.op == Op::Output ? Number{sums[component][k], errors[component][k]}
                                   : leaf_of(input, leaf, which[k], 0, 0);
    });
    for (std::size_t c = 0; c < values.size(); ++c) {
      if (pipeline.field_of(Role::Output, int(c)).is_histogram()) continue;
      const Number number = finished.at(pipeline.finished[c], 0);
      values[c][k] = number.value;
      bounds[c][k] = number.error;
    }
  }
}

// If rounding decides a slot of a choice, the payload of that slot has an infinite error bound too.
void propagate_undecided_choices(const Pipeline& pipeline, Figures& errors) {
  for (const Choice& choice : choices_of(pipeline.fields))
    for (const Choice::Payload& payload : choice.payloads)
      for (int c = 0; c < choice.slots * payload.width; ++c)
        for (std::size_t k = 0; k < errors[std::size_t(choice.first)].size(); ++k)
          if (errors[std::size_t(choice.first + c / payload.width)][k] == kUnbounded)
            errors[std::size_t(payload.first + c)][k] = kUnbounded;
}

// The largest error of a total of `values`, each with an error of at most `bounds`, that is reduced in double by a
// tree.
double bound_of_total(const Field& field, const std::vector<double>& values, const std::vector<double>& bounds) {
  const double roundings = 2 + std::log2(double(values.size()) + 1), eps = std::numeric_limits<double>::epsilon();
  double sum = 0, size = 0, largest = 0, product = 1, outer = 1;
  for (std::size_t k = 0; k < values.size(); ++k) {
    sum += bounds[k];
    size += std::fabs(values[k]);
    largest = std::max(largest, bounds[k]);
    product *= std::fabs(values[k]);
    outer *= std::fabs(values[k]) + bounds[k];
  }
  if (is_integral(field)) return sum;
  if (is_sum(field.reduction)) return sum + roundings * eps * size;
  if (field.reduction == Reduction::Product) return outer - product + double(values.size()) * eps * outer;
  if (field.reduction != Reduction::LogSumExp) return largest;
  const double total = std::fabs(total_of(field, values));
  return largest + (std::isfinite(total) ? 4 * roundings * eps * (total + 1) : 0);
}

void reduce_totals(const Pipeline& pipeline, Expectation& expected) {
  for (std::size_t c = 0; c < expected.values.size(); ++c) {
    const Field& field = pipeline.field_of(Role::Output, int(c));
    if (field.kind != FieldKind::Total) continue;
    std::vector<double>&values = expected.values[c], &scale = expected.scale[c], &bound = expected.bound[c];
    bound = {bound_of_total(field, values, bound)};
    values = {total_of(field, values)};
    scale = {is_sum(field.reduction) ? std::accumulate(scale.begin(), scale.end(), 0.0) : std::fabs(values[0])};
  }
}

}  // namespace

Expectation expect(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
                   const Options& options, const Target& target) {
  Pipeline unfinished = without_totals(pipeline);
  unfinished.finished.clear();
  const OracleOutput sums = interpret(unfinished, input, which);
  Expectation expected;

  // The scale of an output is the effect of a small error of every sum on finish(), divided by that small factor. The
  // factor is so small that finish() is nearly linear, and so large that the roundings of finish() do not matter.
  constexpr double small = 0x1p-10;
  Figures errors = sums.magnitudes;
  for (auto& column : errors)
    for (double& error : column) error *= small;
  finish(pipeline, input, which, sums.values, errors, options, target, expected.values, expected.scale);
  for (auto& column : expected.scale)
    for (double& scale : column) scale /= small;

  const bool to_float = options.precision != Precision::Double;
  const double smallest = to_float ? double(std::numeric_limits<float>::min()) : std::numeric_limits<double>::min();
  const bool rounds = rounds_any(pipeline, options);
  const OracleInput narrow = rounds ? rounded_input(pipeline, input, options) : OracleInput();
  const OracleOutput rounded = rounds ? interpret(unfinished, narrow, which) : sums;
  SumErrors of_sums =
      sum_errors(pipeline, input, sums.values, rounds ? narrow : input, rounded.values, which, options, target);
  errors = std::move(of_sums.errors);
  expected.undecided_pairs = std::move(of_sums.undecided);
  for (std::size_t c = 0; c < errors.size(); ++c) {
    const Field& field = pipeline.field_of(Role::Output, int(c));
    const bool index = keeps_index(field.reduction);
    for (std::size_t k = 0; k < errors[c].size(); ++k) {
      const double shift = std::fabs(rounded.values[c][k] - sums.values[c][k]);
      if (shift > 0) errors[c][k] += index ? kUnbounded : shift;
      if (!index && !is_integral(field)) errors[c][k] += double(input.nj) * smallest;
      // Sums into elements are exact, and rounded once.
      if (field.is_histogram() && !is_integral(field))
        errors[c][k] += std::fabs(sums.values[c][k]) * std::numeric_limits<double>::epsilon();
    }
  }
  propagate_undecided_choices(pipeline, errors);
  finish(pipeline, input, which, sums.values, errors, options, target, expected.values, expected.bound);
  reduce_totals(pipeline, expected);
  return expected;
}

}  // namespace nbcc
