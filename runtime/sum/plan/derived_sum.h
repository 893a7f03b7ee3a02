// Runs of a derived kernel (compiler/derived_kernels.h) as parts of a run for the caller's kernel:
//
//   the caller's SumRequest, made arrays --bind()--> SumRequest for the derived kernel --run()--> results
//
// Tested by tests/unit/runtime/sum/plan/derived_sum_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/sum/plan/kernel_sum.h"
#include "runtime/sum/request/lists.h"
#include "runtime/sum/request/tables.h"

namespace nbcc {

// An array that the runtime makes for a field of a derived kernel.
struct MadeArray {
  std::string_view field;
  ArrayView array;
};

// Values that the runtime gives a param of a derived kernel.
struct MadeParam {
  std::string_view field;
  std::vector<double> values;
};

class DerivedSum {
 public:
  // `callers` must outlive this object. `bind`: parallel to the fields of the kernel.
  DerivedSum(std::shared_ptr<const Kernel> kernel, std::span<const FieldBinding> bind, const KernelSource& callers);

  // Counts, chosen i, offsets and what else concerns the run as a whole are those of the caller's request; pair method,
  // skin and lists are not chosen. Valid until the next call. Fields are bound as the row of the kernel says, and to
  // the made arrays and params; an output without an array is ignored.
  SumRequest bind(const SumRequest& request, std::span<const MadeArray> made, std::span<const MadeParam> params = {});
  // Checks table indices, if the request asks for it, and runs. Does nothing without i.
  void run(SumRequest request);
  RunPlan plan(const SumRequest& request) const { return sum_.plan(request); }
  void wait(Progress* progress) { sum_.wait(progress); }

  // Lists of all later requests. The arrays are copied; those on a device are not. relative_inputs: of Lists.
  void set_lists(const ListArrays& arrays, int relative_inputs = 0);
  void set_device_lists(const DeviceLists& lists, std::int64_t ni);
  void clear_lists() { lists_.reset(); }
  bool has_lists() const { return lists_ != nullptr; }

  KernelSum& sum() { return sum_; }
  const KernelSum& sum() const { return sum_; }
  const KernelSource& source() const { return sum_.kernel().source; }

 private:
  std::size_t find(std::string_view field) const;

  KernelSum sum_;
  const KernelSource& callers_;
  std::vector<int> from_;  // [field] the field of `callers_` with the same array or values; -1: none
  std::vector<ArrayView> views_;
  std::vector<double> params_;
  std::unique_ptr<const Tables> tables_;
  std::unique_ptr<const Lists> lists_;
  ListedParticles listed_;  // of the last run over lists whose indices were checked
  std::uint64_t callers_binding_ = 0, binding_ = 0;
};

// A kernel of a row of `of`, which must outlive it, and must have no obstacle; null if the device has no such kernel.
std::unique_ptr<DerivedSum> derived_sum(const Kernel& of, std::string_view row, std::string_view name,
                                        Precision at_least = Precision::Single);

}  // namespace nbcc
