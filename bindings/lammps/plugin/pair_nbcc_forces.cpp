// LAMMPS's neighbour list -> the pairs whose forces are compared with the derivative of their energy before a run. Part
// of PairNbcc. Entry point: check_forces(). force_check.cpp compares.
#include <atom.h>
#include <neigh_list.h>
#include <neighbor.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "bindings/lammps/plugin/pair_nbcc.h"

namespace LAMMPS_NS {

using nbcc_lammps::AtomPair;

std::vector<AtomPair> PairNbcc::nearest_pairs() const {
  const std::size_t types = std::size_t(atom->ntypes) + 1;
  std::vector<AtomPair> nearest(types * types, {-1, -1, cutoff_});
  std::vector<bool> is_wanted(types * types, false);
  for (std::size_t a = 1; a < types; ++a)
    for (std::size_t b = 1; b < types; ++b)
      is_wanted[a * types + b] = acts_[a][b] && !interaction_->are_forces_checked(int(a), int(b));
  if (std::ranges::find(is_wanted, true) == is_wanted.end()) return {};
  if (searches_) neighbor->build_one(list);
  for (int k = 0; k < list->inum; ++k) {
    const int i = list->ilist[k];
    for (int n = 0; n < list->numneigh[i]; ++n) {
      const int j = list->firstneigh[i][n] & NEIGHMASK;
      const auto [a, b] = std::minmax({std::size_t(atom->type[i]), std::size_t(atom->type[j])});
      if (!is_wanted[a * types + b]) continue;
      double r2 = 0;
      for (int c = 0; c < 3; ++c) r2 += (atom->x[j][c] - atom->x[i][c]) * (atom->x[j][c] - atom->x[i][c]);
      AtomPair& best = nearest[a * types + b];
      if (r2 > 0 && r2 < best.distance * best.distance) best = {i, j, std::sqrt(r2)};
    }
  }
  std::erase_if(nearest, [](const AtomPair& pair) { return pair.i < 0; });
  return nearest;
}

// Each rank compares pairs of the neighbour list that the rank has.
void PairNbcc::check_forces() {
  std::string why;
  try {
    interaction_->check_forces(cutoff_, nearest_pairs(), atom->type);
  } catch (const std::exception& refused) {
    why = refused.what();
  }
  throw_everywhere(why);
}

}  // namespace LAMMPS_NS
