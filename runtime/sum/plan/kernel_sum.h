// The runs of one kernel on its device: plans a request, executes the plan, and keeps what later runs may reuse.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sum/plan/device.h"

namespace nbcc {

class BatchSums;
class ChosenLists;
class DerivedSums;  // derived_sums.h

class KernelSum {
 public:
  explicit KernelSum(std::shared_ptr<const Kernel> kernel);
  ~KernelSum();
  KernelSum(KernelSum&&) noexcept;

  const Kernel& kernel() const { return *kernel_; }
  Summation& summation() const { return *summation_; }
  // Those that were added, those that consist of other runs, those of the device.
  std::span<const PairMethod> methods() const { return methods_; }
  // Adds a method before all others; it replaces the method of the same name. Objects that it refers to must outlive
  // this object.
  void add_method(PairMethod method);
  void remove_method(std::string_view name);
  // Measures nothing: run() does, and then may take another method.
  RunPlan plan(const SumRequest& request) const { return plan_run(methods_, after_parts(request), Measure::Later); }
  void run(const SumRequest& request);
  void wait(Progress* progress);
  // Of the runs so far, with method and reason of the last.
  SumStatistics statistics() const;
  // Of the last run, without its requests; no method before the first run.
  const RunPlan& last_plan() const { return last_plan_; }
  // Discards the searches of batches: the caller's lists have changed.
  void forget_batches();

 private:
  RunPlan plan_among(const SumRequest& request) const;
  SumRequest after_parts(SumRequest request) const {
    request.sums_are_of = begins(request.j_part) ? "" : sums_are_of_;
    return request;
  }

  std::shared_ptr<const Kernel> kernel_;
  std::unique_ptr<Summation> summation_;
  std::unique_ptr<BatchSums> batch_sums_;
  std::unique_ptr<ChosenLists> chosen_lists_;
  std::unique_ptr<DerivedSums> derived_sums_;
  std::vector<PairMethod> methods_;
  RunPlan last_plan_;
  std::string_view sums_are_of_;  // SumRequest::sums_are_of of the next part
};

}  // namespace nbcc
