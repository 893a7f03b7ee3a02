// What is refused of lists, and how: the entry, what it is and what it may be.
#include "runtime/sum/request/lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "runtime/api/nbcc.hpp"

namespace nbcc {
namespace {

using Numbers = std::vector<std::int64_t>;

// Three i in two groups, three ranges of ten j.
struct Given {
  Numbers i_first{0, 2, 3}, i_order, range_first{0, 1, 3}, j_begin{0, 5, 9}, j_end{4, 5, 10}, j_order;
};

class ListsOfTheCaller : public testing::Test {
 protected:
  static nbcc_lists lists_of(const Given& g) {
    nbcc_lists lists{};
    lists.groups = std::int64_t(g.i_first.size()) - 1;
    lists.ranges = std::int64_t(g.j_begin.size());
    lists.i_first = g.i_first.data();
    lists.i_order = g.i_order.empty() ? nullptr : g.i_order.data();
    lists.range_first = g.range_first.data();
    lists.j_begin = g.j_begin.data();
    lists.j_end = g.j_end.data();
    lists.j_order = g.j_order.empty() ? nullptr : g.j_order.data();
    lists.j_count = std::int64_t(g.j_order.size());
    return lists;
  }
  // What it says against these, over so many particles; "" if nothing.
  static std::string refused(Sum& sum, std::size_t ni, std::size_t nj) {
    std::vector<double> x(ni, 1), y(nj, 2), out(ni, -7);
    sum.bind("xi", x).bind("xj", y).bind("s", out);
    try {
      sum.run();
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
      EXPECT_EQ(out, std::vector<double>(ni, -7));
      return e.what();
    }
    return "";
  }
  static std::string refused(const Given& given, std::size_t ni = 3, std::size_t nj = 10) {
    Sum sum(pipeline_());
    try {
      sum.lists(lists_of(given));
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
      return e.what();
    }
    return refused(sum, ni, nj);
  }
  static Pipeline& pipeline_() {
    static Device device("cpu");
    static Pipeline pipeline = Pipeline::from_text(
        device, "input_i real xi; input_j real xj; output(sum) real s; param real k = 1; s += k * xi * xj;", "product");
    return pipeline;
  }
};

TEST_F(ListsOfTheCaller, AreTakenAsTheyAre) { EXPECT_EQ(refused(Given{}), ""); }

TEST_F(ListsOfTheCaller, AreRefusedWithTheEntry) {
  const auto with = [](auto change) {
    Given given;
    change(given);
    return refused(given);
  };
  EXPECT_EQ(with([](Given& g) { g.i_first = {0, 2, 1}; }), "lists: i_first[2] is 1, less than the 2 before it");
  EXPECT_EQ(with([](Given& g) { g.i_first = {1, 2, 3}; }), "lists: i_first[0] is 1, it must be 0");
  EXPECT_EQ(with([](Given& g) { g.i_order = {0, 1, 3}; }), "lists: i_order[2] is 3, it must be from 0 to 2");
  EXPECT_EQ(with([](Given& g) { g.i_order = {0, 1, 1}; }), "lists: i_order[2] is 1, which has occurred before");
  EXPECT_EQ(with([](Given& g) { g.range_first = {0, 1, 2}; }),
            "lists: range_first[2], the last, is 2, but there are 3 ranges");
  EXPECT_EQ(with([](Given& g) { g.j_begin[1] = -1; }), "lists: j_begin[1] is -1, it must be 0 or more");
  EXPECT_EQ(with([](Given& g) { g.j_end[0] = -1; }),
            "lists: j_end[0] is -1, it must be from j_begin[0], 0, to 2147483647");
  EXPECT_EQ(with([](Given& g) { g.j_order = {0, 0}; }), "lists: j_order[1] is 0, which has occurred before");
}

// How many particles there are is known by the run.
TEST_F(ListsOfTheCaller, AreHeldAgainstTheParticles) {
  EXPECT_EQ(refused(Given{}, 4), "lists: the groups have 3 i-particles, but there are 4");
  EXPECT_EQ(refused(Given{}, 3, 9), "lists: j_end[2] is 10, but there are 9 j-particles");
  Given ordered;
  ordered.j_order = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_EQ(refused(ordered), "");
  EXPECT_EQ(refused(ordered, 3, 11), "lists: j_order has 10 entries, but there are 11 j-particles");
}

TEST_F(ListsOfTheCaller, AreOfAllIOrOfSome) {
  Sum sum(pipeline_());
  std::vector<double> x(3, 1), y(10, 2), out(3);
  sum.bind("xi", x).bind("xj", y).bind("s", out).lists(lists_of(Given{}));
  sum.run(1, 2);
  EXPECT_EQ(out, (std::vector<double>{0, 8, 2}));
  sum.run();
  EXPECT_EQ(out, (std::vector<double>{8, 8, 2}));
  sum.no_lists().run();
  EXPECT_EQ(out, (std::vector<double>{20, 20, 20}));
}

TEST_F(ListsOfTheCaller, ShiftsNeedPlaces) {
  Given given;
  nbcc_lists lists = lists_of(given);
  const std::vector<double> shifts(9);
  lists.shifts = shifts.data();
  lists.axes = 3;
  try {
    Sum(pipeline_()).lists(lists);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("it is not proved which inputs of j are the positions of pipeline"));
  }
}

TEST_F(ListsOfTheCaller, BatchesAreInOrder) {
  Sum sum(pipeline_());
  const auto refused_ids = [&](const Numbers& i, const Numbers& j) -> std::string {
    try {
      sum.batches(3, i, j);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refused_ids({0, 1}, {0, 3}), "batches: j_batch[1] is 3, it must be from 0 to 2");
  EXPECT_EQ(refused_ids({0, 2, 1}, {0}),
            "batches: i_batch[2] is 1, less than the 2 before it: the particles of a batch must be contiguous");
  EXPECT_EQ(refused_ids({0, 2, 2}, {0, 1, 2}), "");
  std::vector<double> x{1, 1, 1}, y{1, 10, 100}, out(3);
  sum.bind("xi", x).bind("xj", y).bind("s", out).run();
  EXPECT_EQ(out, (std::vector<double>{1, 100, 100}));
  EXPECT_THROW(sum.set_batch("k", std::vector<double>{1, 2}), Error);
  EXPECT_THROW(sum.set_batch("xi", std::vector<double>{1, 2, 3}), Error);
  sum.set_batch("k", std::vector<double>{1, 2, 3}).run();
  EXPECT_EQ(out, (std::vector<double>{1, 300, 300}));
  sum.set("k", 5.0).run();
  EXPECT_EQ(out, (std::vector<double>{5, 500, 500}));
}

// What is kept is counted by the particles, and so is the time: an id costs nothing by being large.
TEST(Batches, CostByTheParticlesAlone) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - 1;
  const Numbers i{0, 7, 7, 5'000'000'000, most}, j{1, 7, 5'000'000'000, 5'000'000'000, most - 1};
  const Lists lists = lists_of_batches(most + 1, i, j);
  EXPECT_EQ(lists.groups(), 4);
  EXPECT_EQ(lists.caller_groups(), most + 1);
  EXPECT_EQ(lists.batch_ids, (Numbers{0, 7, 5'000'000'000, most}));
  EXPECT_EQ(lists.i_first, (Numbers{0, 1, 3, 4, 5}));
  EXPECT_EQ(lists.range_first, (Numbers{0, 1, 2, 3, 4}));
  for (std::size_t g = 0; g < 4; ++g) EXPECT_EQ(lists.j_end[g] - lists.j_begin[g], (Numbers{0, 1, 2, 0})[g]) << g;
  EXPECT_EQ(lists.j_begin[1], 1);
  EXPECT_EQ(lists.j_begin[2], 2);
  EXPECT_EQ(lists.pairs, 4);
  EXPECT_EQ(lists_of_batches(0, {}, {}).groups(), 0);
  EXPECT_EQ(lists_of_batches(most, {}, j).groups(), 0);
  EXPECT_EQ(lists_of_batches(most, Numbers{3}, {}).groups(), 1);
}

TEST_F(ListsOfTheCaller, BatchesAreOfAllParticles) {
  Sum sum(pipeline_());
  sum.batches(3, Numbers{0, 2, 2}, Numbers{0, 1, 2, 2});
  EXPECT_EQ(refused(sum, 3, 4), "");
  EXPECT_EQ(refused(sum, 2, 4), "batches: i_batch has 3 entries, but there are 2 i-particles");
  EXPECT_EQ(refused(sum, 4, 4), "batches: i_batch has 3 entries, but there are 4 i-particles");
  EXPECT_EQ(refused(sum, 3, 3), "batches: j_batch has 4 entries, but there are 3 j-particles");
  EXPECT_EQ(refused(sum, 3, 5), "batches: j_batch has 4 entries, but there are 5 j-particles");
}

// Values by batch end with the batches: a param that has no others is not set then.
TEST_F(ListsOfTheCaller, ParamsOfBatchesEndWithThem) {
  const Device device("cpu");
  const Pipeline weighted =
      Pipeline::from_text(device, "input_j real xj; param real w; output(sum) real s; s += w * xj;", "weighted");
  Sum sum(weighted);
  std::vector<double> y{1, 10}, out(2);
  const Numbers ids{0, 1};
  sum.bind("xj", y).bind("s", out).batches(2, ids, ids).set_batch("w", std::vector<double>{1, 2}).run();
  EXPECT_EQ(out, (std::vector<double>{1, 20}));
  sum.batches(2, ids, ids);
  EXPECT_THROW(sum.run(), Error);
  EXPECT_EQ(out, (std::vector<double>{1, 20}));
}

TEST_F(ListsOfTheCaller, AbsurdSizesAreRefused) {
  Given given;
  given.i_first = {0, 2, std::int64_t(1) << 61};
  EXPECT_THAT(refused(given), testing::HasSubstr("exceed the maximum of 2147483647"));
}

TEST_F(ListsOfTheCaller, RowsAreRefusedWithTheEntry) {
  Sum sum(pipeline_());
  const auto refused_rows = [&](const Numbers& first, const Numbers& j) -> std::string {
    try {
      sum.listed_pairs(first, j);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refused_rows({0, 2, 1}, {0}), "pairs: first[2] is 1, less than the 2 before it");
  EXPECT_EQ(refused_rows({0, 2}, {0}), "pairs: first[1], the last, is 2, but there are 1 entries of j");
  EXPECT_EQ(refused_rows({0, 1}, {-4}), "pairs: j[0] is -4, it must be from 0 to 2147483646");
  EXPECT_EQ(refused_rows({0, 1, 1}, {7}), "");
  EXPECT_EQ(refused(sum, 3, 10), "pairs: there are rows for 2 i-particles, but there are 3");
  EXPECT_EQ(refused(sum, 2, 7), "pairs: j[0] is 7, but there are 7 j-particles");
  sum.exclusions(Numbers{0, 0, 0}, Numbers{});
  EXPECT_EQ(refused(sum, 2, 8), "exclusions: cannot be combined with listed pairs; do not list the excluded pairs");
}

// A pipeline with inputs of pairs sums over listed pairs, and says so.
TEST_F(ListsOfTheCaller, InputsOfPairsWantPairs) {
  const Device device("cpu");
  const Pipeline springs = Pipeline::from_text(
      device, "input_i real xi; input_j real xj; input_pair real k; output(sum) real s; s += k * (xj - xi);",
      "springs");
  Sum sum(springs);
  EXPECT_THAT(refused(sum, 2, 2), testing::HasSubstr("has inputs or results of pairs (input_pair, output(pair)): it "
                                                     "sums over listed pairs"));
  EXPECT_THROW(sum.lists(lists_of(Given{})), Error);
  EXPECT_THROW(sum.exclusions(Numbers{0, 0, 0}, Numbers{}), Error);
  sum.listed_pairs(Numbers{0, 1, 1}, Numbers{1});
  EXPECT_THAT(refused(sum, 2, 2), testing::HasSubstr("input_pair 'k' of pipeline 'springs' is not bound"));
  std::vector<double> k{2, 3};
  sum.bind("k", k);
  EXPECT_THAT(refused(sum, 2, 2), testing::HasSubstr("are 2, but 1 are listed"));
}

}  // namespace
}  // namespace nbcc
