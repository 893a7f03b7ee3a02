// Entry points: KernelSum::plan(), KernelSum::run().
#include "runtime/sum/plan/kernel_sum.h"

#include <algorithm>
#include <utility>

#include "runtime/first_failure.h"
#include "runtime/sum/plan/batch_sums.h"
#include "runtime/sum/plan/chosen_lists.h"
#include "runtime/sum/plan/derived_sums.h"
#include "runtime/sum/request/far_peers.h"

namespace nbcc {

KernelSum::KernelSum(std::shared_ptr<const Kernel> kernel)
    : kernel_(std::move(kernel)),
      summation_(kernel_->start()),
      batch_sums_(std::make_unique<BatchSums>(*kernel_, *summation_)),
      chosen_lists_(std::make_unique<ChosenLists>()),
      derived_sums_(make_derived_sums(*kernel_, *summation_)),
      methods_(derived_sums_->methods()) {
  for (PairMethod& method : methods_)
    if (method.name == "lists") method = chosen_lists_->method(std::move(method), *summation_);
  methods_.insert(methods_.begin(), batch_sums_->method());
}

KernelSum::~KernelSum() = default;
KernelSum::KernelSum(KernelSum&&) noexcept = default;

void KernelSum::add_method(PairMethod method) {
  remove_method(method.name);
  methods_.insert(methods_.begin(), std::move(method));
}

void KernelSum::remove_method(std::string_view name) {
  last_plan_ = {};
  std::erase_if(methods_, [&](const PairMethod& method) { return method.name == name; });
}

// Processes that have their own j alone have one method, also for no i or no j. Throws NeedsAllJ.
RunPlan KernelSum::plan_among(const SumRequest& request) const {
  const auto method = std::ranges::find(methods_, "far field", &PairMethod::name);
  if (method == methods_.end()) throw NeedsAllJ("no other method than a far field is for the j of several processes");
  RunPlan plan;
  plan.method = &*method;
  plan.request = request;
  plan.surveyed.resize(methods_.size());
  plan.estimates.resize(methods_.size());
  plan.estimate = method->measure(request);
  plan.estimates[std::size_t(method - methods_.begin())] = plan.estimate;
  plan.steps.push_back({plan.method, request, "", plan.estimate.cost});
  return plan;
}

void KernelSum::run(const SumRequest& request) {
  const bool is_among = request.peers && request.peers->has_own_j();
  RunPlan plan = is_among ? plan_among(request) : plan_run(methods_, after_parts(request), Measure::Now);
  sums_are_of_ = plan.method->keeps_sums ? plan.method->name : "";
  const std::vector<RunStep> steps = std::exchange(plan.steps, {});
  plan.request = {};
  // Statistics describe the last part that has j. A later part without j only ends the run.
  if (begins(request.j_part) || request.nj > 0 || !last_plan_.method) last_plan_ = std::move(plan);
  const auto stages = double(steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (request.progress && steps.size() > 1) request.progress->set_stage(double(k) / stages, double(k + 1) / stages);
    steps[k].method->enqueue(steps[k].request);
  }
}

void KernelSum::wait(Progress* progress) {
  FirstFailure failure;
  failure.attempt([&] { summation_->wait(progress); });
  failure.attempt([&] { batch_sums_->wait(progress); });
  for (const PairMethod& method : methods_)
    if (method.wait) failure.attempt([&] { method.wait(progress); });
  failure.rethrow();
}

SumStatistics KernelSum::statistics() const {
  const PairMethod* const method = last_plan_.method;
  SumStatistics found = method && method->statistics ? method->statistics() : derived_sums_->statistics(last_plan_);
  if (!method) return found;
  for (std::size_t row = 0; row < methods_.size(); ++row)
    if (&methods_[row] != method && last_plan_.surveyed[row] && methods_[row].add_survey && !method->searches)
      methods_[row].add_survey(found);
  found.method = method->name;
  found.reason = reason_of(last_plan_, methods_);
  if (!found.form.empty()) found.reason += "; " + found.form;
  if (!found.far.ranks.empty()) found.reason += "; " + found.far.ranks;
  return found;
}

void KernelSum::forget_batches() {
  if (last_plan_.method && last_plan_.given == "batches") last_plan_ = {};
  batch_sums_->forget();
}

}  // namespace nbcc
