// The potential of charged panels at their centres: over all pairs, or to a tolerance.
#pragma once
#include <cstdint>
#include <optional>

#include "examples/capacitance/panels.h"
#include "runtime/api/nbcc.hpp"

namespace examples {

// Sums over panels that stay as they are; their densities change from sum to sum. Functions throw nbcc::Error.
class PanelPotential {
 public:
  // tolerance 0: all pairs of panels, in double precision. Otherwise the error of a sum is about the tolerance (its
  // root mean square over the centres, relative to the sum of the magnitudes of its terms), and a sum takes O(N) time.
  PanelPotential(const nbcc::Device& device, Panels panels, double tolerance);

  void sum(const Numbers& sigma, Numbers& potential);

  // The potential at some of the centres, over all pairs in double precision.
  Numbers sum_exactly(const Numbers& sigma, const std::vector<std::int64_t>& centres);

  // Of the sum over Gauss points, and of the sum over near panels; only with a tolerance.
  nbcc_statistics far_statistics() { return split_->far.statistics(); }
  nbcc_statistics near_statistics() { return split_->near.statistics(); }

  const Panels& panels() const { return panels_; }

 private:
  struct Split {
    GaussPoints points;
    Numbers density, correction;  // [point], [panel]
    nbcc::Sum far, near;
  };

  Panels panels_;
  nbcc::Sum exact_;
  std::optional<Split> split_;
};

// The distance, in units of a panel's longer half, from which its Gauss points replace it. At that distance the error
// of the points is below half of the tolerance.
double near_reach(double tolerance);

}  // namespace examples
