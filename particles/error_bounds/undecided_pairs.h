// In how many pairs rounding decides something that an output depends on: a guard, a choice between two values, a
// number that becomes a whole one. Tested by tests/unit/error_bound_test.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ir/ir.h"
#include "particles/error_bounds/running_error.h"

namespace nbcc {

class UndecidedPairs {
 public:
  // `sums`: of which components of the sums each output component is made.
  UndecidedPairs(const Pipeline& pipeline, const std::vector<std::vector<int>>& sums);

  // The first `count` pairs, from the inputs as they are and as they reach the device.
  void count(const RunningError& exact, const RunningError& rounded, int count);
  // By output field, of all pairs since the last call.
  std::vector<std::int64_t> take();

 private:
  // What an output field goes by: the guards of its contributions, and nodes of which some depend on a decision.
  struct Decisions {
    std::vector<NodeId> guards, others;
    bool always = false;  // one of the contributions has no guard
  };
  std::vector<Decisions> decisions_;  // by output field
  std::vector<std::int64_t> undecided_;
};

}  // namespace nbcc
