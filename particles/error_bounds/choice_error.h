// Error bounds of a choice (argmin or argmax with K slots and payload values): 0 in a slot whose candidate is certain,
// infinite in any other slot. Tested by tests/unit/particles/error_bounds/error_bound_test.cpp.
#pragma once
#include <functional>
#include <vector>

#include "compiler/field.h"
#include "particles/error_bounds/running_error.h"

namespace nbcc {

class ChoiceError {
 public:
  // `chosen`: the j indices that the oracle chose, by slot.
  ChoiceError(const Choice& choice, std::vector<double> chosen);

  // Takes a candidate; `certain` is false if rounding may decide its guard. `of` returns value and error of a
  // component.
  void take(double j_index, bool certain, const std::function<RunningError::Number(int component)>& of);

  // Calls set(component, error) for all output components of the choice and of its payload.
  void report(const std::function<void(int component, double error)>& set);

 private:
  bool is_decided(int best) const;

  const Choice& choice_;
  std::vector<double> chosen_;
  std::vector<std::vector<double>> payloads_;  // errors of the payload: [payload output][slot * width + component]
  // Lower bounds of all candidates and upper bounds of the certain ones; negated for a maximum.
  std::vector<double> lows_, certain_highs_;
};

}  // namespace nbcc
