// What LAMMPS has computed of a box of water, as it stands in the files of a folder (examples/water/from_lammps).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace examples {

using Numbers = std::vector<double>;

// Units are LAMMPS's "real": kcal/mol, Angstrom, fs, elementary charges, g/mol. The atoms of a molecule follow each
// other: O, H, H.
struct Reference {
  Numbers positions, velocities, forces;  // three numbers of each atom
  Numbers charges, oxygens;               // one of each; oxygens are 1, hydrogens 0
  std::map<std::string, double> terms;    // by name: "box", "rc", ... of the model, "lj", "total", ... of the energies

  struct Moment {
    std::int64_t step;
    double potential, kinetic, total;
  };
  std::vector<Moment> run;  // of velocity Verlet from these positions and velocities, by rising steps

  std::int64_t atoms() const { return std::int64_t(charges.size()); }
  // Throws std::runtime_error for a name that is not there.
  double term(const std::string& name) const;
};

// Throws UsageError if a file cannot be read, std::runtime_error if one has other contents.
Reference read_reference(const std::string& folder);

}  // namespace examples
