// Sums that need all j at once, over the ranks of MPI against the same sums in one process: lists, batches, listed
// pairs, exclusions, every_image(), results of pairs, tolerances; and what goes wrong on one rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mpi/nbcc_mpi.hpp"
#include "tests/mpi/mpi_ranks.h"
#include "tests/support/folders.h"
#include "tests/support/tolerance.h"

namespace {

using nbcc::test::own_rank;
using nbcc::test::rank_count;
using Indices = std::vector<std::int64_t>;
using Reals = std::vector<double>;

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

nbcc::Device& device() {
  const char* const asked = std::getenv("NBCC_MPI_DEVICE");
  static nbcc::Device one(asked ? asked : "cpu",
                          {.threads = 1, .cache_dir = nbcc::test::build_folder() + "/test-cache"});
  return one;
}
nbcc::Pipeline compiled(const std::string& text, nbcc_precision precision = NBCC_DOUBLE) {
  return nbcc::Pipeline::from_text(device(), text, "gathered", {.precision = precision});
}

struct Particles {
  Reals x, m;
  std::int64_t count() const { return std::int64_t(m.size()); }
  Particles part(std::int64_t begin, std::int64_t end) const {
    return {{x.begin() + 3 * begin, x.begin() + 3 * end}, {m.begin() + begin, m.begin() + end}};
  }
};

Particles random_particles(std::int64_t count, unsigned seed, double spacing = 0.25, unsigned cells = 8) {
  std::mt19937 random(seed);
  Particles made;
  for (std::int64_t n = 0; n < 3 * count; ++n)
    made.x.push_back(spacing == 0 ? double(random()) / 4294967296.0 : spacing * double(random() % cells));
  for (std::int64_t n = 0; n < count; ++n) made.m.push_back(double(random() % 64 + 1) / 16);
  return made;
}

// The first particle of a rank. `style`: evenly, rising numbers, none on all but the last.
constexpr int kStyles = 3;
std::int64_t first_of(std::int64_t count, int rank, int style) {
  const std::int64_t ranks = rank_count();
  if (style == 0) return count * rank / ranks;
  if (style == 1) return count * rank * rank / (ranks * ranks);
  return rank == ranks ? count : 0;
}

// A sum with its arrays. The arrays of j are single precision on odd ranks.
class Bound {
 public:
  Bound(const nbcc::Pipeline& pipeline, Particles i, Particles j, bool is_single = false)
      : sum(pipeline), i_(std::move(i)), j_(std::move(j)), narrow_(j_.x.begin(), j_.x.end()) {
    sum.bind("xi", i_.x);
    if (is_single)
      sum.bind("xj", narrow_);
    else
      sum.bind("xj", j_.x);
    sum.bind("mj", j_.m);
    for (const nbcc::Field& field : pipeline.fields()) {
      if (field.role != NBCC_OUTPUT) continue;
      Reals& column = columns[field.name];
      const std::int64_t rows = field.total ? 1 : i_.count();
      column.assign(std::size_t(rows * field.components), -7.0);
      if (field.total)
        sum.bind(field.name, nbcc::view(column.data(), 1));
      else
        sum.bind(field.name, column);
    }
  }
  Bound(const Bound&) = delete;
  nbcc::Sum sum;
  std::map<std::string, Reals> columns;

 private:
  Particles i_, j_;
  std::vector<float> narrow_;
};

struct Rows {
  Indices first{0}, j;
  Rows part(std::int64_t begin, std::int64_t end) const {
    Rows own;
    own.j.assign(j.begin() + first[std::size_t(begin)], j.begin() + first[std::size_t(end)]);
    for (std::int64_t i = begin; i < end; ++i)
      own.first.push_back(first[std::size_t(i + 1)] - first[std::size_t(begin)]);
    return own;
  }
};

Rows random_rows(std::int64_t ni, std::int64_t nj, unsigned most, unsigned seed) {
  std::mt19937 random(seed);
  Rows rows;
  for (std::int64_t i = 0; i < ni; ++i) {
    for (unsigned k = random() % (most + 1); k > 0; --k) rows.j.push_back(std::int64_t(random()) % nj);
    rows.first.push_back(std::int64_t(rows.j.size()));
  }
  return rows;
}

class GatheredTest : public testing::Test {
 protected:
  nbcc::MpiRing ring{MPI_COMM_WORLD, device()};
  const int rank = own_rank();

  // The rows of this rank's i in a column of one process.
  static Reals rows_of(const Reals& column, std::int64_t ni, std::int64_t begin, std::int64_t end) {
    const std::int64_t width = std::int64_t(column.size()) / std::max<std::int64_t>(ni, 1);
    return {column.begin() + begin * width, column.begin() + end * width};
  }
  static void expect_part(const Bound& mine, const Bound& whole, std::int64_t ni, std::int64_t begin, std::int64_t end,
                          const std::string& what) {
    for (const auto& [name, column] : whole.columns) {
      const bool is_total = name == "all" || name == "energy";
      const Reals expected = is_total ? column : rows_of(column, ni, begin, end);
      const bool rounded = name == "pot" || name == "shells" || name == "energy";
      Reals bounds;
      for (const double value : expected)
        bounds.push_back(rounded ? nbcc::test::kRoundings * nbcc::test::epsilon(NBCC_DOUBLE) * std::fabs(value) : 0);
      nbcc::test::expect_within(mine.columns.at(name), expected, bounds, what + ", " + name);
    }
  }
  // Sums with what `give` gives: give(sum, first i of the sum, one past its last).
  template <typename Give>
  void expect_those_of_one_process(const std::string& text, std::int64_t ni, std::int64_t nj, const Give& give,
                                   bool one_set = false) {
    const nbcc::Pipeline pipeline = compiled(text);
    const Particles all_i = random_particles(ni, 1), all_j = one_set ? all_i : random_particles(nj, 2);
    Bound whole(pipeline, all_i, all_j);
    give(whole.sum, 0, ni);
    whole.sum.run();
    for (int style = 0; style < kStyles; ++style) {
      const std::int64_t begin = first_of(ni, rank, style), end = first_of(ni, rank + 1, style);
      const int style_of_j = one_set ? style : (style + 1) % kStyles;
      Bound mine(pipeline, all_i.part(begin, end),
                 all_j.part(first_of(nj, rank, style_of_j), first_of(nj, rank + 1, style_of_j)), rank % 2 == 1);
      give(mine.sum, begin, end);
      for (int times = 0; times < 2; ++times) {
        ring.run(mine.sum);
        expect_part(mine, whole, ni, begin, end, "style " + std::to_string(style));
        EXPECT_EQ(ring.i_offset(rank), begin);
        EXPECT_EQ(ring.j_offset(rank), first_of(nj, rank, style_of_j));
      }
    }
  }
};

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

// ---- tolerances

// `order`: as of nbcc_far_choice, so that a far field is used at any cost; 0: the ranks choose.
struct FarCase {
  std::string text;
  double tolerance;
  std::int64_t count;
  int order;
};
const std::string kGravity = R"(
input_i vec3 xi; input_j vec3 xj; input_j double mj;
param real cell = 1;
output(sum) real pot; output(total) double energy;
vec3 d = xj - xi;
pot += mj * rsqrt(dot(d, d) + 0.0001);
void finish() { energy += pot; }
)";
const std::string kPeriodic = R"(
input_i vec3 xi; input_j vec3 xj; input_j double mj;
param real cell = 1;
output(sum) real pot;
vec3 d = every_image(xj - xi, cell);
skip_if(self_pair);
pot += mj * rsqrt(dot(d, d));
)";

class GatheredFar : public GatheredTest {
 protected:
  // The rms over all i of the difference to one process, whose sums are exact or have a smaller tolerance.
  void expect_tolerance(const FarCase& one, int style) {
    const std::string what = std::to_string(one.tolerance) + ", style " + std::to_string(style);
    const nbcc::Pipeline pipeline = compiled(one.text, NBCC_SINGLE), exact = compiled(one.text);
    const Particles all = random_particles(one.count, 9, 0);
    const std::int64_t begin = first_of(one.count, rank, style), end = first_of(one.count, rank + 1, style);
    Bound whole(exact, all.part(begin, end), all), mine(pipeline, all.part(begin, end), all.part(begin, end));
    whole.sum.offsets(begin, 0);
    if (one.text == kPeriodic) whole.sum.tolerance(one.tolerance / 100);
    whole.sum.run();
    const Reals terms = one.text == kPeriodic ? terms_of(all, begin, end) : whole.columns["pot"];
    const nbcc_far_choice choice{sizeof choice, one.order, 0, 0};
    ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), one.tolerance, &choice, nullptr), NBCC_OK);
    for (int times = 0; times < 3; ++times) {
      ring.run(mine.sum);
      double sums[] = {0, double(end - begin)};
      for (std::size_t k = 0; k < std::size_t(end - begin); ++k)
        sums[0] += std::pow((mine.columns["pot"][k] - whole.columns["pot"][k]) / terms[k], 2);
      // Those of the nearest images fill a box; those of all near images more, whose terms grow as its length squared.
      if (one.text == kPeriodic) sums[0] /= std::pow(std::cbrt(whole.sum.statistics().images), 4);
      MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_LE(std::sqrt(sums[0] / sums[1]), 1.3 * one.tolerance) << what;
      expect_same_choice(mine.sum.statistics(), end > begin, one, what);
    }
  }
  // [i]: the terms of the nearest images alone, all positive, in a box of length 1.
  static Reals terms_of(const Particles& all, std::int64_t begin, std::int64_t end) {
    Reals terms;
    for (std::int64_t i = begin; i < end; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < all.count(); ++j) {
        double r2 = 0;
        for (int c = 0; c < 3; ++c) {
          const double d = all.x[std::size_t(3 * j + c)] - all.x[std::size_t(3 * i + c)];
          r2 += std::pow(d - std::round(d), 2);
        }
        if (i != j) sum += all.m[std::size_t(j)] / std::sqrt(r2);
      }
      terms.push_back(sum);
    }
    return terms;
  }
  // Ranks with i have made one choice, and know the error of all.
  static void expect_same_choice(const nbcc_statistics& found, bool has_i, const FarCase& one,
                                 const std::string& what) {
    const double mine[] = {double(found.order),     double(found.leaf), double(found.precision[0]),
                           double(found.method[0]), found.error,        double(found.sampled)};
    for (const double number : mine) {
      double least = has_i ? number : HUGE_VAL, most = has_i ? number : -HUGE_VAL;
      MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
      MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      EXPECT_EQ(least, most) << what;
    }
    if (!has_i) return;
    EXPECT_LE(found.error, one.tolerance) << what;
    if (one.order > 0) EXPECT_EQ(found.order, one.order) << what << ": " << found.reason;
    if (one.order > 0) EXPECT_STREQ(found.method, "far field") << what;
    EXPECT_GT(found.sampled, 0);
  }
};

TEST_F(GatheredFar, KeepsTheToleranceForTheIOfAll) {
  for (int style = 0; style < kStyles; ++style) expect_tolerance({kGravity, 1e-3, 6000, 5}, style);
}

TEST_F(GatheredFar, ChoosesOnceForAll) {
  expect_tolerance({kGravity, 1e-2, 9000, 0}, 1);
  expect_tolerance({kGravity, 1e-5, 1500, 0}, 1);
}

TEST_F(GatheredFar, KeepsTheToleranceOfPeriodicSums) {
  for (int style = 0; style < 2; ++style) expect_tolerance({kPeriodic, 1e-2, 2000, 4}, style);
}

TEST_F(GatheredFar, OfOtherTolerances) {
  if (rank_count() == 1) return;
  const nbcc::Pipeline pipeline = compiled(kGravity, NBCC_SINGLE);
  const Particles all = random_particles(300, 9, 0);
  Bound mine(pipeline, all, all);
  mine.sum.tolerance(rank == 0 ? 1e-3 : 1e-2);
  try {
    ring.run(mine.sum);
    FAIL();
  } catch (const nbcc::Error& e) {
    EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
    EXPECT_STREQ(e.what(),
                 "rank 0: tolerance: this rank has 0.001, rank 1 has 0.01: expected one tolerance on all ranks");
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

// The others wait for no exchange with a rank whose run has ended.
TEST_F(GatheredErrors, OneRankIsInterruptedWhileItChooses) {
  const nbcc::Pipeline gravity = compiled(kGravity, NBCC_SINGLE);
  const Particles many = random_particles(30000, 9, 0);
  const std::int64_t begin = first_of(30000, rank, 0), end = first_of(30000, rank + 1, 0);
  Bound mine(gravity, many.part(begin, end), many.part(begin, end));
  mine.sum.tolerance(1e-3);
  if (rank == last) mine.sum.progress([](double) { return true; });
  try {
    ring.run(mine.sum);
    ADD_FAILURE() << "no interrupt";
  } catch (const nbcc::Error& e) {
    EXPECT_EQ(e.status(), NBCC_INTERRUPTED) << e.what();
  }
  if (rank == last) mine.sum.progress(nullptr);
  ring.run(mine.sum);
  EXPECT_LE(mine.sum.statistics().error, 1e-3);
  EXPECT_GT(mine.columns["pot"][0], 0);
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
