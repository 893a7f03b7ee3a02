// Terms with their errors -> the error of the logarithm of their weights' sum, or of their weighted mean. Doors: those
// of WeightedError.
#include "particles/error_bounds/weighted_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nbcc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double WeightedError::largest() const {
  double largest = -kInfinity;
  for (const Term& term : terms_) largest = std::max(largest, term.logit.value);
  return largest;
}

// Of a weight whose logit is so far below the largest, relative to it. The weight is an exponential of a rounded
// difference, which is no larger or at most 8. As the reference rises to the largest, by more than 8 at a time, it is
// multiplied by further exponentials of that kind, and each product rounds. An exponential is known to 8 epsilons, a
// difference to half an epsilon of its size. Parts of the sum are joined in double, each time with one more
// exponential.
double WeightedError::roundings(double below) const {
  const double epsilon = epsilon_of(precision_);
  // About there a weight leaves the numbers of the precision, and may be 0.
  if (below > (precision_ == Precision::Double ? 690 : 80)) return 1;
  const double raises = (below + 8) / 8;
  const double joins = 2 * double(std::min<std::size_t>(terms_.size(), 512)) * epsilon_of(Precision::Double);
  return epsilon * (0.5 * std::max(below, 8.0) + 8 + 9 * raises + 0.5 * (below + 8)) + joins;
}

double WeightedError::of_logarithm(double value) const {
  const double top = largest();
  double most = 0, least = 0;
  for (const auto& [logit, weight, certain] : terms_) {
    const double rounding = roundings(top - logit.value);
    most += std::exp(logit.value - top + logit.error) * (1 + rounding);
    if (certain) least += std::exp(logit.value - top - logit.error) * std::max(1 - rounding, 0.0);
  }
  // Nothing has a weight.
  if (top == -kInfinity) return 0;
  const double error = std::max(top + std::log(most) - value, value - top - std::log(least));
  const double rounded = sum_roundings_ + epsilon_of(precision_) * (1 + std::fabs(value));
  return std::isnan(error) ? kInfinity : std::max(error, 0.0) + rounded;
}

// A weight that is wrong by a part of itself moves the mean towards its value, or away from it.
double WeightedError::of_mean(double value) const {
  const double top = largest();
  double moved = 0, sizes = 0, total = 0, least = 0;
  for (const auto& [logit, term, certain] : terms_) {
    const double weight = std::exp(logit.value - top), rounding = roundings(top - logit.value);
    const double most = std::exp(logit.error) * (1 + rounding);
    moved += weight * ((certain ? most - 1 : most) * std::fabs(term.value - value) + most * term.error);
    sizes += weight * std::fabs(term.value);
    total += weight;
    if (certain) least += weight * std::exp(-logit.error) * std::max(1 - rounding, 0.0);
  }
  if (top == -kInfinity) return 0;
  const double error = moved / least + (sum_roundings_ + epsilon_of(precision_)) * (sizes / total + std::fabs(value));
  return std::isnan(error) ? kInfinity : error;
}

}  // namespace nbcc
