// Sums over all pairs of one set of particles that compute each pair once, by the kernel with reactions
// (compiler/passes/reactions.h). Tested by tests/numeric/symmetric_test.cpp.
#pragma once
#include <memory>
#include <optional>

#include "runtime/sum/sum.h"

namespace nbcc {

class SymmetricSum {
 public:
  explicit SymmetricSum(const Kernel& kernel) : kernel_(kernel) {}  // the kernel must outlive this object
  // The pair method "symmetric". This object must outlive it.
  PairMethod method();

 private:
  std::optional<Estimate> estimate(const SumRequest& request);
  Estimate survey(const SumRequest& request);
  std::string obstacle_of(const SumRequest& request);
  bool are_one_set(const SumRequest& request) const;
  const ArrayView& view(const SumRequest& request, std::string_view field) const;
  SumState* sum();  // null: the device has no symmetric kernels
  void bind(const SumRequest& request);
  void run(const SumRequest& request);

  const Kernel& kernel_;
  std::optional<SymmetricKernel> made_;  // of KernelSource::symmetric; made when a run may use it
  std::optional<SumState> sum_;          // a sum of its kernel; made when a run needs it
};

}  // namespace nbcc
