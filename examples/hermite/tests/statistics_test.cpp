#include "examples/hermite/statistics.h"

#include <gtest/gtest.h>

namespace examples {
namespace {

TEST(Statistics, SinceAnEarlierTimeAreTheLaterBlocks) {
  Statistics run(5);
  run.add(3, {.host = 1, .force = 2});
  run.count({0, 1, 2});
  const Statistics earlier = run;
  run.add(2, {.host = 4, .force = 8, .steps = 16});
  run.count({3, 4});
  run.add(5, {.force = 32});
  run.count({0, 1, 2, 3, 4});
  const Statistics later = run.since(earlier);
  EXPECT_EQ(later.blocks(), 2);
  EXPECT_EQ(later.steps(), 7);
  EXPECT_EQ(later.seconds().sum(), 4 + 8 + 16 + 32);
  EXPECT_EQ(later.steps_of_each(), (std::vector<std::int64_t>{1, 1, 1, 2, 2}));
  EXPECT_EQ(later.bins()[1].particles, 2);  // 2 and 3 particles
  EXPECT_EQ(later.bins()[2].particles, 5);
}

}  // namespace
}  // namespace examples
