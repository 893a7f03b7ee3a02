// Lennard-Jones atoms in a periodic box, and how they move.
#pragma once
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "examples/support/device_array.h"

namespace examples {

using Numbers = std::vector<double>;

// In reduced units: sigma, epsilon and the atom's mass are 1.
struct Fluid {
  int cells = 6;  // of the lattice that it starts on, along a side; four atoms each
  double density = 0.86, temperature = 0.85, dt = 0.004, rc = 4.0;
  double skin = 0.3;      // neighbours are sought again when an atom has moved by half of it
  double relaxation = 0;  // time in which a thermostat brings the temperature back; 0: there is none
  std::size_t count() const { return std::size_t(4) * std::size_t(cells) * std::size_t(cells) * std::size_t(cells); }
  double box() const { return std::cbrt(double(count()) / density); }
};

// Atoms on a device, with sums bound to them; the host sees four numbers of each step. Functions throw nbcc::Error.
class Atoms {
 public:
  // On a face-centred lattice, with velocities of the fluid's temperature and without momentum.
  Atoms(const nbcc::Device& device, const Fluid& fluid);

  void step();  // velocity Verlet, then the thermostat
  double temperature() const { return now_.twice_kinetic / degrees_of_freedom(); }
  void scale_to(double temperature);
  // Total energy of the last step, of the potential that moves the atoms, less what the thermostat has given.
  double conserved() const { return now_.energy + now_.twice_kinetic / 2 - heat_; }

  // Energy of an atom, and the pressure, of the full potential.
  struct State {
    double energy, pressure;
  };
  State state();

  // Adds the radial distribution function of now to g, in shells of this width.
  static constexpr double kWidth = 0.05;
  static constexpr std::size_t kShells = 80;
  void add_distribution(Numbers& g);

  // Of the sums that move the atoms.
  nbcc_statistics statistics() { return moving_.statistics(); }

 private:
  struct Totals {
    double twice_kinetic = 0, energy = 0, full = 0, virial = 0;
  };
  nbcc::Sum open(const nbcc::Device& device, const char* path);
  double degrees_of_freedom() const { return 3 * double(fluid_.count()) - 3; }  // three are spent on the momentum
  void advance(double kick, double drift, double factor = 1);
  void add_up();
  void thermostat();

  Fluid fluid_;
  using Column = DeviceArray<double>;
  Column x_, v_, force_, energy_, full_energy_, virial_, pairs_, totals_;
  nbcc::Sum moving_, full_, counts_, advance_, total_;
  Totals now_;
  double heat_ = 0;
  std::mt19937_64 random_{2};  // the thermostat's
};

}  // namespace examples
