// Bounds that shrink from run to run. One door: NearestSum::run(), of sum.h.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/sum/sum.h"

namespace nbcc {
namespace {

constexpr std::int64_t kFew = 512, kStep = 8;  // j that every i meets at first; how many more the next run has
// Kernels that are cut otherwise may round otherwise.
constexpr double kMore = 0x1p-12;

}  // namespace

// Of j only every stride-th.
void NearestSum::bind(const std::vector<FieldLayout>& fields, const SumRequest& request, std::int64_t stride) {
  const std::int64_t nj = (request.nj + stride - 1) / stride;
  const bool last = stride == 1;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const FieldLayout& field = fields[f];
    ArrayView view = request.views[f];
    if (field.role == Role::Param) {
      sum_.set_param(field.name, request.params.subspan(std::size_t(field.first), std::size_t(field.components())));
    } else if (field.role == Role::Output && (!last || !view.data)) {
      sum_.ignore(field.name);
    } else {
      if (field.role == Role::InputJ) view.count = nj, view.stride *= stride;
      sum_.bind(field.name, view);
    }
  }
  for (const FieldLayout& field : sum_.fields()) {
    const auto doubles = [](std::vector<double>& values) {
      return ArrayView{values.data(), Element::Double, std::int64_t(values.size()), 8, 8};
    };
    if (field.name == "nbcc_bound") sum_.bind(field.name, doubles(bounds_));
    if (field.name == "nbcc_least" && last) sum_.ignore(field.name);
    if (field.name == "nbcc_least" && !last) sum_.bind(field.name, doubles(least_));
    if (field.name != "nbcc_j") continue;
    numbers_.resize(std::size_t(request.nj));
    std::iota(numbers_.begin(), numbers_.end(), request.j_offset);
    sum_.bind(field.name, {numbers_.data(), Element::Int64, nj, 8 * stride, 8});
  }
  sum_.set_counts(std::int64_t(bounds_.size()), nj);
  sum_.set_offsets(request.i_offset, request.j_offset);
  // At first nobody has a bound.
  sum_.set_pairs(nj <= kFew ? PairChoice::All : PairChoice::Cutoff);
}

void NearestSum::run(const std::vector<FieldLayout>& fields, const SumRequest& request, const RunChoice& choice,
                     std::int64_t ni) {
  bounds_.assign(std::size_t(ni), std::numeric_limits<double>::infinity());
  least_.assign(std::size_t(ni), std::numeric_limits<double>::infinity());
  std::int64_t stride = 1;
  while ((request.nj + stride - 1) / stride > kFew) stride *= kStep;
  for (;; stride /= kStep) {
    bind(fields, request, stride);
    RunChoice now = choice;
    now.accumulate = choice.accumulate && stride == 1;
    sum_.run(now);
    sum_.wait();
    if (stride == 1) return;
    for (std::size_t i = 0; i < bounds_.size(); ++i) bounds_[i] = least_[i] + kMore * std::fabs(least_[i]);
  }
}

}  // namespace nbcc
