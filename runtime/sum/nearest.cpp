// Bounds that shrink from run to run. Doors: those of NearestSum, of sum.h.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/sum/sum.h"

namespace nbcc {
namespace {

constexpr std::int64_t kMostSearched = (std::int64_t(1) << 30) - 256;
constexpr std::int64_t kFew = 512, kStep = 8;  // j that every i meets at first; how many more the next run has
// Kernels that are cut otherwise may round otherwise.
constexpr double kMore = 0x1p-12;

bool is_finite(const ArrayView& view, int components) {
  if (view.element != Element::Float && view.element != Element::Double) return true;
  constexpr std::int64_t kChunk = 256;
  std::array<double, kChunk> values;
  double nothing = 0;  // NaN if one is none or infinite
  for (std::int64_t first = 0; first < view.count; first += kChunk) {
    const std::int64_t count = std::min(kChunk, view.count - first);
    for (int c = 0; c < components; ++c) {
      pack(view, c, {first, nullptr, count}, {c, Element::Double, Column::Part::Whole}, values.data());
      for (std::int64_t k = 0; k < count; ++k) nothing += values[std::size_t(k)] - values[std::size_t(k)];
    }
  }
  return nothing == 0;
}

}  // namespace

// Where a number is none, all pairs tell what becomes of it. Of arrays that cannot be read here, `cutoff` has to ask.
bool NearestSum::pays(const Kernel& kernel, const SumRequest& request, PairChoice pairs, const Summation& sum) {
  constexpr std::int64_t kFewI = 500, kFewJ = 20'000;  // are summed over sooner than searched
  if (pairs == PairChoice::All) return false;
  if (pairs == PairChoice::Auto && (request.i_count < kFewI || request.nj < kFewJ)) return false;
  // More than every device's search can number.
  if (pairs == PairChoice::Auto && std::max(request.i_count, request.nj) > kMostSearched) return false;
  if (request.nj == 0 || !kernel.nearest()) return false;
  if (!std::ranges::all_of(request.params, [](double value) { return std::isfinite(value); })) return false;
  for (std::size_t f = 0; f < kernel.source.fields.size(); ++f) {
    const FieldLayout& field = kernel.source.fields[f];
    const ArrayView& view = request.views[f];
    if (field.role == Role::Param || !view.data) continue;
    if (!sum.can_read(static_cast<const std::int64_t*>(view.data))) {
      if (pairs == PairChoice::Auto) return false;
      continue;
    }
    if (field.role != Role::Output && !is_finite(view, field.components())) return false;
  }
  return true;
}

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
  double stages = 1;
  for (; (request.nj + stride - 1) / stride > kFew; stages += 1) stride *= kStep;
  for (double stage = 0;; stride /= kStep, stage += 1) {
    bind(fields, request, stride);
    // About as many pairs are met in each.
    if (choice.progress) choice.progress->set_stage(stage / stages, (stage + 1) / stages);
    RunChoice now = choice;
    now.accumulate = choice.accumulate && stride == 1;
    // The last run, over all j by their own numbers, checks the indices of tables.
    now.clamp = choice.clamp || stride > 1;
    sum_.run(now);
    sum_.wait(choice.progress);
    if (stride == 1) return;
    for (std::size_t i = 0; i < bounds_.size(); ++i) bounds_[i] = least_[i] + kMore * std::fabs(least_[i]);
  }
}

}  // namespace nbcc
