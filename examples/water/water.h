// Flexible water in a periodic box: molecules whose atoms are held together by springs, and how they move.
#pragma once
#include <cstdint>
#include <vector>

#include "examples/support/device_array.h"
#include "examples/water/reference.h"

namespace examples {

// The numbers of SPC/Fw (Y. Wu, H. L. Tepper & G. A. Voth, J. Chem. Phys. 124 (2006) 024503), but that a spring between
// the hydrogens stands for its angle: there are no terms but those of pairs. Charges are the atoms'.
struct WaterModel {
  double oh_strength = 529.581, oh_length = 1.012;  // strength (r - length)^2
  double hh_strength = 122.4, hh_length = 1.69;
  double eps = 0.1554253, sigma = 3.165492;  // of two oxygens
  double alpha = 0.3;                        // of the Ewald sum, whose part in real space is all that is summed here
  double rc = 9;
  double coulomb = 332.06371;
  double oxygen_mass = 15.9994, hydrogen_mass = 1.008;
  // (g/mol) (A/fs)^2 in kcal/mol, to LAMMPS's digits.
  static constexpr double kEnergy = 48.88821291 * 48.88821291;
};

// Pairs by rows: the j of i are j[first[i]] to before j[first[i + 1]].
struct PairRows {
  std::vector<std::int64_t> first, j;
};

// For each atom the two others of its molecule.
PairRows within_molecules(std::int64_t atoms);

struct WaterEnergies {
  double bond_oh, bond_hh, lj, coulomb, kinetic;
  double potential() const { return bond_oh + bond_hh + lj + coulomb; }
  double total() const { return potential() + kinetic; }
};

// Atoms on a device, with sums bound to them; the host sees five numbers of them. Functions throw nbcc::Error.
class Water {
 public:
  // `skin`: neighbours are sought again when an atom has moved by half of it.
  Water(const nbcc::Device& device, const Reference& start, double skin, const WaterModel& model = {});

  void step(double femtoseconds);  // velocity Verlet
  WaterEnergies energies();
  Numbers forces() const;  // three numbers of each atom

  // Of the sums behind the cutoff.
  nbcc_statistics statistics() { return nonbonded_.statistics(); }

 private:
  void bind_atoms(const Reference& start);
  void set_bonds(const PairRows& pairs);
  void sum_forces();
  void advance(double kick, double drift);

  WaterModel model_;
  std::int64_t count_;
  using Column = DeviceArray<double>;
  Column x_, v_, mass_, charge_, oxygen_, bond_strength_, bond_length_;
  Column bond_force_, pair_force_, bond_energy_, lj_, coulomb_, totals_;
  nbcc::Sum bonds_, nonbonded_, verlet_, total_;
};

}  // namespace examples
