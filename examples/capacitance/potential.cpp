// Panels and their charge densities -> the potential at their centres. Its main function is PanelPotential::sum().
//
// With a tolerance the potential is the sum of two: of the Gauss points of all panels, by nbcc's far field, and of what
// these points lack of the panels near a centre, by nbcc's search for neighbours. Solves no equation.
#include "examples/capacitance/potential.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "examples/support/open_sum.h"

namespace examples {
namespace {

// Panels do not move, so that any skin keeps the lists of near panels from sum to sum. Length; the cube's edge is 1.
constexpr double kSkin = 1e-6;

void bind_panels(nbcc::Sum& sum, const Panels& panels) {
  sum.bind("xi", panels.centre).bind("xj", panels.centre).bind("alongj", panels.along);
  sum.bind("acrossj", panels.across).bind("halfj", panels.half);
}

}  // namespace

// The root mean square of the error over the centres of 6 x 16^2 panels with 3 x 3 points, for a potential of 1, is
// 1.1e-7 for a reach of 3, 3.5e-8 for 4, 7.7e-9 for 5, 6.1e-10 for 8 and 1.7e-10 for 10. It is smaller with more
// panels. With 2 along an edge it is 1.1e-6 for a reach of 3, half of a tolerance of 2.3e-6.
double near_reach(double tolerance) { return 3 * std::max(1.0, std::pow(4e-6 / tolerance, 0.2)); }

PanelPotential::PanelPotential(const nbcc::Device& device, Panels panels, double tolerance)
    : panels_(std::move(panels)), exact_(open_sum(device, "examples/capacitance/panel.pipe", NBCC_DOUBLE)) {
  bind_panels(exact_, panels_);
  if (tolerance == 0) return;
  // nbcc raises the precision of the sum over Gauss points if the tolerance requires it.
  split_.emplace(Split{gauss_points(panels_), Numbers(kPointsPerPanel * panels_.size()), Numbers(panels_.size()),
                       open_sum(device, "pipelines/bem_single_layer.pipe", NBCC_SINGLE),
                       open_sum(device, "examples/capacitance/near.pipe", NBCC_DOUBLE)});
  split_->far.tolerance(tolerance).bind("xi", panels_.centre).bind("xj", split_->points.position);
  split_->far.bind("wj", split_->points.weight);
  bind_panels(split_->near, panels_);
  split_->near.set("reach", near_reach(tolerance)).skin(kSkin).bind("pot", split_->correction);
}

void PanelPotential::sum(const Numbers& sigma, Numbers& potential) {
  if (!split_) {
    exact_.bind("sigmaj", sigma).bind("pot", potential).run().wait();
    return;
  }
  for (std::size_t p = 0; p < split_->density.size(); ++p) split_->density[p] = sigma[p / kPointsPerPanel];
  split_->far.bind("sigmaj", split_->density).bind("pot", potential).run();
  split_->near.bind("sigmaj", sigma).run();
  split_->far.wait();
  split_->near.wait();
  for (std::size_t i = 0; i < potential.size(); ++i) potential[i] += split_->correction[i];
}

Numbers PanelPotential::sum_exactly(const Numbers& sigma, const std::vector<std::int64_t>& centres) {
  Numbers potential(panels_.size());
  exact_.bind("sigmaj", sigma).bind("pot", potential).run(centres).wait();
  Numbers chosen;
  for (const std::int64_t i : centres) chosen.push_back(potential[std::size_t(i)]);
  return chosen;
}

}  // namespace examples
