// What a block of time steps takes, as a formula fitted to blocks that were measured.
#pragma once
#include <array>
#include <vector>

#include "examples/hermite/statistics.h"

namespace examples {

// Seconds that a part of the work takes for a block of n of N bodies: each + per_i n + per_j N + per_pair n N.
struct Cost {
  double each = 0, per_i = 0, per_j = 0, per_pair = 0;
  // Of all blocks of a run together; the formula is linear, so the number of blocks and that of steps tell.
  double of(const Statistics& run) const;
};

struct Model {
  Cost host;           // each, per_i
  Cost communication;  // each, per_i, per_j
  Cost calculation;    // each, per_j, per_pair
  Seconds of(const Statistics& run) const;
};

// Least squares of relative errors over all sizes of blocks in all runs, without negative costs.
Model fit_model(const std::vector<Statistics>& runs);

struct Point {
  double x, y;
};
struct PowerLaw {
  double factor = 0, exponent = 0;
  double farthest = 0;  // of the points, relative
};
// Least squares of the logarithms of at least two points.
PowerLaw fit_power_law(const std::vector<Point>& points);

}  // namespace examples
