#include "runtime/sum/request/overlap.h"

#include <gtest/gtest.h>

#include <array>

namespace nbcc {
namespace {

class OverlapTest : public testing::Test {
 protected:
  // Ten particles of `components` doubles, `stride` doubles apart, from number `first` of one block on.
  ArrayView view(int first, int stride) { return {&block_[std::size_t(first)], Element::Double, 10, 8 * stride, 8}; }
  std::array<double, 200> block_{};
};

TEST_F(OverlapTest, ArraysThatLieApart) {
  EXPECT_TRUE(independent(view(0, 3), 3, view(30, 3), 3));
  EXPECT_TRUE(disjoint(view(0, 3), 3, view(30, 3), 3));
  EXPECT_TRUE(disjoint(view(30, 3), 3, view(0, 3), 3));
}

TEST_F(OverlapTest, TheSameArrayIsIndependentAndNotDisjoint) {
  EXPECT_TRUE(independent(view(0, 3), 3, view(0, 3), 3));
  EXPECT_FALSE(disjoint(view(0, 3), 3, view(0, 3), 3));
}

TEST_F(OverlapTest, MembersOfOneStruct) {
  EXPECT_TRUE(independent(view(0, 6), 3, view(3, 6), 3));
  EXPECT_TRUE(disjoint(view(0, 6), 3, view(3, 6), 3));
  EXPECT_FALSE(disjoint(view(0, 6), 3, view(2, 6), 3));
}

TEST_F(OverlapTest, OtherParticlesInTheWay) {
  EXPECT_FALSE(independent(view(0, 1), 1, view(1, 1), 1));
  EXPECT_FALSE(independent(view(0, 3), 3, view(0, 4), 3));
  EXPECT_FALSE(disjoint(view(0, 3), 3, view(29, 3), 3));
}

TEST_F(OverlapTest, NegativeStrides) {
  EXPECT_TRUE(disjoint(view(9, -1), 1, view(10, 1), 1));
  EXPECT_FALSE(disjoint(view(9, -1), 1, view(9, 1), 1));
  EXPECT_EQ(bytes_of(view(9, -1), 1).high - bytes_of(view(9, -1), 1).low, 80);
}

TEST_F(OverlapTest, TheFirstPairOfBoundArraysIsFound) {
  const auto field = [](const char* name, Role role) {
    FieldLayout layout;
    layout.name = name, layout.role = role;
    return layout;
  };
  const std::vector<FieldLayout> fields{field("xi", Role::InputI), field("xj", Role::InputJ), field("s", Role::Output),
                                        field("t", Role::Output)};
  const ArrayView shared = view(0, 1), none;
  std::vector<ArrayView> views{shared, shared, none, shared};
  const auto found = find_overlap(fields, views, disjoint);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->input, 0u);
  EXPECT_EQ(found->output, 3u);
  const auto of_j = [&](std::size_t input, std::size_t) { return fields[input].role == Role::InputJ; };
  EXPECT_EQ(find_overlap(fields, views, disjoint, of_j)->input, 1u);
  EXPECT_FALSE(find_overlap(fields, views, independent));
  views[1] = none;
  EXPECT_FALSE(find_overlap(fields, views, disjoint, of_j));
}

}  // namespace
}  // namespace nbcc
