// A measuring function -> the fastest launch configuration of a sum, by measuring few of the many that there are.
// Tested by tests/unit/tune_search_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

struct TuneSearch {
  // Interactions/s with a configuration; nothing: it is not possible, or not worth measuring.
  std::function<std::optional<double>(const LaunchConfig&)> rate;
  // The share of the time for this search that is spent, 1 and more: all of it.
  std::function<double()> spent;
  // Where to begin; the first must be possible. Complete but for j_splits, which are 0: those that the model chooses.
  std::vector<LaunchConfig> starts;
  // Terms that a slice may add in working precision before they are added to the sum: what is faster by longer partial
  // sums would be less accurate.
  int most_terms = 128;
  std::int64_t nj = 1;
};

struct TuneFound {
  LaunchConfig best;
  double rate = 0;
  int measured = 0;  // configurations
  bool out_of_time = false;
};

TuneFound search_tuning(const TuneSearch& search);

}  // namespace nbcc
