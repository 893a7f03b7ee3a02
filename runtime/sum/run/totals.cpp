// Values of i -> totals. Entry points: Totals::begin(), Totals::store(). Computes no values; GPUs have
// steps of their own (runtime/cuda/run/cuda_totals.h).
#include "runtime/sum/run/totals.h"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

#include "runtime/sum/request/divide_i.h"
#include "runtime/sum/request/overlap.h"
#include "runtime/sum/request/reduction.h"

namespace nbcc {
namespace {

// The tree's node: the values are combined by halving, the missing ones being identities. Overwrites `values`.
template <typename T>
T halved(Reduction reduction, std::array<T, kTotalGroup>& values) {
  for (std::int64_t half = kTotalGroup / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k)
      values[std::size_t(k)] = combined(reduction, values[std::size_t(k)], values[std::size_t(k + half)]);
  return values[0];
}

}  // namespace

std::unique_ptr<TotalSteps> Summation::total_steps() { return std::make_unique<HostTotals>(*this); }

void store_total(const TotalComponent& total, const void* result, bool accumulate) {
  const std::optional<Reduction> how = accumulate ? std::optional(total.reduction) : std::nullopt;
  const Picked row{0, nullptr, 1};
  if (total.element == Element::Int64)
    unpack(static_cast<const std::int64_t*>(result), total.to, total.component, row, how);
  else
    unpack(static_cast<const double*>(result), total.to, total.component, row, how);
}

double* HostTotals::reserve(const SumRequest&, std::int64_t count) {
  values_.reserve(std::size_t(count) * sizeof(double));
  return reinterpret_cast<double*>(values_.data());
}

void HostTotals::fill(const TotalComponent& total, const SumRequest&, std::int64_t count) {
  if (total.element == Element::Int64)
    std::fill_n(reinterpret_cast<std::int64_t*>(total.values), count, identity<std::int64_t>(total.reduction));
  else
    std::fill_n(total.values, count, identity<double>(total.reduction));
}

template <typename T>
T HostTotals::reduced(const TotalComponent& total, const SumRequest& request) {
  const T* from = reinterpret_cast<const T*>(total.values);
  const std::int64_t* list = request.i_list;
  std::int64_t count = request.i_count;
  if (!list) from += request.i_begin;
  partials_.reserve(std::size_t(ceil_div(count, kTotalGroup) + 1) * sizeof(T));
  T* const partials = reinterpret_cast<T*>(partials_.data());
  do {
    const std::int64_t groups = ceil_div(count, kTotalGroup);
    const auto reduce_group = [&](std::int64_t group) {
      std::array<T, kTotalGroup> values;
      values.fill(identity<T>(total.reduction));
      const std::int64_t begin = group * kTotalGroup, end = std::min(count, begin + kTotalGroup);
      for (std::int64_t k = begin; k < end; ++k) values[std::size_t(k - begin)] = list ? from[list[k]] : from[k];
      partials[group] = halved(total.reduction, values);
    };
    // The partials of one level are the values of the next: a group is read before its partial is stored, and the
    // partials of other groups are stored in front of it.
    if (from == partials) {
      for (std::int64_t group = 0; group < groups; ++group) reduce_group(group);
    } else {
      summation_.on_host_threads(groups, reduce_group);
    }
    from = partials;
    list = nullptr;
    count = groups;
  } while (count > 1);
  return count == 1 ? partials[0] : identity<T>(total.reduction);
}

void HostTotals::reduce(std::span<const TotalComponent> totals, const SumRequest& request) {
  for (const TotalComponent& total : totals) {
    if (total.element == Element::Int64) {
      const std::int64_t result = reduced<std::int64_t>(total, request);
      store_total(total, &result, request.accumulate);
    } else {
      const double result = reduced<double>(total, request);
      store_total(total, &result, request.accumulate);
    }
  }
}

// Values in memory at a time if a run has totals of many components. Few components take no more memory than inputs.
constexpr std::int64_t kMaxValues = std::int64_t(1) << 24, kManyComponents = 65;

std::int64_t Totals::choose_i_at_a_time(const SumRequest& request, std::int64_t components) const {
  if (components < kManyComponents || components * request.i_count <= kMaxValues) return 0;
  // A far field, which turns off `symmetric`, and kept lists are for the same i in every run.
  const bool is_for_all_i = request.skin > 0 || request.symmetric != SymmetricChoice::Auto;
  const bool can_be_divided = !request.lists && !request.listed_pairs && !request.exclusions && !request.i_list &&
                              source_.histograms.empty() && !source_.callers && request.j_part == JPart::Whole &&
                              !is_for_all_i;
  if (!can_be_divided || find_overlap(source_.fields, request.views, disjoint)) return 0;
  return i_within(kMaxValues, components, kTotalGroup);
}

SumRequest Totals::begin(const SumRequest& request) {
  const auto is_wanted = [&](std::size_t f) {
    return source_.fields[f].kind == FieldKind::Total && request.views[f].data;
  };
  std::int64_t components = 0;
  for (std::size_t f = 0; f < source_.fields.size(); ++f)
    if (is_wanted(f)) components += source_.fields[f].components();
  i_at_a_time_ = choose_i_at_a_time(request, components);
  groups_ = i_at_a_time_ > 0 ? ceil_div(request.i_count, kTotalGroup) : 0;
  const std::int64_t rows = i_at_a_time_ > 0 ? i_at_a_time_ : request.ni, values = components * rows;
  // Without totals a kernel has no steps for them.
  double* at =
      components > 0 ? steps_->reserve(request, std::max<std::int64_t>(values + components * groups_, 1)) : nullptr;
  partials_ = at + values;
  std::vector<ArrayView> views(request.views.begin(), request.views.end());
  totals_.clear();
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    if (source_.fields[f].is_histogram()) views[f] = {};  // kernels do not store histograms
    if (!is_wanted(f)) continue;
    const FieldLayout& field = source_.fields[f];
    const Element element = source_.accumulators[std::size_t(field.first)].type;
    views[f] = {at, element, request.ni, sizeof(double), rows * std::int64_t(sizeof(double))};
    for (int c = 0; c < field.components(); ++c, at += rows) {
      totals_.push_back({field.reduction, element, at, request.views[f], c});
      if (request.accumulate && groups_ == 0) steps_->fill(totals_.back(), request, rows);
    }
  }
  if (views != views_ || request.binding != callers_binding_) ++binding_;
  callers_binding_ = request.binding;
  views_ = std::move(views);
  SumRequest with_values = request;
  with_values.views = views_;
  with_values.binding = binding_;
  return with_values;
}

SumRequest Totals::piece(const SumRequest& request, std::int64_t done, std::int64_t count) {
  SumRequest piece = request;
  piece.ni = piece.i_count = count;
  piece.i_begin = 0;
  piece.i_offset += request.i_begin + done;
  piece.binding = ++binding_;
  views_of_piece_.assign(request.views.begin(), request.views.end());
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    ArrayView& view = views_of_piece_[f];
    if (field.role != Role::InputI && field.role != Role::Output) continue;
    if (view.data && field.kind == FieldKind::Particle)
      view.data = static_cast<std::byte*>(view.data) + (request.i_begin + done) * view.stride;
    view.count = piece.ni;
  }
  if (request.accumulate)
    for (const TotalComponent& total : totals_) steps_->fill(total, piece, piece.ni);
  piece.views = views_of_piece_;
  return piece;
}

void Totals::reduce_piece(const SumRequest& piece, std::int64_t done) {
  std::vector<TotalComponent> totals = totals_;
  for_ranges_of_i(piece.i_count, kTotalGroup, [&](std::int64_t begin, std::int64_t count) {
    SumRequest group = with_i(piece, begin, count);
    group.ni = i_at_a_time_;
    group.accumulate = false;
    for (std::size_t k = 0; k < totals.size(); ++k) {
      double* const field = partials_ + (std::int64_t(k) - totals[k].component) * groups_;
      totals[k].to = {field + (done + begin) / kTotalGroup, totals[k].element, 1, sizeof(double),
                      groups_ * std::int64_t(sizeof(double))};
    }
    steps_->reduce(totals, group);
  });
}

void Totals::store(const SumRequest& request, std::span<const ArrayView>) {
  SumRequest of_groups = request;
  if (i_at_a_time_ > 0) {
    for (std::size_t k = 0; k < totals_.size(); ++k) totals_[k].values = partials_ + std::int64_t(k) * groups_;
    of_groups.i_begin = 0;
    of_groups.ni = of_groups.i_count = groups_;
  }
  if (!totals_.empty()) steps_->reduce(totals_, of_groups);
  totals_.clear();
}

}  // namespace nbcc
