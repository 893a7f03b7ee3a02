// What a run of the C interface checks besides SumState: warnings of index guards between two sets and of results that
// are NaN, and results that an int32 array cannot hold. Tested by tests/unit/runtime/sum/check/run_check_test.cpp.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/index_guard.h"
#include "runtime/sum/run/sum.h"

namespace nbcc {

class RunCheck {
 public:
  // kernel: the kernel of the sums that are checked.
  RunCheck(std::shared_ptr<const Kernel> kernel, IndexGuard guard)
      : kernel_(std::move(kernel)), guard_(guard), not_on_host_(kernel_->source.fields.size()) {}
  // For particles that are made up, whose two sets mean nothing.
  void ignore_index_guard() { guard_ = IndexGuard::None; }
  // Before a run, because outputs may be the arrays of inputs.
  void begin(const SumState& sum, const RunChoice& choice);
  // After it. Throws UsageError.
  void end(const SumState& sum, const RunChoice& choice);
  // The k-th warning of the last run; null if there are fewer. A warning that applies to the next run as well keeps its
  // text.
  const char* warning(std::size_t k) const;

 private:
  std::shared_ptr<const Kernel> kernel_;
  IndexGuard guard_;
  std::optional<std::string> two_sets_, non_finite_;
  std::vector<ArrayView> compared_;  // the inputs when the sets were last compared
  // [field] an array that the host could not read: asking a driver takes a microsecond.
  std::vector<const void*> not_on_host_;
};

}  // namespace nbcc
