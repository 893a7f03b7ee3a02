// The five reductions on doubles: what an empty one holds, what they take, and how two parts of one sum join.
// Min and max hand NaN on; argmin and argmax never choose it, and keep the earlier of two equals.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/kernel_source.h"

namespace nbcc {

constexpr bool keeps_index(FieldLayout::Reduction reduction) {
  return reduction == FieldLayout::Reduction::ArgMin || reduction == FieldLayout::Reduction::ArgMax;
}

// Doubles that hold what was found for one i.
inline int slots_of(const KernelSource& source) {
  const auto indices = std::count_if(source.reductions.begin(), source.reductions.end(), keeps_index);
  return int(source.reductions.size()) + int(indices);
}

constexpr double identity(FieldLayout::Reduction reduction) {
  using enum FieldLayout::Reduction;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (reduction == Sum) return 0.0;
  return reduction == Min || reduction == ArgMin ? infinity : -infinity;
}

// Of whole numbers, which have no infinity.
constexpr std::int64_t whole_identity(FieldLayout::Reduction reduction) {
  using enum FieldLayout::Reduction;
  return reduction == Min || reduction == ArgMin ? std::numeric_limits<std::int64_t>::max()
                                                 : std::numeric_limits<std::int64_t>::min();
}

// Whether the results of an output component are 64-bit whole numbers; chosen indices are kept as doubles.
inline bool results_are_whole(const KernelSource& source, std::size_t output) {
  return source.held_in[output] == Element::Int64 && !keeps_index(source.reductions[output]);
}

inline double join_min(double total, double part) { return part < total || std::isnan(part) ? part : total; }
inline double join_max(double total, double part) { return part > total || std::isnan(part) ? part : total; }

}  // namespace nbcc
