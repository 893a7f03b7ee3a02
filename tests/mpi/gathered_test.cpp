// Sums that need all j at once, over the ranks of MPI against the same sums in one process: lists, batches, listed
// pairs, exclusions, every_image(); each pair once; and what goes wrong on one rank.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/mpi/gathered_case.h"

namespace nbcc::test::ranks {
namespace {

// Positions are multiples of 1/4, so that all but `pot` and the histogram of each i are exact.
const std::string kText = R"(
input_i vec3 xi; input_j vec3 xj; input_j double mj;
param real scale = 1;
output(sum) real pot;
output(count) index pairs;
output(sum) index last;
output(argmin) index near;
output(sum) real shells[6];
output(total) index all;
vec3 d = xj - xi;
real r2 = scale * dot(d, d);
pot += mj / (r2 + 1.0);
pairs += r2 < 2;
last += j_index;
near = argmin(near, r2 + 0.001 * mj);
shells[int(r2)] += mj;
all += 1;
)";

TEST_F(GatheredTest, Exclusions) {
  const Rows rows = random_rows(90, 200, 6, 3);
  expect_those_of_one_process(kText, 90, 200, [&](nbcc::Sum& sum, std::int64_t begin, std::int64_t end) {
    const Rows own = rows.part(begin, end);
    sum.exclusions(own.first, own.j);
  });
}

TEST_F(GatheredTest, ListedPairs) {
  const Rows rows = random_rows(90, 200, 9, 4);
  expect_those_of_one_process(kText, 90, 200, [&](nbcc::Sum& sum, std::int64_t begin, std::int64_t end) {
    const Rows own = rows.part(begin, end);
    sum.listed_pairs(own.first, own.j);
  });
}

// Groups of three i in turn of the i of a sum; the ranges of a group depend on its first i among all.
TEST_F(GatheredTest, Lists) {
  const Rows rows = random_rows(90, 150, 4, 5);
  expect_those_of_one_process(kText, 90, 200, [&](nbcc::Sum& sum, std::int64_t begin, std::int64_t end) {
    // Each i is a group of its own, so that groups do not depend on how the i are spread.
    Indices i_first{0}, range_first{0}, j_begin, j_end;
    for (std::int64_t i = begin; i < end; ++i) {
      i_first.push_back(i - begin + 1);
      for (std::int64_t k = rows.first[std::size_t(i)]; k < rows.first[std::size_t(i + 1)]; ++k) {
        j_begin.push_back(rows.j[std::size_t(k)]);
        j_end.push_back(rows.j[std::size_t(k)] + 37);
      }
      range_first.push_back(std::int64_t(j_begin.size()));
    }
    nbcc_lists lists{};
    lists.size = sizeof lists;
    lists.groups = end - begin;
    lists.ranges = std::int64_t(j_begin.size());
    lists.i_first = i_first.data();
    lists.range_first = range_first.data();
    lists.j_begin = j_begin.data();
    lists.j_end = j_end.data();
    lists.j_count = 200;
    sum.lists(lists);
  });
}

TEST_F(GatheredTest, BatchesWithParamsOfTheirOwn) {
  Indices i_batch, j_batch;
  for (std::int64_t i = 0; i < 90; ++i) i_batch.push_back(i * i / 1100);
  for (std::int64_t j = 0; j < 200; ++j) j_batch.push_back(j / 26);
  const Reals scales{1, 0.5, 0.25, 1, 0.5, 0.25, 1, 0.5};
  expect_those_of_one_process(kText, 90, 200, [&](nbcc::Sum& sum, std::int64_t begin, std::int64_t end) {
    sum.batches(8, Indices(i_batch.begin() + begin, i_batch.begin() + end), j_batch).set_batch("scale", scales);
  });
}

// A search, exclusions of single images, indices of all ranks.
TEST_F(GatheredTest, EveryImage) {
  const std::string text = R"(
input_i vec3 xi; input_j vec3 xj; input_j double mj;
output(sum) real pot; output(count) index pairs; output(sum) index last; output(total) index all;
vec3 d = every_image(xj - xi, 2.0);
real r2 = dot(d, d);
skip_if(self_pair || r2 > 5);
pot += mj / (r2 + 1.0); pairs += r2 < 2; last += j_index; all += 1;
)";
  expect_those_of_one_process(text, 120, 120, [](nbcc::Sum&, std::int64_t, std::int64_t) {}, true);
  const Rows rows = random_rows(120, 120, 3, 6);
  expect_those_of_one_process(
      text, 120, 120,
      [&](nbcc::Sum& sum, std::int64_t begin, std::int64_t end) {
        const Rows own = rows.part(begin, end);
        const Indices images(3 * own.j.size(), 1);
        sum.exclusions(own.first, own.j, images);
      },
      true);
}

// Histograms of each i and of the run: in blocks, without what needs all j.
TEST_F(GatheredTest, HistogramsInBlocks) {
  const std::string text = R"(
input_i vec3 xi; input_j vec3 xj; input_j double mj;
output(sum) real shells[6]; output(sum) index counts[6]; output(total) index all[6]; output(total) double energy;
vec3 d = xj - xi;
int k = int(dot(d, d));
shells[k] += mj; counts[k] += 1; all[k] += 1; energy += mj;
)";
  expect_those_of_one_process(text, 90, 200, [](nbcc::Sum&, std::int64_t, std::int64_t) {});
}

// Each pair is computed once where i and j are one set on one process; over several ranks from both ends, and the
// statistics say why. Pairs listed once act on particles of other ranks, and are refused.
TEST_F(GatheredTest, EachPairOnce) {
  const std::string text = R"(
input_i vec3 xi; input_j vec3 xj; input_i double mi; input_j double mj;
output(sum) real pot;
vec3 d = xj - xi;
pot += mi * mj / (dot(d, d) + 1.0);
)";
  const nbcc::Pipeline pipeline = compiled(text);
  const Particles all = random_particles(100, 7);
  const std::int64_t begin = first_of(100, rank, 1), end = first_of(100, rank + 1, 1);
  const auto bound = [&](nbcc::Sum& sum, Particles& one, Reals& pot) {
    pot.assign(one.m.size(), -7);
    sum.bind("xi", one.x).bind("xj", one.x).bind("mi", one.m).bind("mj", one.m).bind("pot", pot);
    sum.symmetric(NBCC_SYMMETRIC_ALWAYS);
  };
  Particles whole = all, part = all.part(begin, end);
  nbcc::Sum alone(pipeline), mine(pipeline);
  Reals pot_alone, pot;
  bound(alone, whole, pot_alone);
  bound(mine, part, pot);
  alone.run();
  EXPECT_STREQ(alone.statistics().method, "symmetric");
  ring.run(mine);
  const Reals expected = rows_of(pot_alone, 100, begin, end);
  Reals bounds;
  for (const double value : expected) bounds.push_back(256 * nbcc::test::epsilon(NBCC_DOUBLE) * value);
  nbcc::test::expect_within(pot, expected, bounds, "symmetric");
  if (end > begin) {
    EXPECT_STREQ(mine.statistics().method, "all pairs");
    EXPECT_NE(std::string(mine.statistics().reason).find("symmetric: the j come in parts"), std::string::npos)
        << mine.statistics().reason;
  }
  const Rows rows = random_rows(end - begin, 100, 0, 8);
  mine.listed_pairs(rows.first, rows.j).symmetric(NBCC_SYMMETRIC_LISTED);
  if (rank_count() == 1) return;
  try {
    ring.run(mine);
    FAIL();
  } catch (const nbcc::Error& e) {
    EXPECT_STREQ(e.what(), "rank 0: symmetric = listed: i and j are two sets");
  }
}

// ---- what goes wrong on one rank

class GatheredErrors : public GatheredTest {
 protected:
  const int last = rank_count() - 1;
  const Particles all = random_particles(50, 4);
  const nbcc::Pipeline pipeline = compiled(kText);

  void expect_error(Bound& bound, const std::string& message) {
    std::string told = "nothing";
    try {
      ring.run(bound.sum);
    } catch (const nbcc::Error& e) {
      told = e.what();
      EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
    }
    EXPECT_EQ(told, message);
    for (const auto& [name, column] : bound.columns) EXPECT_EQ(column, Reals(column.size(), -7)) << name;
  }
};

TEST_F(GatheredErrors, ExclusionsOfAnotherNumberOfI) {
  Bound mine(pipeline, all, all);
  const Rows own = random_rows(50, 50, 2, 3), other = random_rows(49, 50, 2, 3);
  if (rank == last)
    mine.sum.exclusions(other.first, other.j);
  else
    mine.sum.exclusions(own.first, own.j);
  expect_error(mine,
               "rank " + std::to_string(last) + ": exclusions: there are rows for 49 i-particles, but there are 50");
}

TEST_F(GatheredErrors, AnIndexBeyondTheJOfAllRanks) {
  Bound mine(pipeline, all, all);
  Rows own = random_rows(50, 50, 2, 3);
  const std::int64_t nj = 50 * std::int64_t(rank_count());
  own.j[5] = nj;
  mine.sum.listed_pairs(own.first, own.j);
  std::string told;
  try {
    ring.run(mine.sum);
  } catch (const nbcc::Error& e) {
    told = e.what();
  }
  EXPECT_NE(told.find(std::to_string(nj)), std::string::npos) << told;
  EXPECT_EQ(told.substr(0, 8), "rank 0: ");
}

// Lists of one rank are enough for all ranks to gather.
TEST_F(GatheredErrors, ListsOnOneRankAlone) {
  Bound mine(pipeline, all, all), whole(pipeline, all, all);
  const Rows own = random_rows(50, 50, 2, 3);
  if (rank == last) mine.sum.exclusions(own.first, own.j);
  ring.run(mine.sum);
  whole.sum.run();
  if (rank != last)
    for (std::size_t k = 0; k < 50; ++k)
      EXPECT_EQ(mine.columns["pairs"][k], double(rank_count()) * whole.columns["pairs"][k]);
}

}  // namespace
}  // namespace nbcc::test::ranks
