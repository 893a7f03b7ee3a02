// How wrong a device's logsumexp or softmax of one i may be: what the errors of logits and values, and the roundings of
// a kernel that goes by a running maximum, make of them.
// Tested by tests/unit/weighted_error_test.cpp.
#pragma once
#include <vector>

#include "particles/error_bounds/running_error.h"

namespace nbcc {

class WeightedError {
 public:
  using Number = RunningError::Number;
  // `sum_roundings` is relative to the sum of sizes, as of any sum; `precision` is that of the weights.
  WeightedError(double sum_roundings, Precision precision) : sum_roundings_(sum_roundings), precision_(precision) {}

  // `certain`: its guard holds whatever is rounded.
  void take(Number logit, Number value, bool certain) { terms_.push_back({logit, value, certain}); }

  double of_logarithm(double value) const;
  double of_mean(double value) const;

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
