// How close is close enough, said once for all numeric tests.
//
// Against the oracle: Oracle::bounds, the error analysis of `nbcc verify` of the very pairs, nothing to choose.
//
// Against a closed form: kRoundings * epsilon * (sum |term|, which the test knows or takes from the oracle). Each
// operation is good to 2 ulp and the longest chains of the library have about ten between the differences and a term;
// high powers multiply the relative error of their base (r^-12 by 12, exp(-s) by s), which makes about 50. Sums add
// little: a tile of 128 terms is summed in working precision, tiles in double. 64 covers both.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/api/nbcc.h"
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
