// The base of summations whose runs consist of runs of another sum.
#pragma once
#include <memory>
#include <utility>

#include "runtime/sum/run/sum.h"

namespace nbcc {

// The kernel's description with the caller's fields.
inline KernelSource source_for_callers(const KernelSource& source) {
  KernelSource seen = source;
  seen.fields = source.caller_fields();
  seen.search = {};
  seen.histograms.clear();
  return seen;
}

class ForwardingSummation : public Summation {
 public:
  explicit ForwardingSummation(std::shared_ptr<const Kernel> kernel) : sum_(std::move(kernel)) {}
  bool forwards() const override { return true; }
  void fetch(void* to, const void* from, std::size_t bytes) const override { sum_.summation().fetch(to, from, bytes); }
  void put(void* to, const void* from, std::size_t bytes) const override { sum_.summation().put(to, from, bytes); }
  bool can_read(const std::int64_t* list) const override { return sum_.summation().can_read(list); }
  void wait(Progress* progress) override { sum_.wait(progress); }
  SumStatistics statistics() const override { return sum_.statistics(); }
  void set_launch(const LaunchConfig& overrides) override { sum_.set_launch(overrides); }
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj) override { return sum_.launch_for(ni, nj); }

 protected:
  static RunChoice choice_of(const SumRequest& request) {
    RunChoice choice;
    choice.i_begin = request.i_begin;
    choice.i_count = request.i_count;
    choice.i_list = request.i_list;
    choice.accumulate = request.accumulate;
    choice.clamp = !request.check_indices;
    choice.stream = request.stream;
    choice.progress = request.progress;
    return choice;
  }

  // Binds the caller's field as the request has it.
  static void forward(SumState& sum, const FieldLayout& field, const SumRequest& request, const ArrayView& view) {
    if (field.role == Role::Param)
      sum.set_param(field.name, request.params.subspan(std::size_t(field.first), std::size_t(field.components())));
    else if (field.role == Role::Output && !view.data)
      sum.ignore(field.name);
    else
      sum.bind(field.name, view);
  }

  SumState sum_;
};

}  // namespace nbcc
