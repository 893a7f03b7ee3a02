// Partial results of a kernel -> totals, by each output's reduction. Door: Accumulators. Calls no kernel and knows no
// order: in which partial results are combined is the caller's affair.
#include "runtime/cpu/accumulators.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/sum/reduction.h"

namespace nbcc {
namespace {

// Calls use(total, partial) with an output component's rows as numbers of their type.
template <typename Use>
void with_rows(Element held_in, double* total, const double* partial, Use use) {
  if (held_in == Element::Int64)
    use(reinterpret_cast<std::int64_t*>(total), reinterpret_cast<const std::int64_t*>(partial));
  else
    use(total, partial);
}

}  // namespace

void Accumulators::reserve(const KernelSource& source, std::int64_t positions) {
  source_ = &source;
  // Rows a multiple of a page apart would fall into the same sets of the L1 cache; see PackedSide.
  const std::int64_t stride = round_up(positions, 512) + 72;
  memory_.reserve(std::size_t(accumulators_of(source) * stride) * sizeof(double));
  auto* row = reinterpret_cast<double*>(memory_.data());
  const auto next_row = [&] { return std::exchange(row, row + stride); };
  values_.clear();
  indices_.clear();
  for (const Reduction reduction : source.reductions) {
    values_.push_back(next_row());
    indices_.push_back(keeps_index(reduction) ? next_row() : nullptr);
  }
}

void Accumulators::reset(std::int64_t begin, std::int64_t end) {
  for (std::size_t c = 0; c < values_.size(); ++c) {
    with_rows(source_->held_in[c], values_[c], nullptr, [&]<typename T>(T* row, const T*) {
      std::fill(row + begin, row + end, identity<T>(source_->reductions[c]));
    });
    if (indices_[c]) std::fill(indices_[c] + begin, indices_[c] + end, -1.0);
  }
}

// A Reference stands behind those that it is of, and is not combined yet.
void Accumulators::combine_weighted(const Accumulators& partial, std::size_t c, std::int64_t begin, std::int64_t end) {
  const auto reference = std::size_t(source_->references[c]);
  const double* const own = values_[reference];
  const double* const its = partial.values_[reference];
  for (std::int64_t k = begin; k < end; ++k) {
    double& to = values_[c][k];
    const double from = partial.values_[c][k];
    to = its[k] > own[k] ? to * std::exp(own[k] - its[k]) + from : to + from * std::exp(its[k] - own[k]);
  }
}

void Accumulators::combine(const Accumulators& partial, std::int64_t begin, std::int64_t end) {
  for (std::size_t c = 0; c < values_.size(); ++c) {
    const Reduction reduction = source_->reductions[c];
    double* const to_index = indices_[c];
    const double* const from_index = partial.indices_[c];
    with_rows(source_->held_in[c], values_[c], partial.values_[c], [&]<typename T>(T* to, const T* from) {
      if (reduction == Reduction::Weighted) return combine_weighted(partial, c, begin, end);
      if (reduction == Reduction::Sum) {
        // Apart, since of this loop the compiler makes vectors.
        for (std::int64_t k = begin; k < end; ++k) to[k] += from[k];
        return;
      }
      if (!to_index) {
        for (std::int64_t k = begin; k < end; ++k) to[k] = combined(reduction, to[k], from[k]);
        return;
      }
      for (std::int64_t k = begin; k < end; ++k) {
        // The first candidate is taken whatever it is, since no whole number is worse than all others.
        const bool is_lower = from[k] == to[k] && from_index[k] < to_index[k];
        if (from_index[k] < 0 || (to_index[k] >= 0 && !is_better(reduction, from[k], to[k]) && !is_lower)) continue;
        to[k] = from[k];
        to_index[k] = from_index[k];
      }
    });
  }
}

}  // namespace nbcc
