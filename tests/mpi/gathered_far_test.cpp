// Sums to a tolerance over the ranks of MPI: the tolerance is kept for the i of all, by one choice, and no rank waits
// for another whose run has ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/mpi/gathered_case.h"

namespace nbcc::test::ranks {
namespace {

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
  const auto expect_refusal = [&](double of_first, double of_others, const std::string& message) {
    mine.sum.tolerance(rank == 0 ? of_first : of_others);
    try {
      ring.run(mine.sum);
      FAIL();
    } catch (const nbcc::Error& e) {
      EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
      EXPECT_EQ(e.what(), "rank 1: tolerance: it is " + message + " on rank 0: expected one tolerance on all ranks");
    }
  };
  expect_refusal(1e-3, 1e-2, "0.01 here and 0.001");
  expect_refusal(1e-3, 0, "none here and 0.001");
  expect_refusal(0, 1e-2, "0.01 here and none");
  mine.sum.tolerance(0);
  ring.run(mine.sum);
}

// The i of one rank have no finite positions, or terms: those of the others have a far field, whose error is theirs.
TEST_F(GatheredFar, OneRankHasNoFiniteI) {
  if (rank_count() == 1) return;
  const nbcc::Pipeline charged = compiled(R"(
input_i vec3 xi; input_i real qi; input_j vec3 xj; input_j real mj;
output(sum) real pot;
vec3 d = xj - xi;
pot += qi * mj * rsqrt(dot(d, d) + 0.0001);
)",
                                          NBCC_SINGLE);
  const double none = std::nan("");
  const std::int64_t count = 6000, begin = first_of(count, rank, 1), end = first_of(count, rank + 1, 1);
  const Particles all = random_particles(count, 9, 0);
  for (const bool has_positions : {true, false})
    for (const int without : {0, rank_count() - 1}) {
      Particles i = all.part(begin, end);
      Reals charges(std::size_t(end - begin), 1.0);
      if (rank == without) (has_positions ? charges : i.x).assign(has_positions ? charges.size() : i.x.size(), none);
      Bound mine(charged, i, all.part(begin, end)), whole(charged, i, all);
      mine.sum.bind("qi", charges);
      whole.sum.bind("qi", charges);
      whole.sum.run();
      const nbcc_far_choice choice{sizeof choice, 5, 0, 0};
      ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), 1e-3, &choice, nullptr), NBCC_OK);
      for (int times = 0; times < 3; ++times) {
        ring.run(mine.sum);
        const nbcc_statistics found = mine.sum.statistics();
        EXPECT_STREQ(found.method, "far field") << found.reason;
        EXPECT_LE(found.error, 1e-3);
        EXPECT_GT(found.error, 0);
        EXPECT_GT(found.sampled, 0);
        if (rank != without) EXPECT_EQ(found.order, 5) << found.reason;
        const Reals& got = mine.columns["pot"];
        double squares = 0;
        for (std::size_t k = 0; k < got.size(); ++k) squares += std::pow(got[k] / whole.columns["pot"][k] - 1, 2);
        if (rank == without)
          EXPECT_TRUE(std::ranges::all_of(got, [](double pot) { return std::isnan(pot); }));
        else
          EXPECT_LE(std::sqrt(squares / double(got.size())), 2e-3);
      }
    }
}

// The others wait for no exchange with a rank whose run has ended.
TEST_F(GatheredFar, OneRankIsInterruptedWhileItChooses) {
  const nbcc::Pipeline gravity = compiled(kGravity, NBCC_SINGLE);
  const Particles many = random_particles(30000, 9, 0);
  const std::int64_t begin = first_of(30000, rank, 0), end = first_of(30000, rank + 1, 0);
  Bound mine(gravity, many.part(begin, end), many.part(begin, end));
  mine.sum.tolerance(1e-3);
  if (rank == rank_count() - 1) mine.sum.progress([](double) { return true; });
  try {
    ring.run(mine.sum);
    ADD_FAILURE() << "no interrupt";
  } catch (const nbcc::Error& e) {
    EXPECT_EQ(e.status(), NBCC_INTERRUPTED) << e.what();
  }
  if (rank == rank_count() - 1) mine.sum.progress(nullptr);
  ring.run(mine.sum);
  EXPECT_LE(mine.sum.statistics().error, 1e-3);
  EXPECT_GT(mine.columns["pot"][0], 0);
}

}  // namespace
}  // namespace nbcc::test::ranks
