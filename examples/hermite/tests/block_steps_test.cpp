// Who is moved when.
#include "examples/hermite/block_steps.h"

#include <gtest/gtest.h>

namespace examples {
namespace {

using Block = std::vector<std::int64_t>;

TEST(BlockSteps, ABlockIsThoseWhoseStepsEndFirst) {
  BlockSteps steps(1, 3);
  steps.begin(std::vector<float>{1, 0.25, 0.3F, 0.6F});
  steps.go();
  EXPECT_EQ(steps.now(), 2);
  EXPECT_EQ(steps.block(), (Block{1, 2}));
}

TEST(BlockSteps, WantedStepsAreInTheOrderOfTheBlock) {
  BlockSteps steps(1, 3);
  steps.begin(std::vector<float>{0.5, 0.25, 0.5, 0.5});
  steps.go();
  steps.end_block(std::vector<float>{0.25});
  steps.go();
  ASSERT_EQ(steps.block(), (Block{1, 0, 2, 3}));
  steps.end_block(std::vector<float>{0.25, 0.5, 0.125, 0.5});
  steps.go();
  EXPECT_EQ(steps.block(), (Block{2}));
}

// As where the particles of others are moved in between.
TEST(BlockSteps, BeforeTheNextTimeNobodyIsMoved) {
  BlockSteps steps(1, 3);
  steps.begin(std::vector<float>{0.5, 0.5, 1});
  EXPECT_EQ(steps.next(), 4);
  EXPECT_EQ(steps.next_count(), 2);
  steps.go(3);
  EXPECT_EQ(steps.now(), 3);
  EXPECT_EQ(steps.block(), Block{});
  steps.end_block({});
  EXPECT_EQ(steps.next(), 4);
  steps.go();
  EXPECT_EQ(steps.block(), (Block{0, 1}));
  steps.end_block(std::vector<float>{0.5, 0.5});
  EXPECT_EQ(steps.next(), 8);
  EXPECT_EQ(steps.next_count(), 3);
}

TEST(BlockSteps, WithoutParticlesTimeGoesByLargestSteps) {
  BlockSteps steps(1, 3);
  steps.begin({});
  EXPECT_EQ(steps.next(), 8);
  EXPECT_EQ(steps.next_count(), 0);
  steps.go(5);
  steps.end_block({});
  EXPECT_EQ(steps.next(), 8);
}

TEST(BlockSteps, AStepGrowsByAFactorOfTwoAndWhereItsMultiplesAllow) {
  BlockSteps steps(1, 3);
  steps.begin(std::vector<float>{0.125});
  steps.go();  // at 1 of 8 no longer step begins
  steps.end_block(std::vector<float>{1});
  steps.go();
  EXPECT_EQ(steps.now(), 2);
  steps.end_block(std::vector<float>{1});
  steps.go();
  EXPECT_EQ(steps.now(), 4);
}

TEST(BlockSteps, AStepShrinksAtOnceButNotBelowTheSmallest) {
  BlockSteps steps(1, 3);
  steps.begin(std::vector<float>{1});
  steps.go();
  steps.end_block(std::vector<float>{0.001F});
  EXPECT_EQ(steps.next() - steps.now(), 1);
}

}  // namespace
}  // namespace examples
