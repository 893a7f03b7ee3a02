// The inputs of a run on the host, for formulas of them (Formula in compiler/kernel_source.h).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/sum/plan/device.h"
#include "runtime/sum/request/formula.h"
#include "runtime/sum/run/host_arrays.h"

namespace nbcc {

// The inputs of one side as doubles, which formulas read: [component][particle]; only those that are read.
class InputColumns {
 public:
  InputColumns(const KernelSource& callers, Role role, const SumRequest& request, const Summation& device)
      : callers_(callers), role_(role), request_(request), device_(device) {}

  // The values of a formula for `count` particles.
  std::vector<double> values(const Formula& formula, std::int64_t count) {
    std::vector<double> results;
    find_values(formula, count, results);
    return results;
  }
  void find_values(const Formula& formula, std::int64_t count, std::vector<double>& results) {
    results.resize(std::size_t(count));
    for (const Formula::Step& step : formula.steps)
      if (step.op == Formula::Op::Input) read(step.component, count);
    evaluate(formula, request_.params, pointers_, count, results.data());
  }

 private:
  void read(int component, std::int64_t count) {
    const auto at = std::size_t(component);
    if (at >= columns_.size()) columns_.resize(at + 1), pointers_.resize(at + 1);
    if (!columns_[at].empty() || count == 0) return;
    for (std::size_t f = 0; f < callers_.fields.size(); ++f) {
      const FieldLayout& field = callers_.fields[f];
      if (field.role != role_ || component < field.first || component >= field.first + field.components()) continue;
      std::vector<std::byte> held;
      const ArrayView view = on_host(request_.views[f], field.components(), held, device_, request_.stream);
      columns_[at].resize(std::size_t(count));
      const auto read_as = [&](Element element, void* to) {
        pack(view, component - field.first, {0, nullptr, count}, {component, element, Column::Part::Whole}, to);
      };
      if (!field.integral()) {
        read_as(Element::Double, columns_[at].data());
        continue;
      }
      // Kernels convert numbers of other types to integers, so the host does the same.
      const auto read_whole = [&](auto whole, Element element) {
        whole.resize(std::size_t(count));
        read_as(element, whole.data());
        std::ranges::copy(whole, columns_[at].begin());
      };
      if (field.type == Type::Index)
        read_whole(std::vector<std::int64_t>(), Element::Int64);
      else
        read_whole(std::vector<std::int32_t>(), Element::Int32);
    }
    // Columns move when there are more of them.
    for (std::size_t k = 0; k < columns_.size(); ++k) pointers_[k] = columns_[k].data();
  }

  const KernelSource& callers_;
  Role role_;
  const SumRequest& request_;
  const Summation& device_;
  std::vector<std::vector<double>> columns_;
  std::vector<const double*> pointers_;
};

}  // namespace nbcc
