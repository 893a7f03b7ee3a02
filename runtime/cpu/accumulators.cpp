// Partial results of a kernel -> totals, by each output's reduction. Interface: Accumulators. Calls no kernel; the
// caller chooses the order in which partial results are combined.
#include "runtime/cpu/accumulators.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/sum/request/reduction.h"

namespace nbcc {
namespace {

// Calls use(total, partial) with the rows of an output component, cast to their element type.
template <typename Use>
void with_rows(Element type, double* total, const double* partial, Use use) {
  if (type == Element::Int64)
    use(reinterpret_cast<std::int64_t*>(total), reinterpret_cast<const std::int64_t*>(partial));
  else
    use(total, partial);
}

}  // namespace

void Accumulators::reserve(const KernelSource& source, std::int64_t positions, std::size_t first) {
  source_ = &source;
  choices_ = choices_of(source.fields);
  of_choice_.assign(source.accumulators.size(), false);
  for (const Choice& choice : choices_) {
    std::fill_n(of_choice_.begin() + choice.first, choice.slots, true);
    for (const Choice::Payload& payload : choice.payloads)
      std::fill_n(of_choice_.begin() + payload.first, choice.slots * payload.width, true);
  }
  // Rows that are a multiple of a page apart would map to the same sets of the L1 cache; see PackedSide.
  const std::int64_t stride = round_up(positions, 512) + 72;
  std::int64_t rows = 0;
  for (std::size_t c = first; c < source.accumulators.size(); ++c)
    rows += keeps_index(source.accumulators[c].reduction) ? 2 : 1;
  memory_.reserve(std::size_t(rows * stride) * sizeof(double));
  auto* row = reinterpret_cast<double*>(memory_.data());
  const auto next_row = [&] { return std::exchange(row, row + stride); };
  values_.clear();
  indices_.clear();
  for (std::size_t c = 0; c < source.accumulators.size(); ++c) {
    values_.push_back(c < first ? nullptr : next_row());
    indices_.push_back(c >= first && keeps_index(source.accumulators[c].reduction) ? next_row() : nullptr);
  }
}

void Accumulators::reset(std::int64_t begin, std::int64_t end) {
  for (std::size_t c = 0; c < values_.size(); ++c) {
    with_rows(source_->accumulators[c].type, values_[c], nullptr, [&]<typename T>(T* row, const T*) {
      std::fill(row + begin, row + end, identity<T>(source_->accumulators[c].reduction));
    });
    if (indices_[c]) std::fill(indices_[c] + begin, indices_[c] + end, -1.0);
  }
}

// Combines sums of weights exp(logit - reference). The rows of references come later, so they still hold the old
// values.
void Accumulators::combine_weighted(const Accumulators& partial, std::size_t c, std::int64_t from, std::int64_t begin,
                                    std::int64_t end) {
  const auto reference = std::size_t(source_->accumulators[c].reference);
  const double* const old_values = values_[reference] + begin;
  const double* const new_values = partial.values_[reference] + from;
  const double* const terms = partial.values_[c] + from;
  double* const to = values_[c] + begin;
  for (std::int64_t k = 0; k < end - begin; ++k)
    to[k] = new_values[k] > old_values[k] ? to[k] * std::exp(old_values[k] - new_values[k]) + terms[k]
                                          : to[k] + terms[k] * std::exp(new_values[k] - old_values[k]);
}

void Accumulators::copy(const Accumulators& other, std::int64_t from, std::int64_t begin, std::int64_t end) {
  const auto bytes = std::size_t(end - begin) * sizeof(double);
  for (std::size_t c = 0; c < values_.size(); ++c) {
    std::memcpy(values_[c] + begin, other.values_[c] + from, bytes);
    if (indices_[c]) std::memcpy(indices_[c] + begin, other.indices_[c] + from, bytes);
  }
}

void Accumulators::combine(const Accumulators& partial, std::int64_t from, std::int64_t begin, std::int64_t end) {
  const std::int64_t count = end - begin;
  for (const Choice& choice : choices_)
    for (std::int64_t k = 0; k < count; ++k) combine_choice(choice, partial, from + k, begin + k);
  for (std::size_t c = 0; c < values_.size(); ++c) {
    if (of_choice_[c] || !partial.values_[c]) continue;
    const Reduction reduction = source_->accumulators[c].reduction;
    double* const to_index = indices_[c] ? indices_[c] + begin : nullptr;
    const double* const new_index = indices_[c] ? partial.indices_[c] + from : nullptr;
    with_rows(source_->accumulators[c].type, values_[c] + begin, partial.values_[c] + from,
              [&]<typename T>(T* to, const T* news) {
                if (reduction == Reduction::Weighted) return combine_weighted(partial, c, from, begin, end);
                if (reduction == Reduction::Sum) {
                  // A separate loop, which the compiler vectorises.
                  for (std::int64_t k = 0; k < count; ++k) to[k] += news[k];
                  return;
                }
                if (!to_index) {
                  for (std::int64_t k = 0; k < count; ++k) to[k] = combined(reduction, to[k], news[k]);
                  return;
                }
                for (std::int64_t k = 0; k < count; ++k) {
                  // Always take the first candidate, since no integer is worse than all others.
                  const bool is_lower = news[k] == to[k] && new_index[k] < to_index[k];
                  if (new_index[k] < 0 || (to_index[k] >= 0 && !is_better(reduction, news[k], to[k]) && !is_lower))
                    continue;
                  to[k] = news[k];
                  to_index[k] = new_index[k];
                }
              });
  }
}

// Merges the slots of the partial result for the i at `from`, best first, into the sorted slots of the i at `at`. Worse
// entries move down.
void Accumulators::combine_choice(const Choice& choice, const Accumulators& partial, std::int64_t from,
                                  std::int64_t at) {
  const auto first = std::size_t(choice.first), slots = std::size_t(choice.slots);
  // memcpy, because values may be doubles or integers.
  const auto move = [at](double* to, const double* old) { std::memcpy(to + at, old + at, sizeof(double)); };
  const auto take = [at, from](double* to, const double* new_values) {
    std::memcpy(to + at, new_values + from, sizeof(double));
  };
  const auto is_before = [&](std::size_t m, std::size_t slot) {
    const double j = partial.indices_[first + m][from], other_j = indices_[first + slot][at];
    bool before = false;
    with_rows(source_->accumulators[first].type, values_[first + slot], partial.values_[first + m],
              [&]<typename T>(const T* there, const T* here) {
                before = other_j < 0 || is_better(choice.reduction, here[from], there[at]) ||
                         (here[from] == there[at] && j < other_j);
              });
    return before;
  };
  for (std::size_t m = 0, slot = 0; m < slots && partial.indices_[first + m][from] >= 0; ++m) {
    while (slot < slots && !is_before(m, slot)) ++slot;
    if (slot == slots) return;
    for (std::size_t k = slots - 1; k > slot; --k) {
      move(values_[first + k], values_[first + k - 1]);
      move(indices_[first + k], indices_[first + k - 1]);
    }
    take(values_[first + slot], partial.values_[first + m]);
    take(indices_[first + slot], partial.indices_[first + m]);
    for (const Choice::Payload& payload : choice.payloads) {
      const auto width = std::size_t(payload.width), begin = std::size_t(payload.first);
      for (std::size_t k = slots * width; k-- > (slot + 1) * width;)
        move(values_[begin + k], values_[begin + k - width]);
      for (std::size_t d = 0; d < width; ++d)
        take(values_[begin + slot * width + d], partial.values_[begin + m * width + d]);
    }
  }
}

}  // namespace nbcc
