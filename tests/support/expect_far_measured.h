// Which runs of a sum with a far field measure their error, on any device. Entry points: the functions.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "tests/support/far_trial.h"

namespace nbcc::test {

// Gaussians, whose terms vanish: errors that are small beside many terms are large beside a few tiny ones.
inline Source gaussians() {
  return {"gaussians.pipe",
          "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) real u;\n"
          "vec3 d = xj - xi; u += mj * exp(-20.0 * dot(d, d));\n"};
}

// Weights change at kept positions. measures_often: the sample costs so little that every run is measured.
inline void expect_errors_of_changed_weights(FarTrial& trial, std::int64_t n, bool measures_often) {
  constexpr double kTolerance = 1e-2;
  trial.fill("uniform", n, n, true, 5);
  set_tolerance(trial.sum, kTolerance, {.leaf = 16});
  std::mt19937_64 random(3);
  // Of the runs after a choice the 1st, 2nd and 4th are measured, whatever they sum.
  const auto run = [&](FarWeights weights, bool is_measured, const std::string& what) {
    SCOPED_TRACE(what);
    trial.reweigh(weights, random);
    trial.run();
    const FarStatistics found = trial.sum.statistics().far;
    EXPECT_EQ(found.runs_since_error == 0, is_measured);
    EXPECT_LE(trial.error(), kTolerance);
    if (is_measured && trial.was_far()) {
      EXPECT_LE(trial.error(), 1.0001 * found.error);  // all i are in the sample
      EXPECT_GE(trial.error(), 0.9999 * found.error);
    }
  };
  run(FarWeights::Equal, true, "chooses");
  ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  run(FarWeights::Equal, true, "second");
  run(FarWeights::Rescaled, measures_often, "rescaled");
  EXPECT_EQ(trial.sum.statistics().far.runs_since_error, measures_often ? 0 : 1);
  run(FarWeights::Rescaled, true, "fourth");
  run(FarWeights::OneHeavy, true, "one heavy");
}

// Of `gaussian_rbf`: the i are so far from the j that terms in single precision have few digits, or are 0: exp(-96) to
// exp(-150).
inline void expect_all_pairs_of_tiny_terms(FarTrial& trial) {
  trial.fill("apart", 300, 400, false, 5);
  for (const double tolerance : {1e-3, 1e-6})
    for (const double sigma : {5.0, 0.6}) {
      SCOPED_TRACE(std::to_string(tolerance) + ", " + std::to_string(sigma));
      set_tolerance(trial.sum, tolerance);
      trial.set_param("sigma", {sigma});
      trial.run();
      EXPECT_LE(trial.error(), tolerance) << trial.sum.statistics().reason;
      const FarStatistics found = trial.sum.statistics().far;
      EXPECT_EQ(found.tolerance, tolerance);
      EXPECT_EQ(found.order, 0);
      EXPECT_GE(found.sampled, 256);
      EXPECT_LE(found.error, tolerance);
      if (sigma == 0.6) EXPECT_EQ(found.precision, "double");
      if (sigma == 5.0) EXPECT_NE(found.precision, "double");
    }
}

}  // namespace nbcc::test
