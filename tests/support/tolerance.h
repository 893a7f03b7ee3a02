// How close is close enough, said once for all numeric tests.
//
// A device's sum may differ from the oracle's by kRoundings * epsilon * sum |term|. Each operation is good to 2 ulp;
// the longest chains of the library have about ten operations between the exact differences and a term, and high powers
// multiply the relative error of their base (r^-12 by 12, exp(-s) by s <= 10), which makes about 50. Sums add little: a
// tile of 128 terms is summed in working precision (a few epsilon of sum |term|), tiles in double. 64 covers both and
// is small enough that a dropped term of one pair in a hundred thousand, or a root without its refinement, fails in
// single precision.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/nbcc.h"
#include "tests/support/experiment.h"

namespace nbcc::test {

inline constexpr double kRoundings = 64;

inline double epsilon(nbcc_precision precision) {
  return precision == NBCC_DOUBLE ? std::numeric_limits<double>::epsilon()
                                  : double(std::numeric_limits<float>::epsilon());
}

// NaN and infinity must be met exactly. Reports the worst element only, so that a broken kernel stays readable.
inline void expect_within(const std::vector<double>& got, const std::vector<double>& expected,
                          const std::vector<double>& bounds, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  ASSERT_EQ(got.size(), bounds.size()) << what;
  double worst = 1;
  std::size_t at = got.size();
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k] == expected[k] || (std::isnan(got[k]) && std::isnan(expected[k]))) continue;
    const double ratio = std::fabs(got[k] - expected[k]) / bounds[k];
    if (ratio <= worst) continue;
    worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
    at = k;
  }
  if (at == got.size()) return;
  ADD_FAILURE() << what << "[" << at << "] is " << got[at] << ", expected " << expected[at] << " within " << bounds[at]
                << ", wrong by " << worst << " times that";
}

// A single figure, every element with the same bound.
inline void expect_within(const std::vector<double>& got, const std::vector<double>& expected, double bound,
                          const std::string& what) {
  expect_within(got, expected, std::vector<double>(got.size(), bound), what);
}

}  // namespace nbcc::test
