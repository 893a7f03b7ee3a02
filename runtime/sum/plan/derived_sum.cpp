// Entry points: derived_sum(), DerivedSum::bind(), DerivedSum::run().
#include "runtime/sum/plan/derived_sum.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "fmt/format.h"

namespace nbcc {

DerivedSum::DerivedSum(std::shared_ptr<const Kernel> kernel, std::span<const FieldBinding> bind,
                       const KernelSource& callers)
    : sum_(std::move(kernel)), callers_(callers), params_(std::size_t(source().params + source().table_params)) {
  for (const FieldBinding& binding : bind) {
    const auto found = std::ranges::find(callers.fields, binding.caller, &FieldLayout::name);
    const bool is_callers = binding.from == FieldBinding::From::Caller && found != callers.fields.end();
    from_.push_back(is_callers ? int(found - callers.fields.begin()) : -1);
  }
}

std::size_t DerivedSum::find(std::string_view name) const {
  const std::vector<FieldLayout>& fields = source().fields;
  const auto found = std::ranges::find(fields, name, &FieldLayout::name);
  if (found == fields.end()) throw std::logic_error(fmt::format("kernel '{}' has no '{}'", source().pipeline, name));
  return std::size_t(found - fields.begin());
}

SumRequest DerivedSum::bind(const SumRequest& request, std::span<const MadeArray> made,
                            std::span<const MadeParam> made_params) {
  const std::vector<FieldLayout>& fields = source().fields;
  std::vector<ArrayView> views(fields.size());
  std::vector<double> params(params_.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (from_[f] < 0) continue;
    const FieldLayout& from = callers_.fields[std::size_t(from_[f])];
    if (fields[f].role == Role::Param)
      std::ranges::copy(request.params.subspan(std::size_t(from.first), std::size_t(from.components())),
                        params.begin() + fields[f].first);
    else
      views[f] = request.views[std::size_t(from_[f])];
  }
  for (const MadeArray& one : made) views[find(one.field)] = one.array;
  for (const MadeParam& one : made_params)
    std::ranges::copy(one.values, params.begin() + fields[find(one.field)].first);
  if (views != views_ || request.binding != callers_binding_) ++binding_;
  callers_binding_ = request.binding;
  views_ = std::move(views);
  if (params != params_) tables_.reset();
  params_ = std::move(params);
  if (!tables_ && !source().tables.empty()) tables_ = std::make_unique<const Tables>(source(), params_);

  SumRequest bound;
  bound.views = views_;
  bound.params = params_;
  bound.tables = tables_.get();
  bound.ni = request.ni, bound.nj = request.nj;
  bound.i_begin = request.i_begin, bound.i_count = request.i_count;
  bound.i_list = request.i_list;
  bound.i_offset = request.i_offset, bound.j_offset = request.j_offset;
  bound.accumulate = request.accumulate;
  bound.histograms = source().histograms.empty() ? nullptr : request.histograms;
  bound.may_be_captured = request.may_be_captured;
  bound.check_indices = request.check_indices && !source().index_checks.checks.empty();
  bound.lists = lists_.get();
  bound.binding = binding_;
  bound.stream = request.stream;
  bound.progress = request.progress;
  return bound;
}

void DerivedSum::run(SumRequest request) {
  if (request.i_count == 0) return;
  if (request.check_indices) {
    const std::int64_t number = request.lists          ? request.lists->number
                                : request.listed_pairs ? request.listed_pairs->number
                                                       : 0;
    if (number != 0 && listed_.number != number)
      listed_ = request.lists ? particles_of(*request.lists) : particles_of(*request.listed_pairs);
    request.listed = number != 0 ? &listed_ : nullptr;
    request.lists_chosen_i = request.listed && !request.i_list && request.i_count == request.ni;
    sum_.summation().check_indices(request);
  }
  sum_.run(request);
}

void DerivedSum::set_lists(const ListArrays& arrays, int relative_inputs) {
  const auto fetch = [this]<typename T>(const T* from, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0) sum_.summation().fetch(values.data(), from, values.size() * sizeof(T));
    return values;
  };
  Lists lists = read_lists(arrays, fetch, fetch);
  lists.relative_inputs = relative_inputs;
  lists_ = std::make_unique<const Lists>(std::move(lists));
}

void DerivedSum::set_device_lists(const DeviceLists& lists, std::int64_t ni) {
  lists_ = std::make_unique<const Lists>(lists_on_device(lists, ni));
}

std::unique_ptr<DerivedSum> derived_sum(const Kernel& of, std::string_view row, std::string_view name,
                                        Precision at_least) {
  std::shared_ptr<const Kernel> kernel = of.load_derived(row, name, at_least);
  if (!kernel) return nullptr;
  const DerivedKernel& made = *of.derived(row, at_least).find(name);
  return std::make_unique<DerivedSum>(std::move(kernel), made.bind, of.source);
}

}  // namespace nbcc
