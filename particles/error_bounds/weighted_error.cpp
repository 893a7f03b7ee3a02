// Error bounds of logsumexp and of a softmax mean, from the error bounds of their terms. Entry point: WeightedError.
#include "particles/error_bounds/weighted_error.h"

#include <algorithm>
#include <cmath>

namespace nbcc {
double WeightedError::largest() const {
  double largest = -kUnbounded;
  for (const Term& term : terms_) largest = std::max(largest, term.logit.value);
  return largest;
}

// Relative rounding error of a weight whose logit is `below` less than the largest logit. The weight is the exponential
// of (logit - reference), where the difference is rounded and at most 8. Whenever the reference rises towards the
// largest logit, by more than 8 at a time, the weight is multiplied by another exponential, and the product is rounded.
// An exponential has an error of 8 epsilons, a difference half an epsilon of its size. Partial sums are combined in
// double, each with one more exponential.
double WeightedError::roundings(double below) const {
  const double epsilon = epsilon_of(precision_);
  // About there a weight underflows in this precision and may be 0.
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
  // All weights are 0.
  if (top == -kUnbounded) return 0;
  const double error = std::max(top + std::log(most) - value, value - top - std::log(least));
  const double rounded = sum_roundings_ + epsilon_of(precision_) * (1 + std::fabs(value));
  return std::isnan(error) ? kUnbounded : std::max(error, 0.0) + rounded;
}

// A relative error of a weight shifts the mean by a multiple of (term - mean).
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
  if (top == -kUnbounded) return 0;
  const double error = moved / least + (sum_roundings_ + epsilon_of(precision_)) * (sizes / total + std::fabs(value));
  return std::isnan(error) ? kUnbounded : error;
}

}  // namespace nbcc
