// Combines a partial result of a reduction with the total. Min and max propagate NaN; argmin and argmax never choose
// NaN, and keep the earlier of two equal values.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/kernel_source.h"

namespace nbcc {

template <typename T>
bool is_better(Reduction reduction, T value, T best) {
  return is_minimum(reduction) ? value < best : value > best;
}

// log(exp(a) + exp(b))
inline double log_added(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  const double larger = std::max(a, b);
  if (std::isinf(larger)) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

// For sums, minima, maxima, products and logsumexp.
template <typename T>
T combined(Reduction reduction, T total, T partial) {
  if (is_sum(reduction)) return total + partial;
  if (reduction == Reduction::Product) return total * partial;
  if (reduction == Reduction::LogSumExp) return T(log_added(double(total), double(partial)));
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    if (std::isnan(partial)) return partial;
  }
  return is_better(reduction, partial, total) ? partial : total;
}

// True if the results of an output component are 64-bit integers; chosen indices (argmin, argmax) are doubles.
inline bool results_are_integers(const KernelSource& source, std::size_t output) {
  return source.accumulators[output].type == Element::Int64 && !keeps_index(source.accumulators[output].reduction);
}

}  // namespace nbcc
