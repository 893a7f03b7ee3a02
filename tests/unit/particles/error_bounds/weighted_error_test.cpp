#include "particles/error_bounds/weighted_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nbcc {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(weighted_error, nothing_is_exact) {
  const WeightedError error(1e-6, Precision::Single);
  EXPECT_EQ(error.of_logarithm(-kInf), 0);
  EXPECT_EQ(error.of_mean(0), 0);
}

// log(e^x) is as wrong as x is.
TEST(weighted_error, an_error_of_the_only_logit_is_one_of_the_logarithm) {
  WeightedError error(0, Precision::Double);
  error.take({5, 0.25}, {1, 0}, true);
  EXPECT_GE(error.of_logarithm(5), 0.25);
  EXPECT_LT(error.of_logarithm(5), 0.25 + 1e-12);
  EXPECT_LT(error.of_mean(1), 1e-12);
}

TEST(weighted_error, wrong_weights_move_a_mean_between_its_values) {
  WeightedError error(0, Precision::Double);
  error.take({0, 0.1}, {1, 0}, true);
  error.take({0, 0.1}, {3, 0}, true);
  const double worst = (std::exp(0.1) * 3 + std::exp(-0.1)) / (std::exp(0.1) + std::exp(-0.1)) - 2;
  EXPECT_GE(error.of_mean(2), worst);
  EXPECT_LT(error.of_mean(2), 3 * worst);
}

TEST(weighted_error, errors_of_values_are_averaged) {
  WeightedError error(0, Precision::Double);
  error.take({0, 0}, {1, 0.5}, true);
  error.take({0, 0}, {1, 0.25}, true);
  EXPECT_NEAR(error.of_mean(1), 0.375, 1e-12);
}

TEST(weighted_error, an_uncertain_term_may_be_missing) {
  WeightedError error(0, Precision::Double);
  error.take({0, 0}, {1, 0}, true);
  error.take({0, 0}, {2, 0}, false);
  EXPECT_GE(error.of_logarithm(std::log(2)), std::log(2));
  EXPECT_GE(error.of_mean(1.5), 0.5);
}

// What lies farther below the largest counts less, and is as wrong as it may be where floats end.
TEST(weighted_error, single_precision_forgets_what_is_far_below) {
  WeightedError error(0, Precision::Single);
  error.take({0, 0}, {1, 0}, true);
  error.take({-85, 0}, {1e38, 0}, true);
  EXPECT_GE(error.of_mean(1 + 1e38 * std::exp(-85)), 1e38 * std::exp(-85));
}

}  // namespace
}  // namespace nbcc
