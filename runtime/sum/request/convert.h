// Conversions between the element types of arrays, and the combination of a result with a stored element.
// Tested by tests/unit/runtime/sum/request/pack_test.cpp.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/sum/request/reduction.h"

namespace nbcc {

// A conversion that is defined for every value.
template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    // -2^63 and -2^31 are exact in every real type, the maxima are not: compare with the power of two above.
    constexpr From lowest = From(std::numeric_limits<To>::min());
    if (value < lowest) return std::numeric_limits<To>::min();
    if (value >= -lowest) return std::numeric_limits<To>::max();
    return To(value);
  } else if constexpr (std::is_same_v<To, std::int32_t> && std::is_same_v<From, std::int64_t>) {
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : To(value);
  } else {
    return To(value);
  }
}

// Real to integer rounds to the nearest.
template <typename To, typename From>
To rounded(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) return convert<To>(std::round(value));
  return convert<To>(value);
}

// `old` combined with a result. Sums and products of integers saturate.
template <typename T, typename Value>
T accumulated(Reduction reduction, T old, Value value) {
  if constexpr (std::is_floating_point_v<T> && std::is_floating_point_v<Value>) {
    return T(combined(reduction, double(old), value));
  } else {
    const T partial = rounded<T>(value);
    if constexpr (std::is_integral_v<T>) {
      T sum = 0;
      if (is_sum(reduction) && __builtin_add_overflow(old, partial, &sum))
        return partial < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
      if (reduction == Reduction::Product && __builtin_mul_overflow(old, partial, &sum))
        return (partial < 0) != (old < 0) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    }
    return combined(reduction, old, partial);
  }
}

}  // namespace nbcc
