// Periodic sums by tolerance: every_image() without a cutoff, against Ewald sums and published constants.
// tests/unit/runtime/far/periodic/ has the tables of far images alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "runtime/error.h"
#include "tests/support/periodic_trial.h"

namespace nbcc::test {
namespace {

// Madelung's constant of NaCl: OEIS A085469.
TEST(PeriodicSum, OfSodiumChlorideIsMadelungs) {
  PeriodicTrial trial(kCharges, Precision::Double);
  trial.set_cell({{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}});
  set_tolerance(trial.sum, 1e-11);
  std::vector<Vector3> x;
  for (int k = 0; k < 8; ++k) {
    x.push_back({double(k & 1), double(k >> 1 & 1), double(k >> 2 & 1)});
    trial.arrays["qj"].push_back(((k & 1) + (k >> 1 & 1) + (k >> 2 & 1)) % 2 == 0 ? 1 : -1);
  }
  trial.run(x);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(trial.arrays["pot"][i], -1.747564594633182 * trial.arrays["qj"][i], 1e-9);
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(trial.arrays["field"][3 * i + axis], 0, 1e-9);
  }
}

TEST(PeriodicSum, OfChargesIsEwalds) {
  std::mt19937_64 random(3);
  PeriodicTrial trial(kCharges);
  trial.set_cell(kCube);
  const std::vector<Vector3> x = random_places(300, kCube, random);
  for (const bool neutral : {true, false})
    for (const double tolerance : {1e-3, 1e-5, 1e-7, 1e-10}) {
      SCOPED_TRACE(fmt::format("{}, tolerance {}", neutral ? "neutral" : "masses", tolerance));
      trial.arrays["qj"].clear();
      for (std::size_t j = 0; j < x.size(); ++j) trial.arrays["qj"].push_back(neutral && j % 2 == 0 ? -1 : 1);
      set_tolerance(trial.sum, tolerance);
      trial.run(x);
      EXPECT_LE(error_of_charges(trial, kCube, x), tolerance);
    }
}

// The particles stay where they are: trees are kept, lists have other shifts.
TEST(PeriodicSum, OfACellThatChangesAroundItsParticles) {
  std::mt19937_64 random(4);
  PeriodicTrial trial(kCharges, Precision::Double);
  std::vector<Vector3> x = random_places(160, kCube, random);
  for (Vector3& one : x)
    for (double& component : one) component = 0.9 * component - 0.45;
  for (std::size_t j = 0; j < x.size(); ++j) trial.arrays["qj"].push_back(j % 2 == 0 ? -1 : 1);
  set_tolerance(trial.sum, 1e-6, {.order = 8, .leaf = 16, .separation = 0.3});
  for (const double side : {1.0, 1.004, 1.008, 1.004}) {
    const std::array<Vector3, 3> cell{{{side, 0, 0}, {0, side, 0}, {0, 0, side}}};
    trial.set_cell(cell);
    trial.run(x);
    ASSERT_EQ(trial.sum.statistics().far.order, 8);
    EXPECT_LE(error_of_charges(trial, cell, x), 1e-6) << side;
  }
}

}  // namespace
}  // namespace nbcc::test
