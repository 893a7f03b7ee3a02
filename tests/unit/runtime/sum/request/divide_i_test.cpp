#include "runtime/sum/request/divide_i.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace nbcc {
namespace {

TEST(DivideI, AtLeastOneMultipleFits) {
  EXPECT_EQ(i_within(1000, 10), 100);
  EXPECT_EQ(i_within(1000, 10, 64), 64);
  EXPECT_EQ(i_within(1000, 300, 64), 64);
  EXPECT_EQ(i_within(10, 300), 1);
}

TEST(DivideI, RangesFollowEachOther) {
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const auto ranges = [](std::int64_t count, std::int64_t most) {
    Ranges made;
    for_ranges_of_i(count, most, [&](std::int64_t begin, std::int64_t of) { made.push_back({begin, of}); });
    return made;
  };
  EXPECT_EQ(ranges(7, 3), (Ranges{{0, 3}, {3, 3}, {6, 1}}));
  EXPECT_EQ(ranges(6, 3), (Ranges{{0, 3}, {3, 3}}));
  EXPECT_EQ(ranges(7, 0), (Ranges{{0, 7}}));
  EXPECT_EQ(ranges(0, 0), Ranges());
}

TEST(DivideI, ChosenIOfARangeOrAList) {
  const std::int64_t list[] = {5, 9, 1, 4};
  SumRequest run;
  run.i_begin = 10;
  run.i_count = 8;
  EXPECT_EQ(with_i(run, 3, 2).i_begin, 13);
  EXPECT_EQ(with_i(run, 3, 2).i_count, 2);
  run.i_begin = 0;
  run.i_count = 4;
  run.i_list = list;
  EXPECT_EQ(with_i(run, 1, 2).i_list, list + 1);
  EXPECT_EQ(with_i(run, 1, 2).i_begin, 0);
}

}  // namespace
}  // namespace nbcc
