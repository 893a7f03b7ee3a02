// A kind of result that a run makes of the values of i or of the terms of pairs, such as totals. A sum has a list of
// them; each replaces what kernels would write by memory of its own, and stores after the last part of the run.
#pragma once
#include <span>

#include "runtime/sum/request/sum_request.h"

namespace nbcc {

class RunResult {
 public:
  RunResult() = default;
  RunResult(const RunResult&) = delete;
  RunResult& operator=(const RunResult&) = delete;
  virtual ~RunResult() = default;
  // The request with this object's memory in place of the caller's arrays. Valid until the next call.
  virtual SumRequest begin(const SumRequest& request) = 0;
  // Stores the results of the run in the caller's arrays.
  virtual void store(const SumRequest& request, std::span<const ArrayView> callers) = 0;
};

}  // namespace nbcc
