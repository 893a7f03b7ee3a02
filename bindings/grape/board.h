// One board of GRAPE-5: a memory of j-particles, i-particles, and sums over the former in the background. Every
// function may throw nbcc::Error; what is asked for while sums are under way waits for them. Test:
// tests/grape/g5_test.cpp.
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
  // gravity: g5.pipe. The board holds `room` j-particles.
  Board(const Pipeline& gravity, int room);

  // What is refused here is told by the forces as well, until the same is set rightly: many programs look at nothing
  // but forces.
  void set_positions(int address, int count, const double x[][3]);
  void set_masses(int address, int count, const double mass[]);
  void set_count(int nj);
  void set_softening(double eps2);                   // of all i-particles
  void set_softenings(int ni, const double eps2[]);  // of each
  void set_i(int ni, const double x[][3]);

  // Throws nothing: what is wrong is told by forces().
  void start() noexcept;
  // Of the first ni of the particles of the last start().
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
  int room_;
  std::vector<Vec3> x_;
  std::vector<double> mass_;
  int nj_ = -1;  // not set
  bool is_j_bound_ = false;
  double eps2_ = 0;
  std::vector<double> eps2s_;  // empty: eps2_
  std::vector<IParticle> i_;
  std::vector<Force> forces_;
  std::array<std::string, kSettings> refused_;  // "": not
  bool is_started_ = false;
  grape::Background work_;
};

}  // namespace nbcc::g5
