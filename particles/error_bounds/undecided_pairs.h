// Counts the pairs in which rounding decides something that an output depends on: a guard, the condition of a select, a
// conversion to an integer. Tested by tests/unit/particles/error_bounds/error_bound_test.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ir/ir.h"
#include "particles/error_bounds/running_error.h"

namespace nbcc {

class UndecidedPairs {
 public:
  // `sums`: [output component] the components of the sums that finish() computes it from.
  UndecidedPairs(const Pipeline& pipeline, const std::vector<std::vector<int>>& sums);

  // Counts among the first `count` pairs of a batch: `exact` has the given inputs, `rounded` the device's inputs.
  void count(const RunningError& exact, const RunningError& rounded, int count);
  // Returns the counts since the last call, [output field].
  std::vector<std::int64_t> take();

 private:
  // The decisions of an output field: the guards of its contributions, and other nodes that rounding may decide
  // (conditions of selects, conversions to integers).
  struct Decisions {
    std::vector<NodeId> guards, others;
    bool always = false;  // one of the contributions has no guard
  };
  std::vector<Decisions> decisions_;  // [output field]
  std::vector<std::int64_t> undecided_;
};

}  // namespace nbcc
