// Searches for the fastest launch configuration of a sum, with few measurements among many possible configurations.
// Tested by tests/unit/cli/sum/tune_search_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

struct TuneSearch {
  // Measures a configuration: interactions/s; nothing if it is not possible or not worth measuring.
  std::function<std::optional<double>(const LaunchConfig&)> rate;
  // The fraction of the time for this search that is spent; 1 or more: no time is left.
  std::function<double()> spent;
  // Configurations to begin with; the first must be possible. All numbers are set, except j_splits = 0 (the model's).
  std::vector<LaunchConfig> starts;
  // Limit of the terms that a j slice adds in working precision before they are added to the sum. Longer partial sums
  // would be faster, but less accurate.
  int max_terms_per_slice = 128;
  std::int64_t nj = 1;
};

struct TuneResult {
  LaunchConfig best;
  double rate = 0;
  int measured = 0;  // number of configurations
  bool out_of_time = false;
};

TuneResult search_tuning(const TuneSearch& search);

}  // namespace nbcc
