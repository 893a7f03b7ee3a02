// A gas of SPH particles that stays on its device from step to step.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "examples/support/device_array.h"

namespace examples {

// Particles on the host; x and v are three numbers of each, one particle after the other.
struct Particles {
  std::vector<double> mass, x, v, u;  // u: thermal energy per unit of mass
  std::vector<double> h;              // smoothing lengths, to start the iteration for them from
  std::vector<double> rho;            // density; not an input
  std::size_t count() const { return mass.size(); }
  void add(double m, const std::array<double, 3>& at, const std::array<double, 3>& velocity, double energy,
           double smoothing);
};

struct GasSettings {
  double gamma = 1.4;
  double eta = 1.2;  // h = eta (m / rho)^(1/3): 58 particles inside of the support
  double alpha = 1, beta = 2, conductivity = 1;
  double courant = 0.3;
  std::array<double, 3> box = kNoBox;  // about the origin
  bool has_gravity = false;
  double eps = 0.02;                      // softening length of gravity
  nbcc_precision precision = NBCC_MIXED;  // of the sums' terms; the state is always double
  static constexpr double kOpen = 1e30;   // a box so long that no image is near
  static constexpr std::array<double, 3> kNoBox{kOpen, kOpen, kOpen};
};

struct Totals {
  double step = 0, change = 0, reach = 0;  // for the gas itself
  double kinetic = 0, thermal = 0, potential = 0;
  double energy() const { return kinetic + thermal + potential; }
};

// Kick, drift, kick, with one step for all. All functions throw nbcc::Error, or std::runtime_error where the gas cannot
// go on.
class Gas {
 public:
  Gas(const nbcc::Device& device, const Particles& start, const GasSettings& settings);

  // Goes on by the step that the gas allows, but not beyond `until`.
  void step(double until = std::numeric_limits<double>::infinity());
  double time() const { return time_; }
  std::int64_t steps() const { return steps_; }

  double thermal() const { return now_.thermal; }  // energy, as of the last step; costs nothing
  Totals totals();                                 // as of now
  // Of the sums that give densities, whose neighbours are those within a particle's own reach.
  nbcc_statistics statistics() { return density_.statistics(); }
  Particles particles() const;

 private:
  void settle(double tolerance);
  void evaluate(double tolerance);
  void advance(double kick, double drift);
  void add_up();

  GasSettings settings_;
  std::int64_t count_;
  double time_ = 0;
  std::int64_t steps_ = 0;
  Totals now_;
  using Column = DeviceArray<double>;
  Column m_, x_, v_, u_, v_ahead_, u_ahead_, acc_, dudt_, pot_;
  Column h_, rho_, omega_, pres_, sound_, vsig_, change_, totals_;
  nbcc::Sum density_, force_, gravity_, potential_, advance_, total_;
};

}  // namespace examples
