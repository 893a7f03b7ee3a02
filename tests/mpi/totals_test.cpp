// Totals over the ranks of MPI against the same totals in one process: every reduction, however unevenly the i are
// spread; accumulation; ranks that ignore a total; and the same bits on all ranks.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mpi/nbcc_mpi.hpp"
#include "runtime/sum/request/small_floats.h"
#include "tests/mpi/mpi_ranks.h"
#include "tests/support/folders.h"
#include "tests/support/tolerance.h"

namespace {

using nbcc::test::own_rank;
using nbcc::test::rank_count;

// Terms of sums are positive; distances are exact.
const std::string kEveryTotal = R"(
input_i vec3 xi; input_i int ki;
input_j vec3 xj; input_j int kj;
output(sum) index neighbours;
output(total) real energy;
output(total) vec3 square;
output(total) double moments[4];
output(total, min) real least;
output(total, max) int most;
output(total, min) index lowest;
output(total, logsumexp) real z;
output(total, product) double growth;
output(total, count) index pairs;
output(total) index whole;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
neighbours += 1;
energy += 1 / (r2 + 1.0);
square += dx * dx;
moments[0] += double(r2); moments[1] += 1; moments[2] += 2; moments[3] += double(r2 * r2);
least = min(least, r2 + 1.0);
most = max(most, kj - ki);
lowest = min(lowest, i_index * 3 + j_index + 5);
z = logsumexp(z, r2);
growth *= 1 + 1e-5 * r2;
pairs += r2 > 0.5;
whole += kj;
void finish() { energy += 2 + real(neighbours); moments[1] += double(ki); }
)";

nbcc::Device& device() {
  const char* const asked = std::getenv("NBCC_MPI_DEVICE");
  static nbcc::Device one(asked ? asked : "cpu",
                          {.threads = 1, .cache_dir = nbcc::test::build_folder() + "/test-cache"});
  return one;
}
const nbcc::Pipeline& every_total() {
  static const nbcc::Pipeline one =
      nbcc::Pipeline::from_text(device(), kEveryTotal, "totals", {.precision = NBCC_DOUBLE});
  return one;
}

struct Particles {
  std::vector<double> x;
  std::vector<std::int32_t> k;
  std::int64_t count() const { return std::int64_t(k.size()); }
};

Particles random_particles(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Particles made;
  for (std::int64_t n = 0; n < 3 * count; ++n) made.x.push_back(double(random() % 8) / 4);
  for (std::int64_t n = 0; n < count; ++n) made.k.push_back(std::int32_t(random() % 2001) - 1000);
  return made;
}

// The particles of a rank. Of the i the ranks get more and more, and of several ranks number 0 gets none.
Particles share(const Particles& all, int rank, bool rising) {
  const std::int64_t ranks = rank_count(), count = all.count();
  const auto first = [&](std::int64_t r) {
    if (!rising) return count * r / ranks;
    return ranks == 1 ? count * r : r == 1 ? 0 : count * r * r / (ranks * ranks);
  };
  const std::int64_t begin = first(rank), end = first(rank + 1);
  return {{all.x.begin() + 3 * begin, all.x.begin() + 3 * end}, {all.k.begin() + begin, all.k.begin() + end}};
}

// The arrays of totals: each has other elements, and its components are apart on some ranks.
struct Totals {
  double energy = -7;
  std::array<double, 6> square{-7, -7, -7, -7, -7, -7};
  std::array<double, 4> moments{-7, -7, -7, -7};
  float least = -7;
  std::int32_t most = -7;
  std::int64_t lowest = -7, pairs = -7;
  double z = -7, growth = -7, whole = -7;

  void bind(nbcc::Sum& sum, int rank) {
    const std::int64_t apart = rank % 2 == 0 ? 8 : 16;
    sum.bind("energy", nbcc::view(&energy, 1)).bind("square", nbcc::view(square.data(), 1, 0, apart));
    sum.bind("moments", nbcc::rows(moments, 4)).bind("least", nbcc::view(&least, 1)).bind("most", nbcc::view(&most, 1));
    sum.bind("lowest", nbcc::view(&lowest, 1)).bind("pairs", nbcc::view(&pairs, 1)).bind("z", nbcc::view(&z, 1));
    sum.bind("growth", nbcc::view(&growth, 1)).bind("whole", nbcc::view(&whole, 1));
  }
  // All numbers, as double.
  std::vector<double> numbers(int rank) const {
    const std::size_t apart = rank % 2 == 0 ? 1 : 2;
    std::vector<double> all{energy, square[0], square[apart], square[2 * apart]};
    all.insert(all.end(), moments.begin(), moments.end());
    all.insert(all.end(), {least, double(most), double(lowest), z, growth, double(pairs), whole});
    return all;
  }
};
// Which of numbers() are sums of rounded terms; the others are exact.
constexpr bool kRounded[] = {true,  false, false, false, false, false, false, false,
                             false, false, false, true,  true,  false, false};

// One sum with arrays of its own.
struct Bound {
  Bound(Particles of_i, Particles of_j, int style) : i(std::move(of_i)), j(std::move(of_j)), rank(style) {
    sum.bind("xi", i.x).bind("ki", i.k).bind("xj", j.x).bind("kj", j.k).ignore("neighbours");
    totals.bind(sum, style);
  }
  Bound(const Bound&) = delete;
  std::vector<double> numbers() const { return totals.numbers(rank); }

  Particles i, j;
  int rank;
  Totals totals;
  nbcc::Sum sum{every_total()};
};

void expect_equal_or_rounded(const std::vector<double>& got, const std::vector<double>& expected, double pairs,
                             const std::string& what) {
  std::vector<double> bounds;
  for (std::size_t k = 0; k < expected.size(); ++k)
    bounds.push_back(kRounded[k] ? (nbcc::test::kRoundings + 2 * pairs) * nbcc::test::epsilon(NBCC_DOUBLE) *
                                       std::fabs(expected[k])
                                 : 0);
  nbcc::test::expect_within(got, expected, bounds, what);
}

// Bits, so that NaN and -0 count as well.
void expect_same_on_all_ranks(const std::vector<double>& mine, const std::string& what) {
  const std::size_t bytes = mine.size() * sizeof(double);
  std::vector<double> of_first = mine;
  MPI_Bcast(of_first.data(), int(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(std::memcmp(mine.data(), of_first.data(), bytes), 0) << what;
}

class MpiTotals : public testing::Test {
 protected:
  nbcc::MpiRing ring{MPI_COMM_WORLD, device()};
  const int rank = own_rank();
};

TEST_F(MpiTotals, AreThoseOfOneProcess) {
  for (const auto& [ni, nj] : {std::pair<std::int64_t, std::int64_t>{1300, 40}, {40, 3}, {2, 1500}, {5, 0}, {0, 20}}) {
    const std::string what = std::to_string(ni) + " i, " + std::to_string(nj) + " j";
    const Particles all_i = random_particles(ni, 1), all_j = random_particles(nj, 2);
    Bound whole(all_i, all_j, 0);
    whole.sum.run();
    for (const bool rising : {false, true}) {
      Bound mine(share(all_i, rank, rising), share(all_j, rank, false), rank);
      ring.run(mine.sum);
      expect_equal_or_rounded(mine.numbers(), whole.numbers(), double(ni + nj), what);
      expect_same_on_all_ranks(mine.numbers(), what);
      const std::vector<double> first = mine.numbers();
      ring.run(mine.sum);
      EXPECT_EQ(mine.numbers(), first) << what << ": another run has the same bits";
      // The sum is the caller's again.
      Bound alone(mine.i, mine.j, rank);
      alone.sum.run();
      mine.sum.offsets(0, 0).run();
      EXPECT_EQ(mine.numbers(), alone.numbers());
    }
  }
}

// Of no i, the identities of the reductions.
TEST_F(MpiTotals, OfNoI) {
  Bound mine({}, random_particles(3, 1), rank);
  ring.run(mine.sum);
  EXPECT_EQ(mine.totals.energy, 0);
  EXPECT_EQ(mine.totals.least, std::numeric_limits<float>::infinity());
  EXPECT_EQ(mine.totals.most, std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(mine.totals.z, -HUGE_VAL);
  EXPECT_EQ(mine.totals.growth, 1);
}

// Old values are counted once, not once for each rank.
TEST_F(MpiTotals, AccumulateOnce) {
  const Particles all_i = random_particles(90, 3), all_j = random_particles(20, 4);
  Bound mine(share(all_i, rank, true), share(all_j, rank, false), rank);
  ring.run(mine.sum);
  const Totals once = mine.totals;
  ring.accumulate(mine.sum);
  EXPECT_EQ(mine.totals.energy, 2 * once.energy);
  EXPECT_EQ(mine.totals.moments[1], 2 * once.moments[1]);
  EXPECT_EQ(mine.totals.least, once.least);
  EXPECT_EQ(mine.totals.most, once.most);
  EXPECT_EQ(mine.totals.pairs, 2 * once.pairs);
  EXPECT_EQ(mine.totals.whole, 2 * once.whole);
  EXPECT_EQ(mine.totals.growth, once.growth * once.growth);
  EXPECT_NEAR(mine.totals.z, once.z + std::log(2.0), 1e-14 * once.z);
  // Only the chosen i, of one rank.
  const std::vector<std::int64_t> chosen = mine.i.count() > 0 && rank == rank_count() - 1
                                               ? std::vector<std::int64_t>{mine.i.count() - 1}
                                               : std::vector<std::int64_t>{};
  ring.run(mine.sum, chosen);
  EXPECT_EQ(mine.totals.moments[2], 2 * 20);
  expect_same_on_all_ranks(mine.numbers(), "chosen");
  // Integers saturate; 32 bits are enough for one sum, not for two.
  mine.totals.most = 7;
  mine.sum.bind("pairs", nbcc::view(&mine.totals.most, 1)).ignore("most");
  mine.totals.most = std::numeric_limits<std::int32_t>::max() - 1;
  ring.accumulate(mine.sum);
  EXPECT_EQ(mine.totals.most, std::numeric_limits<std::int32_t>::max());
}

// A rank without interest in a total still contributes to that of the others.
TEST_F(MpiTotals, MayBeIgnoredBySomeRanks) {
  const Particles all_i = random_particles(70, 5), all_j = random_particles(30, 6);
  Bound whole(all_i, all_j, 0), mine(share(all_i, rank, false), share(all_j, rank, false), rank);
  whole.sum.run();
  if (rank == 0) mine.sum.ignore("pairs");
  mine.sum.ignore("whole");
  for (int times = 0; times < 2; ++times) {  // "ignored" is again what it was
    ring.run(mine.sum);
    EXPECT_EQ(mine.totals.pairs, rank == 0 ? -7 : whole.totals.pairs);
    EXPECT_EQ(mine.totals.whole, -7);
    EXPECT_EQ(mine.totals.most, whole.totals.most);
  }
}

// As in one process, results are rounded to 16 bits once, and old values count.
TEST_F(MpiTotals, AreRoundedTo16BitsOnce) {
  const Particles all_i = random_particles(12, 7), all_j = random_particles(9, 8);
  Bound whole(all_i, all_j, 0), mine(share(all_i, rank, true), share(all_j, rank, false), rank);
  const auto of = [](Bound& bound, auto run) {
    nbcc::Half energy{1.5}, least{9};
    nbcc::BFloat16 whole{-2}, pairs{3};
    bound.sum.bind("energy", {&energy, NBCC_HALF, 1, 2, 2}).bind("least", {&least, NBCC_HALF, 1, 2, 2});
    bound.sum.bind("whole", {&whole, NBCC_BFLOAT16, 1, 2, 2}).bind("pairs", {&pairs, NBCC_BFLOAT16, 1, 2, 2});
    std::vector<float> found;
    for (const bool accumulate : {false, true, true}) {
      run(bound.sum, accumulate);
      found.insert(found.end(), {energy, least, whole, pairs});
    }
    return found;
  };
  const std::vector<float> expected =
      of(whole, [](nbcc::Sum& sum, bool accumulate) { accumulate ? sum.accumulate() : sum.run(); });
  EXPECT_GT(expected[0], 100);
  EXPECT_EQ(of(mine, [&](nbcc::Sum& sum, bool accumulate) { accumulate ? ring.accumulate(sum) : ring.run(sum); }),
            expected);
}

// Elements that pairs name: integers are exact; real numbers are added in the order of the ranks.
TEST_F(MpiTotals, AreHistograms) {
  const nbcc::Pipeline pipeline =
      nbcc::Pipeline::from_text(device(),
                                "input_i vec3 xi; input_i int ki; input_j vec3 xj; input_j int kj;\n"
                                "output(total) index n[1500]; output(total) real g[40]; output(total) double all;\n"
                                "vec3 d = xj - xi; real r2 = dot(d, d);\n"
                                "n[kj - ki + 700] += 1; g[int(8 * r2)] += 1 / (r2 + 1); all += 1;",
                                "histograms", {.precision = NBCC_DOUBLE});
  struct Histograms {
    Histograms(const nbcc::Pipeline& of, Particles of_i, Particles of_j) : i(of_i), j(of_j), sum(of) {
      sum.bind("xi", i.x).bind("ki", i.k).bind("xj", j.x).bind("kj", j.k).bind("all", nbcc::view(&all, 1));
      sum.bind("n", nbcc::rows(n, 1500)).bind("g", nbcc::view(g.data(), 1, 0, 16));
    }
    Particles i, j;
    std::vector<std::int64_t> n = std::vector<std::int64_t>(1500, -7);
    std::vector<double> g = std::vector<double>(80, -7);  // every other one is ours
    double all = -7;
    nbcc::Sum sum;
  };
  const Particles all_i = random_particles(400, 7), all_j = random_particles(90, 8);
  Histograms whole(pipeline, all_i, all_j), mine(pipeline, share(all_i, rank, true), share(all_j, rank, false));
  whole.sum.run();
  ring.run(mine.sum);
  EXPECT_EQ(mine.n, whole.n);
  EXPECT_EQ(mine.all, 400 * 90);
  std::vector<double> bounds;
  for (std::size_t k = 0; k < whole.g.size(); ++k)
    bounds.push_back(k % 2 == 0 ? (rank_count() + 1) * nbcc::test::epsilon(NBCC_DOUBLE) * whole.g[k] : 0);
  nbcc::test::expect_within(mine.g, whole.g, bounds, "g");
  expect_same_on_all_ranks(mine.g, "g");
  const std::vector<double> once = mine.g;
  ring.accumulate(mine.sum);
  for (std::size_t k = 0; k < whole.n.size(); ++k) EXPECT_EQ(mine.n[k], 2 * whole.n[k]);
  for (std::size_t k = 0; k < once.size(); k += 2) EXPECT_EQ(mine.g[k], 2 * once[k]);
  EXPECT_EQ(mine.g[1], -7);
}

TEST_F(MpiTotals, OfAnotherPipeline) {
  if (rank_count() == 1) return;
  const std::string text = "input_j real x;\noutput(total" + std::string(rank == 1 ? ", max" : "") + ") real s;\n" +
                           (rank == 1 ? "s = max(s, x);" : "s += x;");
  const nbcc::Pipeline pipeline = nbcc::Pipeline::from_text(device(), text, "o");
  std::vector<double> x(2);
  double s = -7;
  nbcc::Sum sum(pipeline);
  sum.bind("x", x).bind("s", nbcc::view(&s, 1)).counts(3, 0);
  try {
    ring.run(sum);
    FAIL();
  } catch (const nbcc::Error& e) {
    EXPECT_STREQ(e.what(), "rank 1: the totals are not those of rank 0's pipeline");
  }
  EXPECT_EQ(s, -7);
}

// A rank that fails leaves the totals of all as they are.
TEST_F(MpiTotals, AreNotWrittenIfARankFails) {
  const nbcc::Pipeline pipeline =
      nbcc::Pipeline::from_text(device(), "input_j real x; param real p;\noutput(total) real s;\ns += p * x;", "p");
  std::vector<double> x(2, 1.0);
  double s = -7;
  nbcc::Sum sum(pipeline);
  sum.bind("x", x).bind("s", nbcc::view(&s, 1)).counts(3, 0);
  if (rank != rank_count() - 1) sum.set("p", 2);
  EXPECT_THROW(ring.run(sum), nbcc::Error);
  EXPECT_EQ(s, -7);
  sum.set("p", 2);
  ring.run(sum);
  EXPECT_EQ(s, 12.0 * rank_count() * rank_count());
}

}  // namespace
