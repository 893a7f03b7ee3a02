// The fastest cut of a sum, found by measuring few of the many that there are.
// Tested by tests/unit/tune_search_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/cuda/cuda_tunings.h"

namespace nbcc {

struct TuneSearch {
  // Interactions/s with a cut; nothing: it is not possible, or not worth measuring.
  std::function<std::optional<double>(const CudaTuning&)> rate;
  // The share of the time for this search that is spent, 1 and more: all of it.
  std::function<double()> spent;
  // Where to begin; the first must be possible. Their shapes are complete, their parts 0: those that the model gives
  // to the shape.
  std::vector<CudaTuning> starts;
  // Terms that a lane may add in working precision before they join the sum: a cut that is faster by longer partial
  // sums would be less accurate.
  int most_terms = 128;
  std::int64_t nj = 1;
};

struct TuneFound {
  CudaTuning best;
  double rate = 0;
  int measured = 0;  // cuts
  bool out_of_time = false;
};

TuneFound search_tuning(const TuneSearch& search);

}  // namespace nbcc
