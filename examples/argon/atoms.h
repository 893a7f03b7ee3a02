// Lennard-Jones atoms in a periodic box, and how they move.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace examples {

using Numbers = std::vector<double>;

// In reduced units: sigma, epsilon and the atom's mass are 1.
struct Fluid {
  int cells = 6;  // of the lattice that it starts on, along a side; four atoms each
  double density = 0.86, temperature = 0.85, dt = 0.004, rc = 4.0;
  std::size_t count() const { return std::size_t(4 * cells * cells * cells); }
  double box() const { return std::cbrt(double(count()) / density); }
};

// Atoms with sums bound to them; arrays of the host, which on a GPU are sent at every step. Functions throw
// nbcc::Error.
class Atoms {
 public:
  // On a face-centred lattice, with velocities of the fluid's temperature and without momentum.
  Atoms(const nbcc::Device& device, const Fluid& fluid);

  void step();  // velocity Verlet
  double temperature() const;
  void scale_to(double temperature);
  double conserved() const;  // total energy of the last step, of the potential that moves the atoms

  // Energy of an atom, and the pressure, of the full potential.
  struct State {
    double energy, pressure;
  };
  State state();

  // Adds the radial distribution function of now to g, in shells of this width.
  static constexpr double kWidth = 0.05;
  static constexpr std::size_t kShells = 80;
  void add_distribution(Numbers& g);

 private:
  nbcc::Sum open(const nbcc::Device& device, const char* path);

  Fluid fluid_;
  Numbers x_, v_, force_, energy_, virial_, count_;
  nbcc::Sum moving_, full_, counts_;
};

}  // namespace examples
