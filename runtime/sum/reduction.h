// The five reductions: what an empty one holds, and how a partial result combines with the total. Min and max hand NaN
// on; argmin and argmax never choose it, and keep the earlier of two equals.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/kernel_source.h"

namespace nbcc {

constexpr bool keeps_index(FieldLayout::Reduction reduction) {
  return reduction == FieldLayout::Reduction::ArgMin || reduction == FieldLayout::Reduction::ArgMax;
}

constexpr bool is_least(FieldLayout::Reduction reduction) {
  return reduction == FieldLayout::Reduction::Min || reduction == FieldLayout::Reduction::ArgMin;
}

// Doubles that hold what one i has accumulated.
inline int accumulators_of(const KernelSource& source) {
  int count = 0;
  for (const FieldLayout::Reduction reduction : source.reductions) count += keeps_index(reduction) ? 2 : 1;
  return count;
}

// Whole numbers have no infinity.
template <typename T>
constexpr T identity(FieldLayout::Reduction reduction) {
  using Limits = std::numeric_limits<T>;
  if (reduction == FieldLayout::Reduction::Sum) return T(0);
  if constexpr (Limits::has_infinity) return is_least(reduction) ? Limits::infinity() : -Limits::infinity();
  return is_least(reduction) ? Limits::max() : Limits::min();
}

template <typename T>
bool is_better(FieldLayout::Reduction reduction, T value, T best) {
  return is_least(reduction) ? value < best : value > best;
}

// Of a sum, minimum or maximum.
template <typename T>
T combined(FieldLayout::Reduction reduction, T total, T partial) {
  if (reduction == FieldLayout::Reduction::Sum) return total + partial;
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    if (std::isnan(partial)) return partial;
  }
  return is_better(reduction, partial, total) ? partial : total;
}

// Whether the results of an output component are 64-bit whole numbers; chosen indices are kept as doubles.
inline bool results_are_whole(const KernelSource& source, std::size_t output) {
  return source.held_in[output] == Element::Int64 && !keeps_index(source.reductions[output]);
}

}  // namespace nbcc
