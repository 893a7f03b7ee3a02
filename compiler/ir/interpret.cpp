// Pipeline and particles -> the outputs of every i. Entry point: interpret(). Each node is evaluated for a batch of j,
// which keeps the loops simple and the columns in cache. Every operation is in double; the graph is not transformed.
#include "compiler/ir/interpret.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>

#include "compiler/table.h"

namespace nbcc {
namespace {

constexpr int kBatch = 256;
using Image = std::array<int, 3>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Neumaier's compensated sum. If the sum is infinite or NaN, the compensation is inf - inf and is ignored.
class CompensatedSum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    lost_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// The accumulator of one output component.
class Reducer {
 public:
  // An integer minimum without terms is the largest integer, 2^63 - 1, which as a double is 2^63.
  Reducer(Reduction reduction, bool whole) : reduction_(reduction) {
    const double none = whole && !keeps_index(reduction) ? 0x1p63 : kInfinity;
    extreme_ = is_minimum(reduction) ? none : -none;
  }

  // `logit` is used by softmax only.
  void take(double x, double j_index, double logit) {
    switch (reduction_) {
      case Reduction::Sum:
      case Reduction::Count:
        sum_.add(x);
        magnitude_ += std::fabs(x);
        return;
      case Reduction::Min:
        if (x < extreme_ || std::isnan(x)) extreme_ = x;
        return;
      case Reduction::Max:
        if (x > extreme_ || std::isnan(x)) extreme_ = x;
        return;
      // Equal values: the lowest j. NaN is never chosen.
      case Reduction::ArgMin:
        return choose(x < extreme_, x, j_index);
      case Reduction::ArgMax:
        return choose(x > extreme_, x, j_index);
      case Reduction::At:
      case Reduction::Histogram:
        return;  // see Chooser, Histograms
      case Reduction::Product:
        product_ *= x;
        return;
      // Keep all terms: of_terms() computes the weights as defined once the largest logit is known.
      case Reduction::LogSumExp:
        terms_.emplace_back(x, 1);
        return;
      case Reduction::Softmax:
        terms_.emplace_back(logit, x);
        return;
      case Reduction::Weighted:
      case Reduction::Reference:
        throw std::invalid_argument("an accumulator is no output");
    }
  }

  double value(double scale) const {
    if (is_sum(reduction_)) return sum_.value() * scale;
    if (reduction_ == Reduction::Product) return product_;
    if (is_exponential(reduction_)) return of_terms(false);
    return reduction_ == Reduction::Min || reduction_ == Reduction::Max ? extreme_ : index_;
  }

  double magnitude(double scale) const {
    if (is_sum(reduction_)) return magnitude_ * std::fabs(scale);
    // A relative error of the sum of weights is an absolute error of its logarithm.
    if (reduction_ == Reduction::LogSumExp) return 1 + std::fabs(value(scale));
    return reduction_ == Reduction::Softmax ? of_terms(true) : std::fabs(value(scale));
  }

 private:
  // The logarithm of the sum of weights, or the weighted mean of the values (or of their absolute values).
  double of_terms(bool sizes) const {
    const bool is_mean = reduction_ == Reduction::Softmax;
    double largest = -kInfinity;
    for (const auto& [logit, value] : terms_) {
      if (std::isnan(logit)) return logit;
      largest = std::max(largest, logit);
    }
    if (!is_mean && std::isinf(largest)) return largest;
    CompensatedSum weights, values;
    for (const auto& [logit, value] : terms_) {
      if (logit == -kInfinity) continue;  // weight 0, even if the value is infinite or NaN
      const double weight = std::exp(logit - largest);
      weights.add(weight);
      values.add(weight * (sizes ? std::fabs(value) : value));
    }
    return is_mean ? values.value() / weights.value() : largest + std::log(weights.value());
  }

  void choose(bool better, double x, double j_index) {
    if (better || (x == extreme_ && index_ >= 0 && j_index < index_)) extreme_ = x, index_ = j_index;
  }

  Reduction reduction_;
  CompensatedSum sum_;
  double magnitude_ = 0, extreme_ = 0, index_ = -1, product_ = 1;
  std::vector<std::pair<double, double>> terms_;  // logits and values
};

// The values of a graph for one i and up to `width` j at a time. Nodes are evaluated in three stages by their binding:
// nodes of params once, nodes of i once per i, nodes of j once per batch.
class Evaluator {
 public:
  Evaluator(const Graph& graph, const std::vector<NodeId>& roots, const OracleInput& input,
            const std::vector<std::vector<double>>& tables, int width)
      : graph_(graph), input_(input), tables_(tables), width_(width) {
    const std::vector<bool> needed = reachable(graph, roots);
    values_.resize(needed.size());
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (!needed[std::size_t(id)]) continue;
      values_[std::size_t(id)].resize(std::size_t(width * numbers_in(graph[id].type)));
      stage_of(graph[id].binding).push_back(id);
    }
    for (NodeId id : constant_) evaluate_node(id, width_);
  }

  // `outputs` are the values of Output leaves; the pair graph has no such leaves.
  void set_i(std::int64_t i, const std::vector<double>* outputs = nullptr) {
    i_ = i;
    outputs_ = outputs;
    for (NodeId id : of_i_) evaluate_node(id, width_);
  }

  void set_j(const Acting& acting, std::size_t first, std::size_t count) {
    const std::span<const std::int64_t> j = std::span(acting.j).subspan(first, count);
    j_ = j;
    pairs_ = std::span(acting.pair).subspan(first, count);
    images_ = std::span(acting.image).subspan(first, count);
    for (NodeId id : of_j_) evaluate_node(id, int(j.size()));
  }

  const double* operator[](NodeId id) const { return values_[std::size_t(id)].data(); }

 private:
  std::vector<NodeId>& stage_of(Binding binding) {
    if (binding == Binding::Constant || binding == Binding::Param) return constant_;
    return binding == Binding::I ? of_i_ : of_j_;
  }

  void evaluate_node(NodeId id, int count) {
    const Node& node = graph_[id];
    double* out = values_[std::size_t(id)].data();
    const auto component = std::size_t(node.payload);
    // Any number but 0 is a condition that holds.
    const auto given = [&node](double x) { return node.type == Type::Bool ? double(x != 0) : x; };
    switch (node.op) {
      case Op::Const:
        return void(std::fill_n(out, count, graph_.constant_value(id)));
      case Op::Param:
        return void(std::fill_n(out, count, given(input_.params.at(component))));
      case Op::InputI:
        return void(std::fill_n(out, count, given(input_.i.at(component).at(std::size_t(i_)))));
      case Op::InputJ:
        for (int k = 0; k < count; ++k) out[k] = given(input_.j.at(component)[std::size_t(j_[std::size_t(k)])]);
        return;
      case Op::InputPair:
        for (int k = 0; k < count; ++k) out[k] = given(input_.pair.at(component)[std::size_t(pairs_[std::size_t(k)])]);
        return;
      case Op::IIndex:
        return void(std::fill_n(out, count, double(i_ + input_.i_offset)));
      case Op::JIndex:
        for (int k = 0; k < count; ++k) out[k] = double(j_[std::size_t(k)] + input_.j_offset);
        return;
      case Op::ImageIndex:
        for (int k = 0; k < count; ++k) out[k] = double(images_[std::size_t(k)][component]);
        return;
      case Op::SelfPair:
        for (int k = 0; k < count; ++k)
          out[k] = j_[std::size_t(k)] + input_.j_offset == i_ + input_.i_offset && images_[std::size_t(k)] == Image{};
        return;
      case Op::EveryImage:
        return every_image((*this)[node.args[0]], (*this)[node.args[1]], out, count);
      case Op::Output:
        return void(std::fill_n(out, count, outputs_->at(component)));
      default:
        break;
    }
    std::array<const double*, 3> args{};
    for (int k = 0; k < arity(node.op); ++k) args[std::size_t(k)] = (*this)[node.args[std::size_t(k)]];
    const std::span<const double> table =
        node.op == Op::Lookup ? std::span<const double>(tables_.at(component)) : std::span<const double>();
    evaluate(node.op, node.type, graph_[node.args[0]].type, args, out, count, table);
  }

  // A vector that is not added may be infinite, as the period of an open axis.
  void every_image(const double* vector, const double* cell, double* out, int count) const {
    for (int k = 0; k < 3 * count; ++k) out[k] = vector[k];
    for (int k = 0; k < count; ++k)
      for (int m = 0; m < 3; ++m)
        for (int c = 0; c < 3; ++c)
          if (const int times = images_[std::size_t(k)][std::size_t(m)]; times != 0)
            out[3 * k + c] += times * cell[9 * k + 3 * m + c];
  }

  const Graph& graph_;
  const OracleInput& input_;
  const std::vector<std::vector<double>>& tables_;
  int width_;
  std::int64_t i_ = 0;
  std::span<const std::int64_t> j_, pairs_;
  std::span<const Image> images_;
  const std::vector<double>* outputs_ = nullptr;
  std::vector<std::vector<double>> values_;  // [node][k]
  std::vector<NodeId> constant_, of_i_, of_j_;
};

void reduce(const Contribution& contribution, const Evaluator& pair, Reducer& reducer, std::span<const std::int64_t> j,
            std::int64_t j_offset) {
  const double* value = pair[contribution.value];
  const double* guard = contribution.guard == kNone ? nullptr : pair[contribution.guard];
  const double* logit = contribution.logit == kNone ? nullptr : pair[contribution.logit];
  for (std::size_t k = 0; k < j.size(); ++k) {
    if (guard == nullptr || guard[k] != 0) reducer.take(value[k], double(j[k] + j_offset), logit ? logit[k] : 0);
  }
}

// The results of pairs that the guard does not exclude; of all others they stay 0.
void store_pairs(const Contribution& contribution, const Evaluator& pair, std::span<const std::int64_t> pairs,
                 OracleOutput& result, std::size_t component) {
  const double* const guard = contribution.guard == kNone ? nullptr : pair[contribution.guard];
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (guard && guard[k] == 0) continue;
    const double value = pair[contribution.value][k];
    result.values[component][std::size_t(pairs[k])] = value;
    result.magnitudes[component][std::size_t(pairs[k])] = std::fabs(value);
  }
}

// The accumulator of a choice: several best pairs and their payloads. All candidates are kept, and sorted at the end.
class Chooser {
 public:
  Chooser(const Pipeline& pipeline, const Choice& choice) : pipeline_(pipeline), choice_(choice) {}

  void take(const Evaluator& pair, std::span<const std::int64_t> j, std::int64_t j_offset) {
    const Contribution& chosen = contribution(choice_.first);
    for (std::size_t k = 0; k < j.size(); ++k) {
      if (chosen.guard != kNone && pair[chosen.guard][k] == 0) continue;
      const double value = pair[chosen.value][k] * (choice_.least() ? 1 : -1);
      if (!(value < kInfinity) || value > worst_) continue;
      Candidate candidate{value, double(j[k] + j_offset), {}};
      for (const Choice::Payload& payload : choice_.payloads)
        for (int d = 0; d < payload.width; ++d)
          candidate.payloads.push_back(pair[contribution(payload.first + d).value][k]);
      candidates_.push_back(std::move(candidate));
      if (candidates_.size() >= kMaxCandidates + std::size_t(choice_.slots)) keep_best();
    }
  }

  // Calls set(component, value) for each output component of the choice.
  template <typename Set>
  void store(const Set& set) {
    keep_best();
    for (int m = 0; m < choice_.slots; ++m) {
      const bool filled = std::size_t(m) < candidates_.size();
      const Candidate* const best = filled ? &candidates_[std::size_t(m)] : nullptr;
      set(std::size_t(choice_.first + m), best ? best->j_index : -1);
      std::size_t next = 0;
      for (const Choice::Payload& payload : choice_.payloads)
        for (int d = 0; d < payload.width; ++d) {
          const int c = payload.first + m * payload.width + d;
          const bool whole = pipeline_.field_of(Role::Output, c).type < Type::Float;
          const double nothing = whole ? 0 : std::numeric_limits<double>::quiet_NaN();
          set(std::size_t(c), best ? best->payloads[next++] : nothing);
        }
    }
  }

 private:
  struct Candidate {
    double value, j_index;  // smaller is better
    std::vector<double> payloads;
  };
  const Contribution& contribution(int component) const { return pipeline_.contributions[std::size_t(component)]; }

  // Sorts the candidates and drops those beyond the slots. Of equal candidates the earlier one is kept.
  void keep_best() {
    std::ranges::stable_sort(candidates_, {}, [](const Candidate& c) { return std::pair(c.value, c.j_index); });
    const auto slots = std::size_t(choice_.slots);
    if (candidates_.size() < slots) return;
    candidates_.erase(candidates_.begin() + std::ptrdiff_t(slots), candidates_.end());
    worst_ = candidates_.back().value;
  }

  static constexpr std::size_t kMaxCandidates = 256;  // beside those in slots, before the best are selected

  const Pipeline& pipeline_;
  const Choice& choice_;
  std::vector<Candidate> candidates_;
  double worst_ = kInfinity;  // value in the last slot
};

// The histograms of a run, in the place of the values of each i: [first component][element], or [first
// component][k][element] for the k-th i that is evaluated.
class Histograms {
 public:
  Histograms(const Pipeline& pipeline, std::int64_t asked) : pipeline_(pipeline) {
    for (const Field& field : pipeline.fields)
      if (field.is_histogram()) {
        const std::size_t rows = field.is_total() ? 1 : std::size_t(asked);
        sums_[field.first].resize(rows * std::size_t(field.length));
        magnitudes_[field.first].resize(rows * std::size_t(field.length));
      }
  }
  void take(const Evaluator& pair, std::size_t count, std::int64_t asked) {
    for (const auto& [first, sums] : sums_) {
      const Field& field = pipeline_.field_of(Role::Output, first);
      const std::size_t row = field.is_total() ? 0 : std::size_t(asked) * std::size_t(field.length);
      for (int c = first; c < first + field.components(); ++c) {
        const Contribution& one = pipeline_.contributions[std::size_t(c)];
        for (std::size_t k = 0; k < count; ++k) {
          const double element = pair[one.logit][k], value = pair[one.value][k];
          if (element < 0 || (one.guard != kNone && pair[one.guard][k] == 0)) continue;
          sums_[first][row + std::size_t(element)].add(value);
          magnitudes_[first][row + std::size_t(element)] += std::fabs(value);
        }
      }
    }
  }
  void store(OracleOutput& result) const {
    for (const auto& [first, sums] : sums_) {
      const int components = pipeline_.field_of(Role::Output, first).components();
      for (int c = first; c < first + components; ++c)
        result.values[std::size_t(c)].clear(), result.magnitudes[std::size_t(c)].clear();
      for (const CompensatedSum& sum : sums) result.values[std::size_t(first)].push_back(sum.value());
      result.magnitudes[std::size_t(first)] = magnitudes_.at(first);
    }
  }

 private:
  const Pipeline& pipeline_;
  std::map<int, std::vector<CompensatedSum>> sums_;
  std::map<int, std::vector<double>> magnitudes_;
};

std::vector<Reducer> fresh_reducers(const Pipeline& pipeline) {
  std::vector<Reducer> reducers;
  for (const Field* output : pipeline.fields_of(Role::Output))
    reducers.emplace_back(output->reduction, output->type == Type::Int || output->type == Type::Index);
  return reducers;
}

void check(const Pipeline& pipeline, const OracleInput& input) {
  const auto check_side = [&](Role role, const std::vector<std::vector<double>>& columns, std::int64_t count) {
    const std::string side(name(role));
    if (int(columns.size()) != pipeline.components(role))
      throw std::invalid_argument(side + ": wrong number of columns");
    for (const auto& column : columns) {
      if (std::int64_t(column.size()) != count) throw std::invalid_argument(side + ": a column has the wrong length");
    }
  };
  check_side(Role::InputI, input.i, input.ni);
  check_side(Role::InputJ, input.j, input.nj);
  check_side(Role::InputPair, input.pair, input.pairs ? std::int64_t(input.pairs->j.size()) : 0);
  if (int(input.params.size()) != pipeline.components(Role::Param)) {
    throw std::invalid_argument("param: wrong number of values");
  }
}

}  // namespace

Acting acting_on(const OracleInput& input, std::int64_t i) {
  const auto row = [i](const OracleRows& rows) {
    const auto begin = rows.first.at(std::size_t(i)), end = rows.first.at(std::size_t(i) + 1);
    return std::span(rows.j).subspan(std::size_t(begin), std::size_t(end - begin));
  };
  Acting acting;
  const std::int64_t count = input.pairs ? std::int64_t(row(*input.pairs).size()) : input.nj;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t j = input.pairs ? row(*input.pairs)[std::size_t(k)] : k;
    if (input.excluded && std::ranges::count(row(*input.excluded), j) > 0) continue;
    const auto [a, b, c] = input.images;
    for (int x = -a; x <= a; ++x)
      for (int y = -b; y <= b; ++y)
        for (int z = -c; z <= c; ++z) {
          acting.j.push_back(j);
          acting.pair.push_back(input.pairs ? input.pairs->first[std::size_t(i)] + k : 0);
          acting.image.push_back({x, y, z});
        }
  }
  return acting;
}

OracleOutput interpret(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which) {
  check(pipeline, input);
  const std::int64_t asked = which.empty() ? input.ni : std::int64_t(which.size());
  const std::size_t outputs = pipeline.contributions.size();
  const auto [x, y, z] = input.images;
  const std::int64_t images = std::int64_t(2 * x + 1) * (2 * y + 1) * (2 * z + 1);
  const int width = int(std::clamp<std::int64_t>(input.nj * images, 1, kBatch));
  const std::vector<std::vector<double>> tables = tables_of(pipeline.tables, input.params);
  Evaluator pair(pipeline.pair, pipeline.roots(), input, tables, width);
  Evaluator finish(pipeline.finish, pipeline.finished, input, tables, 1);
  Evaluator position(pipeline.position_graph, pipeline.positions, input, tables, 1);

  OracleOutput result;
  result.values.assign(outputs, std::vector<double>(std::size_t(asked)));
  result.magnitudes = result.values;
  std::vector<bool> of_pair(outputs, false);
  for (std::size_t c = 0; c < outputs; ++c) {
    of_pair[c] = pipeline.field_of(Role::Output, int(c)).is_of_pair();
    if (!of_pair[c]) continue;
    if (!input.pairs) throw std::invalid_argument("an output(pair) has values of listed pairs");
    result.values[c].assign(input.pairs->j.size(), 0.0);
    result.magnitudes[c] = result.values[c];
  }
  std::vector<double> reduced(outputs);
  const std::vector<Choice> choices = choices_of(pipeline.fields);
  Histograms histograms(pipeline, asked);
  for (std::int64_t k = 0; k < asked; ++k) {
    const std::int64_t i = which.empty() ? k : which[std::size_t(k)];
    if (i < 0 || i >= input.ni) throw std::out_of_range("there is no i-particle " + std::to_string(i));
    pair.set_i(i);
    std::vector<Reducer> reducers = fresh_reducers(pipeline);
    std::vector<Chooser> choosers;
    for (const Choice& choice : choices) choosers.emplace_back(pipeline, choice);
    const Acting acting = acting_on(input, i);
    for (std::size_t first = 0; first < acting.j.size(); first += std::size_t(width)) {
      const std::size_t count = std::min(std::size_t(width), acting.j.size() - first);
      const std::span j = std::span(acting.j).subspan(first, count);
      pair.set_j(acting, first, count);
      for (std::size_t c = 0; c < outputs; ++c)
        if (of_pair[c])
          store_pairs(pipeline.contributions[c], pair, std::span(acting.pair).subspan(first, count), result, c);
        else
          reduce(pipeline.contributions[c], pair, reducers[c], j, input.j_offset);
      for (Chooser& chooser : choosers) chooser.take(pair, j, input.j_offset);
      histograms.take(pair, count, k);
    }
    position.set_i(i);
    const bool finite = std::ranges::all_of(pipeline.positions,
                                            [&](NodeId coordinate) { return std::isfinite(position[coordinate][0]); });
    for (std::size_t c = 0; c < outputs; ++c) {
      if (of_pair[c]) continue;
      const NodeId scale_node = pipeline.contributions[c].scale;
      const double scale = scale_node == kNone ? 1.0 : pair[scale_node][0];
      reduced[c] = reducers[c].value(scale);
      if (!finite && pipeline.becomes_nan(int(c))) reduced[c] = std::numeric_limits<double>::quiet_NaN();
      result.values[c][std::size_t(k)] = reduced[c];
      result.magnitudes[c][std::size_t(k)] = reducers[c].magnitude(scale);
    }
    for (Chooser& chooser : choosers)
      chooser.store([&](std::size_t c, double value) {
        reduced[c] = result.values[c][std::size_t(k)] = value;
        result.magnitudes[c][std::size_t(k)] = std::fabs(value);
      });
    if (pipeline.finished.empty()) continue;
    finish.set_i(i, &reduced);
    for (std::size_t c = 0; c < outputs; ++c)
      if (!of_pair[c]) result.values[c][std::size_t(k)] = finish[pipeline.finished[c]][0];
  }
  histograms.store(result);
  for (std::size_t c = 0; c < outputs; ++c) {
    const Field& field = pipeline.field_of(Role::Output, int(c));
    if (field.kind != FieldKind::Total) continue;
    const double total = total_of(field, result.values[c]);
    const std::vector<double>& sizes = result.magnitudes[c];
    result.magnitudes[c] = {is_sum(field.reduction) ? total_of(field, sizes) : std::fabs(total)};
    result.values[c] = {total};
  }
  return result;
}

double total_of(const Field& output, std::span<const double> values) {
  Reducer reducer(output.reduction, output.type == Type::Int || output.type == Type::Index);
  for (const double value : values) reducer.take(value, 0, 0);
  return reducer.value(1);
}

}  // namespace nbcc
