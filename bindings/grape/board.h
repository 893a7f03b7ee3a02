// One board of GRAPE-5: j-particles, i-particles, and sums over the j-particles in a background thread. Every function
// may throw nbcc::Error. A call during a sum waits until the sum is done. Test: tests/grape/g5_test.cpp.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bindings/grape/common.h"

namespace nbcc::g5 {

using Vec3 = std::array<double, 3>;

struct Force {
  Vec3 acc{};
  double pot = 0;
};

class Board {
 public:
  // gravity: the pipeline g5.pipe. capacity: maximum number of j-particles.
  Board(const Pipeline& gravity, int capacity);

  // If a setting is invalid, forces() fails too, until the same setting is made with valid arguments: many programs
  // check nothing but forces.
  void set_positions(int address, int count, const double x[][3]);
  void set_masses(int address, int count, const double mass[]);
  void set_count(int nj);
  void set_softening(double eps2);                   // one value for all i-particles
  void set_softenings(int ni, const double eps2[]);  // one value for each i-particle
  void set_i(int ni, const double x[][3]);

  // Starts the sums. Never throws: forces() reports errors.
  void start() noexcept;
  // Waits for the sums of the last start(), and returns the forces on the first ni i-particles.
  std::span<const Force> forces(int ni);

 private:
  enum Setting { Positions, Masses, Count, Softening, Targets, kSettings };
  struct IParticle {
    Vec3 x;
    double eps2;
  };

  void setting(Setting which, const std::function<void()>& set);
  void check_addresses(int address, int count) const;
  void prepare();

  Sum sum_;
  int capacity_;
  std::vector<Vec3> x_;
  std::vector<double> mass_;
  int nj_ = -1;  // -1: not set
  bool is_j_bound_ = false;
  double eps2_ = 0;
  std::vector<double> eps2s_;  // by i-particle; empty: eps2_ for all
  std::vector<IParticle> i_;
  std::vector<Force> forces_;
  std::array<std::string, kSettings> errors_;  // by Setting: why its last arguments were invalid; "": they were valid
  bool is_started_ = false;
  grape::Background work_;
};

}  // namespace nbcc::g5
