// Sums to a tolerance in which each rank has its own j alone: compared with all pairs, for any distribution of the
// particles over the ranks, and what needs all j on every rank says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/mpi/gathered_case.h"

namespace nbcc::test::ranks {
namespace {

using testing::HasSubstr;

const std::string kVectors = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj;
output(sum) vec3 acc; output(sum) real pot;
vec3 d = xj - xi;
real r = rsqrt(dot(d, d) + 0.0001);
acc += mj * r * r * r * d;
pot += mj * r;
)";
const std::string kOthers = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj;
output(sum) real pot;
skip_if(i_index == j_index);
vec3 d = xj - xi;
pot += mj * rsqrt(dot(d, d));
)";
const std::string kPotential = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj;
output(sum) real pot;
vec3 d = xj - xi;
pot += mj * rsqrt(dot(d, d) + 1e-6);
)";
const std::string kSoftened = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj;
param real eps = 0.01;
output(sum) real pot;
vec3 d = xj - xi;
pot += mj * rsqrt(dot(d, d) + eps * eps);
)";
// Of i too: no grids of i.
const std::string kOfI = R"(
input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real mj;
output(sum) real pot;
vec3 d = xj - xi;
pot += mj * rsqrt(dot(d, d) + hi * hi);
)";

constexpr double kTolerance = 1e-3;

// Some dense clusters of several sizes.
Particles clusters(std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> centres, sizes;
  for (int k = 0; k < 15; ++k) centres.push_back(uniform(random));
  for (int k = 0; k < 5; ++k) sizes.push_back(std::exp2(-2 * k));
  Particles made;
  for (std::int64_t n = 0; n < count; ++n) {
    const std::size_t cluster = random() % 5;
    for (std::size_t c = 0; c < 3; ++c)
      made.x.push_back(centres[3 * cluster + c] + 0.1 * sizes[cluster] * normal(random));
    made.m.push_back(uniform(random) + 0.1);
  }
  return made;
}

class RanksFar : public GatheredTest {
 protected:
  // Styles of first_of(), and one with particles on the first rank alone.
  static std::int64_t first(std::int64_t count, int of_rank, int style) {
    if (style == kStyles) return of_rank == 0 ? 0 : count;
    return first_of(count, of_rank, style);
  }
  // Calls `also` for the sum before it runs. Positive terms, so that their sum is that of |terms|.
  void expect_all_pairs(const std::string& text, const Particles& i, const Particles& j, int style_of_i, int style_of_j,
                        int order, const std::function<void(nbcc::Sum&, std::int64_t)>& also = {}) {
    const std::string what = "styles " + std::to_string(style_of_i) + ", " + std::to_string(style_of_j);
    const nbcc::Pipeline pipeline = compiled(text, NBCC_SINGLE), exact = compiled(text);
    const std::int64_t begin = first(i.count(), rank, style_of_i), end = first(i.count(), rank + 1, style_of_i);
    Bound whole(exact, i.part(begin, end), j);
    Bound mine(pipeline, i.part(begin, end),
               j.part(first(j.count(), rank, style_of_j), first(j.count(), rank + 1, style_of_j)), rank % 2 == 1);
    for (Bound* one : {&whole, &mine})
      if (also) also(one->sum, begin);
    whole.sum.offsets(begin, 0);
    whole.sum.run();
    const nbcc_far_choice choice{sizeof choice, order, 0, 0};
    ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
    for (int times = 0; times < 3; ++times) {
      for (auto& [name, column] : mine.columns) std::ranges::fill(column, -7.0);
      ring.run(mine.sum);
      double sums[] = {0, double(end - begin)};
      for (std::size_t k = 0; k < std::size_t(end - begin); ++k)
        sums[0] += std::pow(mine.columns["pot"][k] / whole.columns["pot"][k] - 1, 2);
      MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_LE(std::sqrt(sums[0] / sums[1]), 1.3 * kTolerance) << what << ", run " << times;
      if (whole.columns.contains("acc")) expect_vectors(mine.columns["acc"], whole.columns["acc"], what);
      const nbcc_statistics found = mine.sum.statistics();
      EXPECT_STREQ(found.method, "far field") << what;
      EXPECT_LE(found.error, kTolerance) << what;
      EXPECT_GT(found.error, 0) << what;
      if (order > 0) EXPECT_EQ(found.order, order);
      if (rank_count() > 1)
        EXPECT_THAT(found.reason, HasSubstr("each rank has the j that its i need: this one ")) << what;
    }
  }
  // The terms of vectors cancel, and the tolerance is relative to the sum of their lengths.
  static void expect_vectors(const Reals& got, const Reals& expected, const std::string& what) {
    double sums[] = {0, 0};
    for (std::size_t k = 0; k < got.size(); ++k) {
      sums[0] += (got[k] - expected[k]) * (got[k] - expected[k]);
      sums[1] += expected[k] * expected[k];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_LE(std::sqrt(sums[0] / sums[1]), 10 * kTolerance) << what;
  }
  // The root mean square over the i of all ranks of |got / expected - 1|.
  static double error_of_all(const Reals& got, const Reals& expected) {
    double sums[] = {0, double(got.size())};
    for (std::size_t k = 0; k < got.size(); ++k) sums[0] += std::pow(got[k] / expected[k] - 1, 2);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(sums[0] / sums[1]);
  }
  // The text of the last run's statistics about ranks.
  void expect_all_j(nbcc::Sum& sum, const std::string& because) {
    if (rank_count() == 1) return;
    EXPECT_THAT(sum.statistics().reason, HasSubstr("each rank has the j of all ranks, because " + because));
  }
};

TEST_F(RanksFar, OfOneSetInAnyDistribution) {
  const Particles all = random_particles(3000, 3, 0);
  for (int style = 0; style <= kStyles; ++style) expect_all_pairs(kVectors, all, all, style, style, 4);
}

TEST_F(RanksFar, OfTwoSets) {
  const Particles i = random_particles(2000, 4, 0), j = random_particles(3000, 5, 0);
  for (int style = 0; style <= kStyles; ++style)
    expect_all_pairs(kVectors, i, j, style, (style + 1) % (kStyles + 1), 4);
}

TEST_F(RanksFar, OfClusters) {
  const Particles all = clusters(5000, 6);
  expect_all_pairs(kVectors, all, all, 1, 1, 4);
  expect_all_pairs(kVectors, all, random_particles(3000, 7, 0), 0, 1, 5);
}

TEST_F(RanksFar, ChoosesByTheWorkOfAll) {
  const Particles all = clusters(16000, 8);
  expect_all_pairs(kVectors, all, all, 1, 1, 0);
}

TEST_F(RanksFar, OfPairsThatAreNotOneParticle) {
  const Particles all = random_particles(3000, 9, 0);
  for (const int style : {0, 1, 2}) expect_all_pairs(kOthers, all, all, style, style, 4);
}

TEST_F(RanksFar, OfInputsOfIInTheTerms) {
  const Particles i = random_particles(3000, 4, 0), j = random_particles(5000, 5, 0);
  Reals widths;
  for (std::int64_t k = 0; k < i.count(); ++k) widths.push_back(0.01 + 0.0001 * double(k % 100));
  expect_all_pairs(kOfI, i, j, 1, 0, 4, [&](nbcc::Sum& sum, std::int64_t begin) {
    const std::int64_t end = first(i.count(), rank + 1, 1);
    sum.bind("hi", nbcc::view(widths.data() + begin, end - begin));
  });
}

// Particles that move between runs go to other ranks.
TEST_F(RanksFar, OfParticlesThatMove) {
  Particles all = random_particles(6000, 10, 0);
  const nbcc::Pipeline pipeline = compiled(kVectors, NBCC_SINGLE), exact = compiled(kVectors);
  const std::int64_t begin = first_of(6000, rank, 1), end = first_of(6000, rank + 1, 1);
  Reals x(all.x.begin() + 3 * begin, all.x.begin() + 3 * end), m(all.m.begin() + begin, all.m.begin() + end),
      acc(x.size()), pot(m.size()), exact_acc(x.size()), exact_pot(m.size());
  nbcc::Sum mine(pipeline), whole(exact);
  mine.bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc).bind("pot", pot);
  whole.bind("xi", x).bind("xj", all.x).bind("mj", all.m).bind("acc", exact_acc).bind("pot", exact_pot);
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.get(), kTolerance, &choice, nullptr), NBCC_OK);
  for (int times = 0; times < 5; ++times) {
    ring.run(mine);
    whole.run();
    EXPECT_LE(error_of_all(pot, exact_pot), 1.3 * kTolerance) << times;
    expect_vectors(acc, exact_acc, "moving");
    for (std::size_t k = 0; k < all.x.size(); ++k) all.x[k] += 0.2 * std::sin(double(k % 97) + times);
    std::copy_n(all.x.begin() + 3 * begin, x.size(), x.begin());
  }
}

// Far from the origin single precision does not keep the tolerance: the rank has received j when it tries the next one.
TEST_F(RanksFar, RaisesThePrecision) {
  const std::int64_t count = 8000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  Particles all = random_particles(count, 16, 0);
  for (double& x : all.x) x += 1000;
  const nbcc::Pipeline pipeline = compiled(kVectors, NBCC_SINGLE), exact = compiled(kVectors);
  Bound mine(pipeline, all.part(begin, end), all.part(begin, end)), whole(exact, all.part(begin, end), all);
  whole.sum.run();
  const nbcc_far_choice choice{sizeof choice, 5, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), 1e-5, &choice, nullptr), NBCC_OK);
  for (int times = 0; times < 2; ++times) {
    ring.run(mine.sum);
    EXPECT_LE(error_of_all(mine.columns["pot"], whole.columns["pot"]), 1.3e-5) << times;
    const nbcc_statistics found = mine.sum.statistics();
    EXPECT_LE(found.error, 1e-5);
    EXPECT_STREQ(found.method, "far field");
    EXPECT_STRNE(found.precision, "single");
    if (rank_count() > 1) EXPECT_THAT(found.reason, HasSubstr("each rank has the j that its i need"));
  }
}

// Two groups of which one weighs next to nothing, and then the other: on each rank all norms change by one factor, or,
// where each rank has some of each group, in no order of neighbours.
TEST_F(RanksFar, WeightsThatChangeByAnotherFactorInEachGroup) {
  const std::int64_t count = 8000;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (const bool is_mixed : {false, true}) {
    Particles all;
    for (std::int64_t k = 0; k < count; ++k) {
      const bool is_second = is_mixed ? random() % 2 == 1 : k >= count / 2;
      for (int axis = 0; axis < 3; ++axis) all.x.push_back(0.3 * normal(random) + (is_second && axis == 0 ? 2.0 : 0));
      all.m.push_back(double(random() % 64 + 32) / 64 * (is_second ? 1e-6 : 1));
    }
    const std::int64_t begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
    Particles own = all.part(begin, end);
    Reals pot(own.m.size()), exact_pot(own.m.size());
    const nbcc::Pipeline pipeline = compiled(kPotential, NBCC_SINGLE), exact = compiled(kPotential);
    nbcc::Sum mine(pipeline), whole(exact);
    mine.bind("xi", own.x).bind("xj", own.x).bind("mj", own.m).bind("pot", pot);
    whole.bind("xi", own.x).bind("xj", all.x).bind("mj", all.m).bind("pot", exact_pot);
    const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
    ASSERT_EQ(nbcc_sum_set_tolerance(mine.get(), kTolerance, &choice, nullptr), NBCC_OK);
    for (int times = 0; times < 4; ++times) {
      if (times == 2)  // the third run measures no error unless weights have changed
        for (std::int64_t k = 0; k < count; ++k)
          all.m[std::size_t(k)] *= all.m[std::size_t(k)] < 1e-3 ? (is_mixed ? 1e6 : 1e12) : (is_mixed ? 1e-6 : 1);
      std::copy_n(all.m.begin() + begin, own.m.size(), own.m.begin());
      ring.run(mine);
      whole.run();
      EXPECT_LE(error_of_all(pot, exact_pot), 1.3 * kTolerance) << "mixed: " << is_mixed << ", run " << times;
    }
  }
}

TEST_F(RanksFar, RefusesChoicesAndParamsThatDiffer) {
  if (rank_count() == 1) return;
  const std::int64_t count = 3000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles all = random_particles(count, 12, 0), own = all.part(begin, end);
  const nbcc::Pipeline pipeline = compiled(kSoftened, NBCC_SINGLE);
  Bound mine(pipeline, own, own);
  const nbcc_far_choice choices[][2] = {{{sizeof(nbcc_far_choice), 4, 0, 0}, {sizeof(nbcc_far_choice), 5, 0, 0}},
                                        {{sizeof(nbcc_far_choice), 4, 0, 0}, {sizeof(nbcc_far_choice), 0, 0, 0}},
                                        {{sizeof(nbcc_far_choice), 4, 64, 0}, {sizeof(nbcc_far_choice), 4, 0, 0}}};
  const auto message = [&] {
    try {
      ring.run(mine.sum);
    } catch (const nbcc::Error& e) {
      EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  for (const auto& of_ranks : choices) {
    ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &of_ranks[rank == 0 ? 0 : 1], nullptr), NBCC_OK);
    EXPECT_THAT(message(), HasSubstr("expected one choice on all ranks"));
  }
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, choices[0], nullptr), NBCC_OK);
  mine.sum.set("eps", 0.01 * (rank + 1));
  EXPECT_EQ(message(), "rank 1: param 'eps' is 0.02 here and 0.01 on rank 0: expected one value on all ranks");
  mine.sum.set("eps", 0.01);
  EXPECT_EQ(message(), "no error");
}

TEST_F(RanksFar, ARankWithoutATolerance) {
  const std::int64_t count = 4000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles all = random_particles(count, 12, 0), own = all.part(begin, end);
  const nbcc::Pipeline pipeline = compiled(kPotential, NBCC_SINGLE), exact = compiled(kPotential);
  Bound mine(pipeline, own, own), whole(exact, own, all);
  whole.sum.run();
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  if (rank == 0) ASSERT_EQ(nbcc_sum_set_pairs(mine.sum.get(), NBCC_PAIRS_ALL, nullptr), NBCC_OK);
  ring.run(mine.sum);
  if (rank == 0)
    EXPECT_STREQ(mine.sum.statistics().method, "all pairs");
  else
    expect_all_j(mine.sum, "another rank needs them");
  EXPECT_LE(error_of_all(mine.columns["pot"], whole.columns["pot"]), 1.3 * kTolerance);
}

// Ranks that once had to have all j, for a position that is not finite, have their own j again soon after it is.
TEST_F(RanksFar, TriesAgain) {
  if (rank_count() == 1) return;
  const std::int64_t count = 4000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  Particles own = random_particles(count, 12, 0).part(begin, end);
  const double first = own.x[0];
  own.x[0] = HUGE_VAL;
  const nbcc::Pipeline pipeline = compiled(kPotential, NBCC_SINGLE);
  Reals pot(own.m.size());
  nbcc::Sum mine(pipeline);
  mine.bind("xi", own.x).bind("xj", own.x).bind("mj", own.m).bind("pot", pot);
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.get(), kTolerance, &choice, nullptr), NBCC_OK);
  std::vector<std::string> reasons;
  std::vector<double> bytes;
  for (int times = 1; times <= 9; ++times) {
    if (times == 4) own.x[0] = first;
    ring.run(mine);
    reasons.emplace_back(mine.statistics().reason);
    bytes.push_back(double(nbcc_mpi_ring_bytes(ring.get())));
  }
  EXPECT_LT(bytes[2], 0.9 * bytes[0]);  // particles do not move in vain in the third run
  for (const int times : {1, 2, 3})
    EXPECT_THAT(reasons[std::size_t(times - 1)], HasSubstr("because a j has a position or weight that is not finite"));
  for (const int times : {8, 9}) EXPECT_THAT(reasons[std::size_t(times - 1)], HasSubstr("j that its i need"));
}

// At first no far field pays, because all particles are at one position.
TEST_F(RanksFar, TriesAFarFieldAgain) {
  if (rank_count() == 1) return;
  const std::int64_t count = 40000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles all = random_particles(count, 12, 0), own = all.part(begin, end);
  Reals x(own.x.size(), 0.5), pot(own.m.size());
  const nbcc::Pipeline pipeline = compiled(kPotential, NBCC_SINGLE);
  nbcc::Sum mine(pipeline);
  mine.bind("xi", x).bind("xj", x).bind("mj", own.m).bind("pot", pot);
  mine.tolerance(1e-2);
  for (int times = 1; times <= 4; ++times) {
    if (times == 3) x = own.x;
    ring.run(mine);
    const std::string reason = mine.statistics().reason;
    EXPECT_THAT(reason, HasSubstr(times < 4 ? "each rank has the j of all ranks" : "j that its i need")) << times;
  }
}

// Old values of outputs, chosen i and i without a finite position are those of one process.
TEST_F(RanksFar, SomeIAndOldValues) {
  const std::int64_t count = 5000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles all = random_particles(count, 11, 0);
  Particles i = all.part(begin, end);
  i.x[3 * 4] = std::numeric_limits<double>::quiet_NaN();
  const nbcc::Pipeline pipeline = compiled(kVectors, NBCC_SINGLE), exact = compiled(kVectors);
  Bound mine(pipeline, i, all.part(begin, end)), whole(exact, i, all);
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  Indices list;
  for (std::int64_t k = end - begin - 1 - rank; k >= 0; k -= 3) list.push_back(k);
  list.push_back(4);
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
  std::ranges::reverse(list);
  nbcc_run_options options{};
  options.size = sizeof options;
  options.i_list = list.data();
  options.i_count = std::int64_t(list.size());
  options.accumulate = 1;
  ASSERT_EQ(nbcc_mpi_run(ring.get(), mine.sum.get(), &options, nullptr), NBCC_OK);
  ASSERT_EQ(nbcc_sum_run(whole.sum.get(), &options, nullptr), NBCC_OK);
  for (std::size_t k = 0; k < std::size_t(end - begin); ++k) {
    const double got = mine.columns["pot"][k], expected = whole.columns["pot"][k];
    if (std::ranges::find(list, std::int64_t(k)) == list.end())
      EXPECT_EQ(got, -7);
    else if (k == 4)
      EXPECT_TRUE(std::isnan(got));
    else
      EXPECT_NEAR(got, expected, 20 * kTolerance * (expected + 7));
  }
}

TEST_F(RanksFar, SaysWhyARankHasAllJ) {
  const std::int64_t count = 3000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles all = random_particles(count, 12, 0);
  const nbcc::Pipeline pipeline = compiled(kVectors, NBCC_SINGLE);
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  Bound mine(pipeline, all.part(begin, end), all.part(begin, end));
  mine.sum.tolerance(kTolerance);
  ring.run(mine.sum);
  expect_all_j(mine.sum, "all pairs of 3000 i and 3000 j cost little");
  Particles broken = all.part(begin, end);
  if (rank == rank_count() - 1) broken.x[5] = HUGE_VAL;
  Bound other(pipeline, all.part(begin, end), broken);
  ASSERT_EQ(nbcc_sum_set_tolerance(other.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  ring.run(other.sum);
  if (rank_count() > 1) EXPECT_THAT(other.sum.statistics().reason, HasSubstr("is not finite"));
  const nbcc::Pipeline others = compiled(kOthers, NBCC_SINGLE);
  Bound two_sets(others, random_particles(count, 13, 0).part(begin, end), all.part(begin, end));
  ASSERT_EQ(nbcc_sum_set_tolerance(two_sets.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  ring.run(two_sets.sum);
  if (rank_count() > 1) EXPECT_THAT(two_sets.sum.statistics().reason, HasSubstr("compares i_index and j_index"));
}

// A rank receives a part of the j of the others as particles; its bytes are those of the ring.
TEST_F(RanksFar, ARankHasAPartOfTheJ) {
  if (rank_count() == 1) return;
  const std::int64_t count = 40000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  Particles all = random_particles(count, 14, 0);
  for (std::size_t k = 0; k < all.x.size(); k += 3) all.x[k] *= 20;  // a bar, whose domains have small surfaces
  const nbcc::Pipeline pipeline = compiled(kVectors, NBCC_SINGLE);
  Bound mine(pipeline, all.part(begin, end), all.part(begin, end));
  const nbcc_far_choice choice{sizeof choice, 3, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), 1e-2, &choice, nullptr), NBCC_OK);
  ring.run(mine.sum);
  const std::string reason = mine.sum.statistics().reason;
  long long own = 0, received = 0;
  double megabytes = 0;
  const std::size_t at = reason.find("this one ");
  ASSERT_NE(at, std::string::npos) << reason;
  ASSERT_EQ(std::sscanf(reason.c_str() + at, "this one %lld of its domain and %lld of others, and received %lf MB",
                        &own, &received, &megabytes),
            3);
  double number = double(own);
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(number, double(count));
  EXPECT_LT(own, 1.3 * double(count) / rank_count());
  EXPECT_GT(own, 0.7 * double(count) / rank_count());
  EXPECT_LT(received, 0.5 * double(count - own)) << reason;
  EXPECT_GT(megabytes, 0);
  EXPECT_NEAR(1e-6 * double(nbcc_mpi_ring_bytes(ring.get())), megabytes, 0.01 * megabytes) << reason;
}

// Particles at one position are all in one domain, which the statistics say.
TEST_F(RanksFar, ManyParticlesAtOnePosition) {
  if (rank_count() == 1) return;
  const std::int64_t count = 6000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  Particles all = random_particles(count, 17, 0);
  for (std::size_t k = 0; k < all.x.size() * 9 / 10; ++k) all.x[k] = 0.5;
  const nbcc::Pipeline pipeline = compiled(kPotential, NBCC_SINGLE), exact = compiled(kPotential);
  const Particles own = all.part(begin, end);
  Bound mine(pipeline, own, own), whole(exact, own, all);
  whole.sum.run();
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  ring.run(mine.sum);
  EXPECT_LE(error_of_all(mine.columns["pot"], whole.columns["pot"]), 1.3 * kTolerance);
  EXPECT_THAT(mine.sum.statistics().reason, HasSubstr("of all i and j: particles at one position are not divided"));
}

TEST_F(RanksFar, OneRankFailsAndNoneWaits) {
  if (rank_count() == 1) return;
  const std::int64_t count = 8000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles all = random_particles(count, 15, 0);
  const nbcc::Pipeline pipeline = compiled(kVectors, NBCC_SINGLE);
  Bound mine(pipeline, all.part(begin, end), all.part(begin, end));
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  for (int asked = 1; asked < 40; asked *= 3) {
    int calls = 0, is_interrupted = 0, should_be = 0;
    if (rank == 0) mine.sum.progress([&](double) { return ++calls >= asked; });
    try {
      ring.run(mine.sum);
    } catch (const nbcc::Error& e) {
      EXPECT_EQ(e.status(), NBCC_INTERRUPTED) << e.what();
      is_interrupted = 1;
    }
    should_be = calls >= asked ? 1 : 0;
    MPI_Bcast(&should_be, 1, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT_EQ(is_interrupted, should_be) << "rank " << rank << ", asked at call " << asked;
    if (asked == 1) EXPECT_EQ(should_be, 1);
  }
  if (rank == 0) mine.sum.progress(nullptr);
  ring.run(mine.sum);
  EXPECT_LE(mine.sum.statistics().error, kTolerance);
}

}  // namespace
}  // namespace nbcc::test::ranks
