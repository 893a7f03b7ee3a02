// How many Chebyshev points a periodic sum needs. Used by periodic_tables.cpp.
#pragma once
#include <array>

#include "runtime/far/periodic/far_series.h"

namespace nbcc {

// Orders with which the mismatch is about 0.005 * exp(-digits), by the distances of the far images.
SeriesOrders series_orders(const PeriodicCell& cell, double digits);

struct GridChoice {
  std::array<int, 3> orders{1, 1, 1};
  double pair_error = 0;  // of the rows together
};
// The least orders with which F, interpolated along one row between points for i and for j, has an error below 0.1
// tolerance in every sampled pair of positions, relative to the sum of |K| over the near images of the pair. Such a
// bound holds for sums over any particles and weights. With open directions: in the rms over the pairs. Throws
// UsageError if there are none. `least`: the orders that are tried first.
GridChoice choose_grid(KernelSampler& sampler, const ChebyshevSeries& far, double tolerance,
                       const std::array<int, 3>& least = {2, 2, 2});

}  // namespace nbcc
