// Error bounds of a device's logsumexp or softmax of one i, from the errors of logits and values and from the roundings
// of a kernel that rescales its sums to a running maximum.
// Tested by tests/unit/particles/error_bounds/weighted_error_test.cpp.
#pragma once
#include <vector>

#include "particles/error_bounds/running_error.h"

namespace nbcc {

class WeightedError {
 public:
  using Number = RunningError::Number;
  // `sum_roundings`: error of the summation relative to the sum of |term|. `precision`: precision of the weights.
  WeightedError(double sum_roundings, Precision precision) : sum_roundings_(sum_roundings), precision_(precision) {}

  // Takes a term; `certain` is false if rounding may decide its guard.
  void take(Number logit, Number value, bool certain) { terms_.push_back({logit, value, certain}); }

  double of_logarithm(double value) const;  // error bound of a logsumexp whose exact value is `value`
  double of_mean(double value) const;       // error bound of a softmax whose exact value is `value`

 private:
  struct Term {
    Number logit, value;
    bool certain;
  };
  double largest() const;
  double roundings(double below) const;

  double sum_roundings_;
  Precision precision_;
  std::vector<Term> terms_;
};

}  // namespace nbcc
