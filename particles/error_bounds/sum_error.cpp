// Error bounds of sums from the error bounds of their terms. Entry point: SumError.
#include "particles/error_bounds/sum_error.h"

#include <algorithm>
#include <cmath>

#include "compiler/table.h"
#include "particles/error_bounds/weighted_error.h"

namespace nbcc {
namespace {

using Number = RunningError::Number;

constexpr int kBatch = 256;

// The error of a sum, in epsilons relative to the sum of |term|. Tiles of 128 terms are added in working precision, and
// each addition may round the partial sum by half an epsilon. If terms are equal, or small compared to the first, all
// these errors do have the same sign. Adding the tiles counts as one rounding.
double sum_roundings(std::int64_t terms) { return 0.5 * double(std::min<std::int64_t>(terms, 128)) + 1; }

}  // namespace

bool is_integral(const Field& field) {
  return field.type == Type::Int || field.type == Type::Index || field.type == Type::Bool;
}

// The error bound of one output component, from the terms or candidates of its reduction.
class ReducedError {
 public:
  ReducedError(Reduction reduction, bool integral, double sum_roundings, Precision precision)
      : reduction_(reduction),
        integral_(integral),
        sum_roundings_(sum_roundings),
        weighted_(sum_roundings, precision) {}

  // Takes a term; `certain` is false if rounding may decide its guard. `logit` is used for softmax only.
  void take(Number term, Number logit, bool certain) {
    if (is_exponential(reduction_))
      return weighted_.take(reduction_ == Reduction::Softmax ? logit : term, term, certain);
    if (reduction_ == Reduction::Product) return multiply(term, certain);
    if (is_sum(reduction_)) {
      // The device may add this NaN.
      if (!certain && std::isnan(term.value)) {
        sum_ = kUnbounded;
        return;
      }
      sum_ += certain ? term.error : std::fabs(term.value) + term.error;
      magnitude_ += std::fabs(term.value);
      return;
    }
    // A maximum is treated as the minimum of the negated values.
    const bool smallest = reduction_ == Reduction::Min || reduction_ == Reduction::ArgMin;
    const double value = smallest ? term.value : -term.value;
    if (certain) certain_high_ = std::min(certain_high_, value + term.error);
    const double low = value - term.error;
    if (low < lowest_)
      second_ = lowest_, lowest_ = low;
    else
      second_ = std::min(second_, low);
  }

  double of(double value) const {
    if (integral_ && exceeds_exact_range()) return kUnbounded;
    switch (reduction_) {
      case Reduction::LogSumExp:
        return weighted_.of_logarithm(value);
      case Reduction::Softmax:
        return weighted_.of_mean(value);
      case Reduction::Product: {
        const double error = uncertain_ ? max_product_ + std::fabs(value) : max_product_ - std::fabs(value);
        return std::isnan(error) ? kUnbounded : error;
      }
      case Reduction::Sum:
      case Reduction::Count:
        return sum_ + sum_roundings_ * magnitude_;
      case Reduction::Min:
      case Reduction::Max: {
        const double seen = reduction_ == Reduction::Min ? value : -value;
        if (lowest_ == kUnbounded) return 0;  // no candidates
        const double error = std::max(seen - lowest_, certain_high_ - seen);
        return std::isnan(error) ? kUnbounded : error;
      }
      default:
        return second_ <= certain_high_ && second_ != kUnbounded ? kUnbounded : 0;
    }
  }

 private:
  // The oracle forms sums and products of integers in double, which is exact up to 2^53; kernels saturate at 2^63.
  bool exceeds_exact_range() const {
    constexpr double kExact = 0x1p53;
    return reduction_ == Reduction::Product ? max_product_ > kExact : is_sum(reduction_) && magnitude_ > kExact;
  }

  // Updates the largest possible |product|. It is rounded once per factor, in double, here and on the device.
  void multiply(Number term, bool certain) {
    const double most = std::fabs(term.value) + term.error, least = std::fabs(term.value) - term.error;
    const double factor = certain ? most : std::max({1.0, most, least > 0 ? 1 / least : kUnbounded});
    max_product_ *= factor * (1 + 2 * epsilon_of(Precision::Double));
    uncertain_ |= !certain;
  }

  Reduction reduction_;
  bool integral_;
  double sum_roundings_;
  WeightedError weighted_;
  double max_product_ = 1;
  bool uncertain_ = false;
  double sum_ = 0, magnitude_ = 0;
  double certain_high_ = kUnbounded;                  // upper bound of the minimum
  double lowest_ = kUnbounded, second_ = kUnbounded;  // the two smallest lower bounds of candidates
};

RunningError::Number leaf_of(const OracleInput& input, const Node& leaf, std::int64_t i, std::int64_t j,
                             std::int64_t pair) {
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

SumError::SumError(const Pipeline& pipeline, const OracleInput& input, const Figures& sums, const Options& options,
                   const Target& target)
    : pipeline_(pipeline),
      input_(input),
      sums_(sums),
      options_(options),
      tables_(tables_of(pipeline.tables, input.params)),
      pair_(pipeline.pair, pipeline.roots(), options, target, tables_, kBatch),
      choices_(choices_of(pipeline.fields)) {
  for (const Field& field : pipeline.fields)
    if (field.is_histogram()) histograms_[field.first].resize(std::size_t(field.length));
}

std::span<double> SumError::elements_of(const Field& field) {
  const std::size_t bins = std::size_t(field.length), row = field.is_total() ? 0 : k_;
  return std::span(histograms_[field.first]).subspan(row * bins, bins);
}

SumError::~SumError() = default;

void SumError::begin(std::size_t k, std::int64_t i) {
  k_ = k;
  i_ = i;
  first_ = 0;
  acting_ = acting_on(input_, i);
  reduced_.clear();
  chosen_.clear();
  for (auto& [first, errors] : histograms_) {
    const Field& field = pipeline_.field_of(Role::Output, first);
    if (!field.is_total()) errors.resize((k + 1) * std::size_t(field.length));
  }
  for (std::size_t c = 0; c < sums_.size(); ++c) {
    const Field& field = pipeline_.field_of(Role::Output, int(c));
    const double roundings =
        is_integral(field) ? 0 : sum_roundings(std::int64_t(acting_.j.size())) * epsilon_of(options_.precision);
    reduced_.emplace_back(field.reduction, is_integral(field), roundings,
                          field.type == Type::Double ? Precision::Double : options_.precision);
  }
  for (const Choice& choice : choices_) {
    std::vector<double> indices;
    for (int c = choice.first; c <= choice.last(); ++c) indices.push_back(sums_[std::size_t(c)][k]);
    chosen_.emplace_back(choice, std::move(indices));
  }
}

int SumError::next() {
  const auto acting_count = std::int64_t(acting_.j.size());
  const int count = int(std::min<std::int64_t>(kBatch, acting_count - first_));
  if (count <= 0) return 0;
  pair_.compute(count, [&](const Node& leaf, int at) {
    const auto where = std::size_t(first_ + at);
    return leaf_of(input_, leaf, i_, acting_.j[where], acting_.pair[where]);
  });
  const auto guard_of = [&](NodeId guard, int at) { return guard == kNone ? Number{1, 0} : pair_.at(guard, at); };
  for (std::size_t c = 0; c < sums_.size(); ++c) {
    const Contribution& contribution = pipeline_.contributions[c];
    for (int at = 0; at < count; ++at) {
      const Number guard = guard_of(contribution.guard, at);
      if (guard.value == 0 && guard.error == 0) continue;
      if (pipeline_.field_of(Role::Output, int(c)).is_histogram()) continue;
      const Number logit = contribution.logit == kNone ? Number{} : pair_.at(contribution.logit, at);
      reduced_[c].take(pair_.at(contribution.value, at), logit, guard.value != 0 && guard.error == 0);
    }
  }
  for (std::size_t q = 0; q < choices_.size(); ++q) {
    const NodeId condition = pipeline_.contributions[std::size_t(choices_[q].first)].guard;
    for (int at = 0; at < count; ++at) {
      const Number guard = guard_of(condition, at);
      if (guard.value == 0 && guard.error == 0) continue;
      const double j_index = double(acting_.j[std::size_t(first_ + at)] + input_.j_offset);
      chosen_[q].take(j_index, guard.value != 0 && guard.error == 0,
                      [&](int c) { return pair_.at(pipeline_.contributions[std::size_t(c)].value, at); });
    }
  }
  take_histograms(count);
  first_ += count;
  return count;
}

void SumError::take_histograms(int count) {
  for (const Field& field : pipeline_.fields) {
    if (!field.is_histogram()) continue;
    const std::span<double> errors = elements_of(field);
    for (int c = field.first; c < field.first + field.components(); ++c) {
      const Contribution& one = pipeline_.contributions[std::size_t(c)];
      for (int at = 0; at < count; ++at) {
        const Number guard = one.guard == kNone ? Number{1, 0} : pair_.at(one.guard, at);
        if (guard.value == 0 && guard.error == 0) continue;
        const Number element = pair_.at(one.logit, at), value = pair_.at(one.value, at);
        const bool certain = guard.error == 0 && element.error == 0;
        const double low = std::max(0.0, element.value - element.error);
        const double high = std::min(double(errors.size()) - 1, element.value + element.error);
        for (double e = low; e <= high; ++e)
          errors[std::size_t(e)] += certain ? value.error : std::fabs(value.value) + value.error;
      }
    }
  }
}

std::vector<double> SumError::end() {
  std::vector<double> errors;
  for (std::size_t c = 0; c < sums_.size(); ++c)
    errors.push_back(pipeline_.field_of(Role::Output, int(c)).is_histogram() ? 0 : reduced_[c].of(sums_[c][k_]));
  for (ChoiceError& one : chosen_) one.report([&](int c, double error) { errors[std::size_t(c)] = error; });
  return errors;
}

}  // namespace nbcc
