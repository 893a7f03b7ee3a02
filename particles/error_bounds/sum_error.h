// How wrong the sums of an i may be before finish(), when every operation on its pairs rounds.
// Tested by tests/unit/error_bound_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/interpret.h"
#include "particles/error_bounds/choice_error.h"
#include "particles/error_bounds/running_error.h"

namespace nbcc {

bool is_integral(const Field& field);

// A leaf's value for a pair; without an error.
RunningError::Number leaf_of(const OracleInput& input, const Node& leaf, std::int64_t i, std::int64_t j,
                             std::int64_t pair);

class ReducedError;

// One i after another, its pairs in batches.
class SumError {
 public:
  // `sums`: the oracle's, of `input`. All must outlive this object.
  SumError(const Pipeline& pipeline, const OracleInput& input, const Figures& sums, const Options& options,
           const Target& target);
  ~SumError();

  // The i at position k of those asked for.
  void begin(std::size_t k, std::int64_t i);
  // Takes the next batch; how many pairs it has, 0 when there are no more.
  int next();
  const RunningError& pairs() const { return pair_; }  // of that batch
  std::vector<double> end();                           // by component

 private:
  const Pipeline& pipeline_;
  const OracleInput& input_;
  const Figures& sums_;
  Options options_;
  std::vector<std::vector<double>> tables_;
  RunningError pair_;
  std::vector<Choice> choices_;
  std::size_t k_ = 0;
  std::int64_t i_ = 0, first_ = 0;
  Acting acting_;
  std::vector<ReducedError> reduced_;
  std::vector<ChoiceError> chosen_;
};

}  // namespace nbcc
