// One cluster of GRAPE-6: j-particles, and sums over them in a background thread. Every function may throw nbcc::Error.
// A call during a sum waits until the sum is done. Test: tests/grape/g6_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <exception>
#include <vector>

#include "bindings/grape/common.h"
#include "bindings/grape/j_memory.h"

namespace nbcc::g6 {

struct IParticle {
  int index = 0;
  double h2 = 0;
  Vec3 x{}, v{};
};

struct Force {
  Vec3 acc{}, jerk{};
  double pot = 0;
  int nearest = -1;  // index, not address
};

class Cluster {
 public:
  Cluster(Device device, nbcc_precision precision);

  void set_j(int address, const JParticle& particle);
  void set_time(double time);
  // Starts the sums over the addresses below nj. Never throws: forces() reports errors.
  void start(int nj, double eps2, std::vector<IParticle> i) noexcept;
  // Call instead of start() if its arguments are invalid: forces() throws `why`.
  void fail(std::exception_ptr why);
  // Waits for the sums of the last start() and returns the results.
  std::vector<Force> forces();
  // The indices of the neighbours of each i-particle of the last start(), in ascending order.
  const std::vector<std::vector<int>>& neighbours();
  void forget();

 private:
  struct Result {
    Vec3 acc, jerk;
    double pot;
    std::int64_t near;
  };

  void check_calculated();
  void bind_i();

  Device device_;
  JMemory j_;
  Pipeline pipeline_;
  Sum sum_;
  double time_ = 0;
  std::vector<IParticle> i_;
  std::vector<Result> results_;
  bool is_calculated_ = false;
  std::vector<std::vector<int>> lists_;
  bool has_lists_ = false;
  grape::Background work_;
};

}  // namespace nbcc::g6
