// A Reference -> atoms that move, and their energies. Its entry point is Water.
//
// Two sums make the forces. That of the bonds runs over pairs that are listed, each with constants of its own. That of
// all other pairs runs behind a cutoff, where a search finds them, and leaves out those within a molecule. These are
// the pairs that are bonded, in this model, so that one list is both.
#include "examples/water/water.h"

#include "examples/support/open_sum.h"

namespace examples {

PairRows within_molecules(std::int64_t atoms) {
  PairRows pairs{{0}, {}};
  for (std::int64_t i = 0; i < atoms; ++i) {
    const std::int64_t oxygen = i - i % 3;
    for (std::int64_t j = oxygen; j < oxygen + 3; ++j)
      if (j != i) pairs.j.push_back(j);
    pairs.first.push_back(std::int64_t(pairs.j.size()));
  }
  return pairs;
}

Water::Water(const nbcc::Device& device, const Reference& start, double skin, const WaterModel& model)
    : model_(model),
      count_(start.atoms()),
      x_(device, count_, 3),
      v_(device, count_, 3),
      mass_(device, count_),
      charge_(device, count_),
      oxygen_(device, count_),
      bond_strength_(device, 2 * count_),
      bond_length_(device, 2 * count_),
      bond_force_(device, count_, 3),
      pair_force_(device, count_, 3),
      bond_energy_(device, count_),
      lj_(device, count_),
      coulomb_(device, count_),
      totals_(device, 5),
      bonds_(open_sum(device, "examples/water/bonds.pipe", NBCC_DOUBLE)),
      nonbonded_(open_sum(device, "examples/water/nonbonded.pipe", NBCC_DOUBLE)),
      verlet_(open_sum(device, "examples/water/verlet.pipe", NBCC_DOUBLE)),
      total_(open_sum(device, "examples/water/totals.pipe", NBCC_DOUBLE)) {
  bind_atoms(start);
  const double edge = start.term("box"), box[3] = {edge, edge, edge};
  const PairRows pairs = within_molecules(count_);
  bonds_.set("box", box).listed_pairs(pairs.first, pairs.j);
  set_bonds(pairs);
  nonbonded_.set("box", box).set("rc", model.rc).set("alpha", model.alpha).set("ke", model.coulomb);
  nonbonded_.set("eps", model.eps).set("sigma", model.sigma);
  nonbonded_.pairs(NBCC_PAIRS_CUTOFF).skin(skin).exclusions(pairs.first, pairs.j);
  sum_forces();
}

void Water::bind_atoms(const Reference& start) {
  x_.write(start.positions);
  v_.write(start.velocities);
  charge_.write(start.charges);
  oxygen_.write(start.oxygens);
  Numbers mass;
  for (const double is_oxygen : start.oxygens)
    mass.push_back(is_oxygen != 0 ? model_.oxygen_mass : model_.hydrogen_mass);
  mass_.write(mass);

  bonds_.bind("xi", x_.view()).bind("xj", x_.view());
  bonds_.bind("force", bond_force_.view()).bind("energy", bond_energy_.view());
  nonbonded_.bind("xi", x_.view()).bind("qi", charge_.view()).bind("oi", oxygen_.view());
  nonbonded_.bind("xj", x_.view()).bind("qj", charge_.view()).bind("oj", oxygen_.view());
  nonbonded_.bind("force", pair_force_.view()).bind("lj", lj_.view()).bind("coulomb", coulomb_.view());
  verlet_.bind("xi", x_.view()).bind("vi", v_.view()).bind("mi", mass_.view());
  verlet_.bind("bondedi", bond_force_.view()).bind("nonbondedi", pair_force_.view());
  verlet_.bind("x", x_.view()).bind("v", v_.view()).counts(count_, 0);
  total_.bind("vj", v_.view()).bind("mj", mass_.view()).bind("oj", oxygen_.view());
  total_.bind("bondj", bond_energy_.view()).bind("ljj", lj_.view()).bind("coulombj", coulomb_.view());
  const char* const numbers[] = {"bond_oh", "bond_hh", "lj", "coulomb", "twice_kinetic"};
  for (std::size_t k = 0; k < 5; ++k) total_.bind(numbers[k], nbcc::view(totals_.data() + k, 1));
}

// A row for each entry of the list.
void Water::set_bonds(const PairRows& pairs) {
  Numbers strength, length;
  for (std::size_t i = 0; i + 1 < pairs.first.size(); ++i) {
    for (std::int64_t k = pairs.first[i]; k < pairs.first[i + 1]; ++k) {
      const bool has_oxygen = i % 3 == 0 || pairs.j[std::size_t(k)] % 3 == 0;
      strength.push_back(has_oxygen ? model_.oh_strength : model_.hh_strength);
      length.push_back(has_oxygen ? model_.oh_length : model_.hh_length);
    }
  }
  bond_strength_.write(strength);
  bond_length_.write(length);
  bonds_.bind("k", bond_strength_.view()).bind("r0", bond_length_.view());
}

void Water::sum_forces() {
  bonds_.run();
  nonbonded_.run();
}

void Water::advance(double kick, double drift) {
  verlet_.set("kick", kick / WaterModel::kEnergy).set("drift", drift).run();
}

void Water::step(double femtoseconds) {
  advance(femtoseconds / 2, femtoseconds);
  sum_forces();
  advance(femtoseconds / 2, 0);
}

WaterEnergies Water::energies() {
  total_.run();
  const Numbers all = totals_.all();
  return {all[0], all[1], all[2], all[3], all[4] / 2 * WaterModel::kEnergy};
}

Numbers Water::forces() const {
  Numbers sum = bond_force_.all();
  const Numbers others = pair_force_.all();
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += others[k];
  return sum;
}

}  // namespace examples
