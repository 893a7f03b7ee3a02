// The time that a sum takes, over random particles or over those that are bound to it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "cli/particle_sum.h"
#include "particles/initial_conditions/random_particles.h"

namespace nbcc {

struct Times {
  double median = 0, fastest = 0, slowest = 0;  // seconds of one run
};

double timed(const std::function<void()>& action);

// `repeat` samples, each of as many runs as the clock needs to see them.
Times measure(ParticleSum& sum, int repeat);

// The same in a launch configuration of a GPU's kernel; nothing if there can be no such kernel.
std::optional<Times> measure_in(ParticleSum& sum, const LaunchConfig& config, int repeat);

// Random particles bound to a sum; they live as long as this, and the sum must not run any longer.
class RandomBinding {
 public:
  // On the device they are in the working precision, as a program on a GPU would have them.
  RandomBinding(ParticleSum& sum, std::int64_t ni, std::int64_t nj, const KernelChoice& choice,
                ParticleSum::Arrays arrays);

 private:
  RandomSides i_sides_, j_sides_;
};

}  // namespace nbcc
