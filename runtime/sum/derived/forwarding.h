// The base of summations whose runs consist of runs of a kernel with inputs that the runtime makes.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "runtime/sum/plan/derived_sum.h"
#include "runtime/sum/run/totals.h"

namespace nbcc {

// The kernel's description with the caller's fields. Totals and histograms are those of the kernel.
inline KernelSource source_for_callers(const KernelSource& source) {
  KernelSource seen = source;
  seen.fields = source.caller_fields();
  seen.search = {.bound = source.search.bound, .obstacle = source.search.obstacle};
  const auto named = [&seen](const std::string& name) {
    return std::ranges::find(seen.fields, name, &FieldLayout::name);
  };
  for (HistogramLayout& histogram : seen.histograms)
    histogram.field = int(named(source.fields[std::size_t(histogram.field)].name) - seen.fields.begin());
  for (const FieldLayout& field : source.fields) {
    const auto of_callers = named(field.name);
    if (field.role != Role::Output || of_callers == seen.fields.end() || of_callers->first == field.first) continue;
    // Results per pair are components in between, which the kernel does not have.
    const auto least = std::size_t(of_callers->first + field.components());
    if (seen.accumulators.size() < least) seen.accumulators.resize(least);
    for (int c = 0; c < field.components(); ++c)
      seen.accumulators[std::size_t(of_callers->first + c)] = source.accumulators[std::size_t(field.first + c)];
  }
  return seen;
}

// Fields that have the names of the caller's have its arrays and values.
inline std::vector<FieldBinding> bound_by_name(const KernelSource& source) {
  std::vector<FieldBinding> bind;
  for (const FieldLayout& field : source.fields) bind.push_back({FieldBinding::From::Caller, field.name});
  return bind;
}

class ForwardingSummation : public Summation {
 public:
  // `callers`: the kernel as callers see it; it must outlive this object.
  ForwardingSummation(const std::shared_ptr<const Kernel>& kernel, const KernelSource& callers)
      : callers_(callers), sum_(kernel, bound_by_name(kernel->source), callers) {}
  void fetch(void* to, const void* from, std::size_t bytes) const override { device().fetch(to, from, bytes); }
  void put(void* to, const void* from, std::size_t bytes) const override { device().put(to, from, bytes); }
  bool can_read(const std::int64_t* list) const override { return device().can_read(list); }
  bool is_captured(void* stream) const override { return device().is_captured(stream); }
  void wait(Progress* progress) override { sum_.wait(progress); }
  SumStatistics statistics() const override { return sum_.sum().statistics(); }
  std::unique_ptr<TotalSteps> total_steps() override { return device().total_steps(); }
  DeviceCopies* device_copies(std::span<const ArrayView> arrays) override { return device().device_copies(arrays); }
  void synchronize(void* stream) const override { device().synchronize(stream); }
  void on_host_threads(std::int64_t count, const std::function<void(std::int64_t)>& body) const override {
    device().on_host_threads(count, body);
  }
  void set_launch(const LaunchConfig& overrides) override { device().set_launch(overrides); }
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj) override { return device().launch_for(ni, nj); }

 protected:
  Summation& device() const { return sum_.sum().summation(); }

  const KernelSource& callers_;
  DerivedSum sum_;
};

}  // namespace nbcc
