// A hand-written kernel on the particles of a generated sum.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/generated.h"
#include "bench/hand_written/kernels.h"
#include "bench/measure.h"

namespace nbcc::bench {

// The shapes written for a pipeline; none where there are none for this instruction set. Pipelines: "gravity_acc",
// "gravity_jerk", "lennard_jones", "sph_force"; in double precision "gravity_acc" alone.
std::vector<hand_written::Kernel> hand_written_kernels(const std::string& isa, const std::string& pipeline,
                                                       nbcc_precision precision);

class HandSide {
 public:
  // Takes the particles as the sum has them bound now.
  HandSide(const hand_written::Kernel& kernel, const Generated& like);
  void run() { kernel_.run(problem_, packed_i_.get(), packed_j_.get()); }
  std::string shape() const { return kernel_.shape; }

  double rms_difference(const Generated& generated) const;

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  using Buffer = std::unique_ptr<void, Free>;
  static Buffer buffer(std::int64_t doubles);

  hand_written::Kernel kernel_;
  std::vector<std::vector<double>> columns_i_, columns_j_, sums_;
  std::vector<const double*> pointers_i_, pointers_j_;
  std::vector<double*> pointers_sum_;
  std::vector<double> params_;
  hand_written::Problem problem_{};
  Buffer packed_i_, packed_j_;
};

// The kernels against each other on these particles.
Comparison compare_by_hand(const std::vector<hand_written::Kernel>& kernels, const Generated& like, int rounds);

// The fastest of them, by a short trial.
const hand_written::Kernel& fastest(const std::vector<hand_written::Kernel>& kernels, const Generated& like);

}  // namespace nbcc::bench
