// Whether positions and values have changed since a sample was drawn. Entry points: FarDomains::keep(),
// FarDomains::has_moved_far(), FarDomains::have_values_changed().
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "runtime/far/far_norms.h"
#include "runtime/far/ranks/far_domains.h"

namespace nbcc {
namespace {

// Particles in the order of their keys, so that the blocks of norms_of() are of neighbours as those of a tree.
std::vector<std::int64_t> order_of(std::span<const std::uint64_t> keys) {
  std::vector<std::int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int64_t k) { return keys[std::size_t(k)]; });
  return order;
}

}  // namespace

bool FarDomains::has_moved_far(double share_of_radius, double share_of_particles) const {
  if (now_.ni != kept_.ni || now_.nj != kept_.nj) return true;
  const double far = share_of_radius * now_.radius;
  return share_of_moved(now_.positions_of_i, kept_.positions_of_i, axes_, far) > share_of_particles ||
         share_of_moved(now_.positions_of_j, kept_.positions_of_j, axes_, far) > share_of_particles;
}

void FarDomains::keep() {
  kept_ = now_;
  order_of_i_ = order_of(keys_of_i_);
  order_of_j_ = order_of(keys_of_j_);
  kept_weights_ = norms_of(weights_.all(), order_of_j_);
  kept_factors_ = norms_of(factors_.all(), order_of_i_);
}

// The same particles as then are a block, wherever they are now. On each process its own norms may have changed by one
// factor, and by another one on the next process: the ratios of all are compared.
bool FarDomains::have_values_changed(double spread, bool keeps_scale) {
  FarChange of_weights, of_factors;
  const bool are_those = std::int64_t(order_of_j_.size()) == now_.nj && std::int64_t(order_of_i_.size()) == now_.ni;
  if (are_those) {
    of_weights = change_of(norms_of(weights_.all(), order_of_j_), kept_weights_);
    of_factors = change_of(norms_of(factors_.all(), order_of_i_), kept_factors_);
  }
  bool are_all = true;
  for (const std::vector<double>& one :
       exchange({double(are_those), of_weights.least, of_weights.largest, of_weights.turned, of_factors.least,
                 of_factors.largest, of_factors.turned})) {
    are_all = are_all && one[0] != 0;
    of_weights.add({one[1], one[2], one[3]});
    of_factors.add({one[4], one[5], one[6]});
  }
  return !are_all || !of_weights.is_rescaling(spread, false) || !of_factors.is_rescaling(spread, keeps_scale);
}

}  // namespace nbcc
