// Measures the time of a sum, over random particles or over the particles bound to it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "cli/sum/particle_sum.h"
#include "particles/initial_conditions/random_particles.h"

namespace nbcc {

struct Times {
  double median = 0, fastest = 0, slowest = 0;  // seconds per run
};

double timed(const std::function<void()>& action);  // seconds

// Takes `repeat` samples. A sample consists of so many runs that it takes about 5 ms at least.
Times measure(ParticleSum& sum, int repeat);

// The same with a given launch configuration on a GPU; nothing if no such kernel is possible.
std::optional<Times> measure_in(ParticleSum& sum, const LaunchConfig& config, int repeat);

// Owns random particles and binds them to a sum. The sum must not run after this object is destroyed.
class RandomBinding {
 public:
  // Arrays on the device have the working precision, as a program on a GPU would store them.
  RandomBinding(ParticleSum& sum, std::int64_t ni, std::int64_t nj, const KernelChoice& choice,
                ParticleSum::Arrays arrays, const PairsChoice& pairs = {});

 private:
  RandomSides i_sides_, j_sides_, pairs_;
};

}  // namespace nbcc
