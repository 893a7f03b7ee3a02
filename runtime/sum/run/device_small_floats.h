// Arrays of 16-bit numbers in the memory of a device, whose kernels read and write floats and doubles:
//
//   SumRequest --begin(): nbcc_widen--> a request with float inputs and double outputs of this object
//   --the run--> results --store(): nbcc_narrow--> the caller's arrays, each result rounded once
//
// Arrays of the host stay as they are: the host converts them where it packs particles. Tested by
// tests/numeric/small_floats_test.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/sum/plan/device.h"
#include "runtime/sum/run/run_result.h"

namespace nbcc {

class DeviceSmallFloats final : public RunResult {
 public:
  // Both must outlive this object.
  DeviceSmallFloats(const KernelSource& source, Summation& sum) : source_(source), summation_(sum) {}
  // Throws UsageError for a histogram, whose values do not pass through the arrays of a run.
  SumRequest begin(const SumRequest& request) override;
  void store(const SumRequest& request, std::span<const ArrayView> callers) override;

 private:
  struct Converted {
    std::size_t field = 0;
    ArrayView callers, wide;
  };
  bool are_all_wide(const SumRequest& request) const;
  ArrayView widened(const SumRequest& request, std::size_t field, DeviceCopies& device);
  void end();

  const KernelSource& source_;
  Summation& summation_;
  DeviceCopies* device_ = nullptr;    // of the run between begin() and store(); null: no run, or it converts nothing
  std::vector<Converted> converted_;  // of this run
  std::vector<ArrayView> views_;
  std::uint64_t callers_binding_ = 0, binding_ = 0;  // binding_ 0: no run has converted anything
};

}  // namespace nbcc
