// A system of gravitating bodies under the Hermite scheme, of fourth or sixth order, with individual block time steps.
//
// All that is known of the bodies stays on the device, where they are predicted, pulled and corrected. Of each block
// the host sends the list of those that are moved, and gets the steps that they want next: both stand in memory that
// the two share, so that nothing is copied but the numbers of the block, and the device is waited for once.
#pragma once
#include <optional>
#include <vector>

#include "examples/hermite/block_steps.h"
#include "examples/hermite/statistics.h"
#include "examples/support/bodies.h"
#include "examples/support/device_array.h"
#include "examples/support/ranks.h"

namespace examples {

struct HermiteSettings {
  int order = 4;                          // or 6
  nbcc_precision precision = NBCC_MIXED;  // of the force; all else is double
  double eps = 1.0 / 256;                 // softening length
  double G = 1;                           // gravitational constant
  double eta = 0.01;                      // accuracy of the steps, within the root
  double eta_start = 0;                   // of the first ones, eta_start |a| / |jerk|; 0: a tenth of eta
  double largest = 1.0 / 8;               // step
  int finest = 30;                        // the smallest step is 2^finest times smaller; 0: all share one step
  bool apart = false;  // wait for prediction, forces and correction one by one, to see what each takes
};

// The largest of the steps that are not longer than `longest` and divide `interval`.
double step_that_divides(double interval, double longest);

struct Energies {
  double kinetic = 0, potential = 0;
  double sum() const { return kinetic + potential; }
};

class Hermite {
 public:
  // Starts at time 0. All functions throw nbcc::Error. ranks: null, or who has the other bodies; must outlive this
  // object. All functions are then called by all of them, and what they return is of all bodies; times are those of
  // this process.
  Hermite(const nbcc::Device& device, const Bodies& bodies, const HermiteSettings& settings, Ranks* ranks = nullptr);

  // Through all blocks up to `time`, a whole number of largest steps, where all bodies meet.
  void go_to(double time);
  double time() const { return double(blocks_.now()) * blocks_.tick(); }
  Statistics statistics() const;

  // When all bodies have met.
  Bodies bodies() const { return {of_all(mass_, 1), of_all(x_.all(), 3), of_all(v_.all(), 3)}; }
  Energies energies();  // in double
  std::vector<double> accelerations() const { return of_all(a_.all(), 3); }
  std::vector<double> jerks() const { return of_all(j_.all(), 3); }
  std::vector<double> snaps() const { return of_all(s_.all(), 3); }  // fourth order: those of time 0

 private:
  void bind();
  void compile();
  void start(const nbcc::Device& device);
  // Over the bodies of all ranks, for those of this one.
  void run(nbcc::Sum& sum) { ranks_ ? ranks_->run(sum) : void(sum.run()); }
  void run(nbcc::Sum& sum, const std::int64_t* list, std::int64_t count);
  std::vector<double> of_all(const std::vector<double>& mine, int width) const;
  void find_next();
  void take_block();
  const std::int64_t* send(const std::vector<std::int64_t>& block);
  void fetch_steps(const std::vector<std::int64_t>& block);
  void wait_if_apart(nbcc::Sum& sum);

  Ranks* ranks_;
  HermiteSettings settings_;
  std::vector<double> mass_;
  std::vector<float> wanted_;  // by those of the block, in its order
  BlockSteps blocks_;
  Moved next_;  // of all ranks
  Statistics statistics_;

  using Numbers = DeviceArray<double>;
  // Of every particle at its own time t: position and its first five derivatives.
  Numbers m_, t_, x_, v_, a_, j_, s_, c_;
  // Now: predicted, and what is summed from it.
  Numbers x_now_, v_now_, a_now_, a_new_, j_new_, s_new_, potential_;
  DeviceArray<float> step_;          // shared
  DeviceArray<std::int64_t> block_;  // shared: who is moved
  nbcc::Sum predict_, force_, correct_, exact_;
  // Of a GPU: the same list in its own memory, and how it comes there.
  std::optional<DeviceArray<std::int64_t>> list_;
  std::optional<nbcc::Sum> send_;
};

}  // namespace examples
