// Error bounds of the sums of one i-particle before finish(), when every operation on its pairs rounds.
// Tested by tests/unit/particles/error_bounds/error_bound_test.cpp.
#pragma once
#include <map>
#include <vector>

#include "compiler/ir/interpret.h"
#include "particles/error_bounds/choice_error.h"
#include "particles/error_bounds/running_error.h"

namespace nbcc {

bool is_integral(const Field& field);

// The value of a leaf for a pair (i, j); its error is 0. `pair`: the index into the inputs per pair.
RunningError::Number leaf_of(const OracleInput& input, const Node& leaf, std::int64_t i, std::int64_t j,
                             std::int64_t pair);

class ReducedError;

// Processes one i-particle at a time: begin(), next() for each batch of its pairs, end().
class SumError {
 public:
  // `sums`: the oracle's sums for `input`. All arguments must outlive this object.
  SumError(const Pipeline& pipeline, const OracleInput& input, const Figures& sums, const Options& options,
           const Target& target);
  ~SumError();

  // `k`: the index of this i in `sums`.
  void begin(std::size_t k, std::int64_t i);
  // Processes the next batch and returns its number of pairs; 0 after the last batch.
  int next();
  const RunningError& pairs() const { return pair_; }  // values and errors of the present batch
  std::vector<double> end();                           // error bounds, [output component]
  // Error bounds of the elements of histograms: first component -> [element], of a total over all i so far, or
  // [k][element] of each i. A pair whose element rounding may change counts as an error in every element that it may be
  // added to.
  const std::map<int, std::vector<double>>& histograms() const { return histograms_; }

 private:
  void take_histograms(int count);
  std::span<double> elements_of(const Field& field);  // of the present i, or of a total

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
  std::map<int, std::vector<double>> histograms_;
};

}  // namespace nbcc
