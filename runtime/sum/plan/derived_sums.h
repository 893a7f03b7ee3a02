// Pair methods that consist of runs of derived kernels. A KernelSum has one DerivedSums and knows only this interface,
// because the implementation has KernelSums of its own. Tested by tests/numeric/nearest_test.cpp and
// symmetric_test.cpp.
#pragma once
#include <memory>
#include <vector>

#include "runtime/sum/plan/device.h"

namespace nbcc {

class DerivedSums {
 public:
  virtual ~DerivedSums() = default;
  // The pair methods that consist of other sums, then those of the device. This object must outlive them.
  virtual std::vector<PairMethod> methods() = 0;
  // Counts and times of all runs of the device's methods, on both the sum's kernel and kernels derived from it; the
  // pairs within reach of the last run.
  virtual SumStatistics statistics(const RunPlan& last) const = 0;
};

// `kernel` and `sum`, a summation of `kernel`, must outlive the result. Defined in make_derived_sums.cpp.
std::unique_ptr<DerivedSums> make_derived_sums(const Kernel& kernel, const Summation& sum);

}  // namespace nbcc
