// How far a device may be from the oracle in a choice of several places and in what goes along with it: not at all
// where every candidate's place is certain, else anywhere. Tested by tests/unit/error_bound_test.cpp.
#pragma once
#include <functional>
#include <vector>

#include "compiler/field.h"
#include "particles/error_bounds/running_error.h"

namespace nbcc {

class ChoiceError {
 public:
  // `chosen` are the oracle's indices by place.
  ChoiceError(const Choice& choice, std::vector<double> chosen);

  // A candidate that is there, or that may be there because its guard is uncertain; `of` gives a component's number.
  void take(double j_index, bool certain, const std::function<RunningError::Number(int component)>& of);

  // Calls set(component, error) for all components of the choice.
  void tell(const std::function<void(int component, double error)>& set);

 private:
  bool is_decided(int best) const;

  const Choice& choice_;
  std::vector<double> chosen_;
  std::vector<std::vector<double>> carried_;  // [output that goes along][place and component]
  std::vector<double> lows_, sure_highs_;     // of the candidates, seen as those of a minimum
};

}  // namespace nbcc
