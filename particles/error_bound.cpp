// The oracle's sums -> values, their scale, and how wrong a device may be. One door: expect(). Runs nothing but the
// interpreter and the error analysis.
#include "particles/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "compiler/table.h"
#include "particles/choice_error.h"
#include "particles/running_error.h"
#include "particles/weighted_error.h"

namespace nbcc {
namespace {

using Number = RunningError::Number;

constexpr int kBatch = 256;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A tile of 128 terms is added up in working precision, and every addition may round all that there is by half an
// epsilon. Where terms are equal, or small beside the first, all errors are indeed of one sign. What is beyond the
// tiles is one rounding.
double sum_roundings(std::int64_t terms) { return 0.5 * double(std::min<std::int64_t>(terms, 128)) + 1; }

bool is_integral(const Field& field) {
  return field.type == Type::Int || field.type == Type::Index || field.type == Type::Bool;
}

// What the errors of its candidates make of one output component.
class ReducedError {
 public:
  ReducedError(Reduction reduction, bool is_whole, double sum_roundings, Precision precision)
      : reduction_(reduction),
        is_whole_(is_whole),
        sum_roundings_(sum_roundings),
        weighted_(sum_roundings, precision) {}

  // A term that is there, or that may be there because its guard is uncertain; of a softmax with its logit.
  void take(Number term, Number logit, bool certain) {
    if (is_exponential(reduction_))
      return weighted_.take(reduction_ == Reduction::Softmax ? logit : term, term, certain);
    if (reduction_ == Reduction::Product) return multiply(term, certain);
    if (is_sum(reduction_)) {
      // If it is there, the sum is anything.
      if (!certain && std::isnan(term.value)) {
        sum_ = kInfinity;
        return;
      }
      sum_ += certain ? term.error : std::fabs(term.value) + term.error;
      magnitude_ += std::fabs(term.value);
      return;
    }
    // Seen as a minimum: of a maximum the negatives.
    const bool smallest = reduction_ == Reduction::Min || reduction_ == Reduction::ArgMin;
    const double value = smallest ? term.value : -term.value;
    if (certain) sure_ = std::min(sure_, value + term.error);
    const double low = value - term.error;
    if (low < lowest_)
      second_ = lowest_, lowest_ = low;
    else
      second_ = std::min(second_, low);
  }

  double of(double value) const {
    if (is_whole_ && leaves_exactness()) return kInfinity;
    switch (reduction_) {
      case Reduction::LogSumExp:
        return weighted_.of_logarithm(value);
      case Reduction::Softmax:
        return weighted_.of_mean(value);
      case Reduction::Product: {
        const double error = uncertain_ ? most_ + std::fabs(value) : most_ - std::fabs(value);
        return std::isnan(error) ? kInfinity : error;
      }
      case Reduction::Sum:
      case Reduction::Count:
        return sum_ + sum_roundings_ * magnitude_;
      case Reduction::Min:
      case Reduction::Max: {
        const double seen = reduction_ == Reduction::Min ? value : -value;
        if (lowest_ == kInfinity) return 0;  // there is none
        const double error = std::max(seen - lowest_, sure_ - seen);
        return std::isnan(error) ? kInfinity : error;
      }
      default:
        return second_ <= sure_ && second_ != kInfinity ? kInfinity : 0;
    }
  }

 private:
  // Sums and products of whole numbers are made in doubles, which are exact to 2^53; at 2^63 kernels hold them.
  bool leaves_exactness() const {
    constexpr double kExact = 0x1p53;
    return reduction_ == Reduction::Product ? most_ > kExact : is_sum(reduction_) && magnitude_ > kExact;
  }

  // The largest size that the product may have. It is rounded once for each factor, in double, here as on the device.
  void multiply(Number term, bool certain) {
    const double most = std::fabs(term.value) + term.error, least = std::fabs(term.value) - term.error;
    const double factor = certain ? most : std::max({1.0, most, least > 0 ? 1 / least : kInfinity});
    most_ *= factor * (1 + 2 * epsilon_of(Precision::Double));
    uncertain_ |= !certain;
  }

  Reduction reduction_;
  bool is_whole_;
  double sum_roundings_;
  WeightedError weighted_;
  double most_ = 1;
  bool uncertain_ = false;
  double sum_ = 0, magnitude_ = 0;
  double sure_ = kInfinity;                         // the minimum is not above it
  double lowest_ = kInfinity, second_ = kInfinity;  // what the two lowest candidates may be
};

Number leaf_of(const OracleInput& input, const Node& leaf, std::int64_t i, std::int64_t j, std::int64_t pair) {
  const auto component = std::size_t(leaf.payload);
  switch (leaf.op) {
    case Op::Param:
      return {input.params[component], 0};
    case Op::InputI:
      return {input.i[component][std::size_t(i)], 0};
    case Op::InputJ:
      return {input.j[component][std::size_t(j)], 0};
    case Op::InputPair:
      return {input.pair[component][std::size_t(pair)], 0};
    case Op::IIndex:
      return {double(i + input.i_offset), 0};
    default:
      return {double(j + input.j_offset), 0};
  }
}

// Errors of the sums before finish(), from exact inputs.
Figures sum_errors(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
                   const Figures& sums, const Options& options, const Target& target) {
  Figures errors(sums.size(), std::vector<double>(which.size()));
  const std::vector<std::vector<double>> tables = tables_of(pipeline.tables, input.params);
  RunningError pair(pipeline.pair, pipeline.roots(), options, target, tables, kBatch);
  const std::vector<Choice> choices = choices_of(pipeline.fields);
  for (std::size_t k = 0; k < which.size(); ++k) {
    std::vector<ReducedError> reduced;
    const Acting acting = acting_on(input, which[k]);
    const auto acting_count = std::int64_t(acting.j.size());
    for (std::size_t c = 0; c < sums.size(); ++c) {
      const Field& field = pipeline.field_of(Role::Output, int(c));
      reduced.emplace_back(field.reduction, is_integral(field),
                           is_integral(field) ? 0 : sum_roundings(acting_count) * epsilon_of(options.precision),
                           field.type == Type::Double ? Precision::Double : options.precision);
    }
    std::vector<ChoiceError> chosen;
    for (const Choice& choice : choices) {
      std::vector<double> indices;
      for (int c = choice.first; c <= choice.last(); ++c) indices.push_back(sums[std::size_t(c)][k]);
      chosen.emplace_back(choice, std::move(indices));
    }
    for (std::int64_t first = 0; first < acting_count; first += kBatch) {
      const int count = int(std::min<std::int64_t>(kBatch, acting_count - first));
      pair.compute(count, [&](const Node& leaf, int at) {
        const auto where = std::size_t(first + at);
        return leaf_of(input, leaf, which[k], acting.j[where], acting.pair[where]);
      });
      for (std::size_t c = 0; c < sums.size(); ++c) {
        const Contribution& contribution = pipeline.contributions[c];
        for (int at = 0; at < count; ++at) {
          const Number guard = contribution.guard == kNone ? Number{1, 0} : pair.at(contribution.guard, at);
          if (guard.value == 0 && guard.error == 0) continue;
          const Number logit = contribution.logit == kNone ? Number{} : pair.at(contribution.logit, at);
          reduced[c].take(pair.at(contribution.value, at), logit, guard.value != 0 && guard.error == 0);
        }
      }
      for (std::size_t q = 0; q < choices.size(); ++q) {
        const NodeId condition = pipeline.contributions[std::size_t(choices[q].first)].guard;
        for (int at = 0; at < count; ++at) {
          const Number guard = condition == kNone ? Number{1, 0} : pair.at(condition, at);
          if (guard.value == 0 && guard.error == 0) continue;
          const double j_index = double(acting.j[std::size_t(first + at)] + input.j_offset);
          chosen[q].take(j_index, guard.value != 0 && guard.error == 0,
                         [&](int c) { return pair.at(pipeline.contributions[std::size_t(c)].value, at); });
        }
      }
    }
    for (std::size_t c = 0; c < sums.size(); ++c) errors[c][k] = reduced[c].of(sums[c][k]);
    for (ChoiceError& one : chosen) one.tell([&](int c, double error) { errors[std::size_t(c)][k] = error; });
  }
  return errors;
}

// Real numbers of which mixed precision does not only form j - i differences, which it keeps whole.
std::vector<bool> used_alone(const Pipeline& pipeline, Op leaf) {
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

// What reaches the device in float: floats always, real numbers where the precision says so.
bool is_rounded(Type type, Precision precision) {
  return type == Type::Float || (type == Type::Real && precision != Precision::Double);
}

bool rounds_any(const Pipeline& pipeline, const Options& options) {
  return std::ranges::any_of(pipeline.fields,
                             [&](const Field& field) { return is_rounded(field.type, options.precision); });
}

// By param: whether it is but the length of a periodic box, of which mixed precision keeps a low part. Its quotient
// with the difference decides how many lengths are taken off, and no more.
std::vector<bool> lengths_of_images(const Pipeline& pipeline) {
  const Graph& graph = pipeline.pair;
  std::set<NodeId> users;
  std::set<std::int64_t> lengths;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto shift = image_shift(graph, id);
    if (!shift || graph[shift->length].op != Op::Param) continue;
    lengths.insert(graph[shift->length].payload);
    users.insert({graph[id].args[1], graph[shift->whole].args[0]});
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
  const std::vector<bool> i_alone = used_alone(pipeline, Op::InputI), j_alone = used_alone(pipeline, Op::InputJ);
  for (const Field& field : pipeline.fields) {
    if (field.role == Role::Output || !is_rounded(field.type, options.precision)) continue;
    for (int k = field.first; k < field.first + field.components(); ++k) {
      const auto c = std::size_t(k);
      if (field.role == Role::Param) {
        // The elements of tables are rounded where they are looked up.
        const bool kept = field.is_table || (options.precision == Precision::Mixed && lengths[c]);
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

// The sums with their errors -> the outputs with theirs.
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
      return leaf.op == Op::Output ? Number{sums[component][k], errors[component][k]}
                                   : leaf_of(input, leaf, which[k], 0, 0);
    });
    for (std::size_t c = 0; c < values.size(); ++c) {
      const Number number = finished.at(pipeline.finished[c], 0);
      values[c][k] = number.value;
      bounds[c][k] = number.error;
    }
  }
}

// What goes along with a choice is anything where that is.
void spread_doubt(const Pipeline& pipeline, Figures& errors) {
  for (const Choice& choice : choices_of(pipeline.fields))
    for (const Choice::Carried& along : choice.carried)
      for (int c = 0; c < choice.places * along.width; ++c)
        for (std::size_t k = 0; k < errors[std::size_t(choice.first)].size(); ++k)
          if (errors[std::size_t(choice.first + c / along.width)][k] == kInfinity)
            errors[std::size_t(along.first + c)][k] = kInfinity;
}

}  // namespace

Expectation expect(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which,
                   const Options& options, const Target& target) {
  Pipeline unfinished = pipeline;
  unfinished.finished.clear();
  const OracleOutput sums = interpret(unfinished, input, which);
  Expectation expected;

  // A small error of every sum, carried through finish(), tells the outputs' scale; so small that finish() is linear,
  // and not so small that its own roundings show.
  constexpr double small = 0x1p-10;
  Figures errors = sums.magnitudes;
  for (auto& column : errors)
    for (double& error : column) error *= small;
  finish(pipeline, input, which, sums.values, errors, options, target, expected.values, expected.scale);
  for (auto& column : expected.scale)
    for (double& scale : column) scale /= small;

  errors = sum_errors(pipeline, input, which, sums.values, options, target);
  const bool to_float = options.precision != Precision::Double;
  const double smallest = to_float ? double(std::numeric_limits<float>::min()) : std::numeric_limits<double>::min();
  const OracleOutput rounded =
      rounds_any(pipeline, options) ? interpret(unfinished, rounded_input(pipeline, input, options), which) : sums;
  for (std::size_t c = 0; c < errors.size(); ++c) {
    const Field& field = pipeline.field_of(Role::Output, int(c));
    const bool index = keeps_index(field.reduction);
    for (std::size_t k = 0; k < which.size(); ++k) {
      const double shift = std::fabs(rounded.values[c][k] - sums.values[c][k]);
      if (shift > 0) errors[c][k] += index ? kInfinity : shift;
      if (!index && !is_integral(field)) errors[c][k] += double(input.nj) * smallest;
    }
  }
  spread_doubt(pipeline, errors);
  finish(pipeline, input, which, sums.values, errors, options, target, expected.values, expected.bound);
  return expected;
}

}  // namespace nbcc
