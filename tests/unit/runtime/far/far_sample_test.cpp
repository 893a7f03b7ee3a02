// Which i a sample has, and the errors of all and of some of them.
#include "runtime/far/far_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace nbcc {
namespace {

KernelSource one_output() {
  KernelSource source;
  FieldLayout output;
  output.name = "pot";
  output.role = Role::Output;
  source.fields = {output};
  source.outputs = 1;
  return source;
}

TEST(FarSample, ErrorsOfSomeAreThoseOfTheirRows) {
  const KernelSource source = one_output();
  FarSample sample(source);
  EXPECT_TRUE(sample.draw(100, 4, {}));
  const std::vector<std::int64_t> drawn(sample.particles().begin(), sample.particles().end());
  ASSERT_EQ(drawn.size(), 4U);
  ASSERT_TRUE(sample.set_exact({10, 20, 10, 20, 10, 20, 10, 20}));  // the sum, then the sum of |terms|
  FarStatistics all, some;
  EXPECT_TRUE(std::ranges::equal(sample.some(), drawn));
  sample.error(std::vector<double>{10, 12, 10, 14}, all);
  EXPECT_EQ(all.sampled, 4);
  EXPECT_DOUBLE_EQ(all.largest, 0.2);
  EXPECT_DOUBLE_EQ(all.error * all.error, (0.1 * 0.1 + 0.2 * 0.2) / 4);

  sample.set_some({drawn[1], drawn[2]});
  EXPECT_TRUE(std::ranges::equal(sample.some(), std::vector{drawn[1], drawn[2]}));
  // The standard error of the mean of 0.01 and 0 is 0.005 / sqrt(2).
  const double bound = sample.error_of_some(std::vector<double>{12, 10}, some);
  EXPECT_NEAR(bound * bound, (0.01 + 0.005 * std::sqrt(2)) / 2, 1e-12);
  EXPECT_EQ(some.sampled, 2);
  EXPECT_DOUBLE_EQ(some.largest, 0.1);
  EXPECT_DOUBLE_EQ(some.error * some.error, 0.1 * 0.1 / 2);
  // The rows of some have their own exact sums.
  ASSERT_TRUE(sample.set_exact({10, 20, 11, 20, 12, 20, 13, 20}));
  sample.error_of_some(std::vector<double>{11, 12}, some);
  EXPECT_EQ(some.error, 0);
  sample.draw(100, 5, {});
  EXPECT_EQ(sample.some().size(), 5U);
}

}  // namespace
}  // namespace nbcc
