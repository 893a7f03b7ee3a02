// The five reductions: how a partial result combines with the total. Min and max hand NaN on; argmin and argmax never
// choose it, and keep the earlier of two equals.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/kernel_source.h"

namespace nbcc {

// Doubles that hold what one i has accumulated.
inline int accumulators_of(const KernelSource& source) {
  const auto indices = std::count_if(source.reductions.begin(), source.reductions.end(), keeps_index);
  return int(source.reductions.size()) + int(indices);
}

template <typename T>
bool is_better(Reduction reduction, T value, T best) {
  return is_minimum(reduction) ? value < best : value > best;
}

// Of a sum, minimum or maximum.
template <typename T>
T combined(Reduction reduction, T total, T partial) {
  if (reduction == Reduction::Sum) return total + partial;
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
