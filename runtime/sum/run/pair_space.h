// The pairs that a pipeline's guards bound, as a query for a search of its own (pair_search.h): cutoff, periodic cell
// and the inputs that are positions. Tested by tests/python/test_batched_neighbours.py.
#pragma once
#include <array>
#include <span>

#include "compiler/kernel_source.h"

namespace nbcc {

struct PairSpace {
  double cutoff = 0;
  bool inclusive = false;          // distance <= cutoff; otherwise distance < cutoff
  std::array<double, 9> cell{};    // vector by vector; 0 along open axes
  std::array<bool, 3> periodic{};  // [axis]
  struct Coordinate {
    int field = 0, component = 0;  // of the caller's fields
  };
  std::array<Coordinate, 3> of_i{}, of_j{};  // [axis]
};

// Throws UsageError for pipelines, and for values of params, whose pairs such a search does not find.
PairSpace pair_space(const KernelSource& kernel, std::span<const double> params);

}  // namespace nbcc
