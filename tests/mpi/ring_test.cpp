// Sums over the ranks of MPI against the same sums in one process, which every rank makes for itself: every reduction,
// finish() and indices, however unevenly particles are spread; and that what goes wrong on one rank ends on all.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "mpi/nbcc_mpi.hpp"
#include "tests/mpi/mpi_ranks.h"
#include "tests/support/folders.h"
#include "tests/support/tolerance.h"

namespace {

using nbcc::test::build_folder;
using nbcc::test::own_rank;
using nbcc::test::rank_count;

// Terms are positive, so that a sum is the sum of |term|. Places are coarse: distances are exact, and many are equal.
const std::string kEveryReduction = R"(
input_i vec3 xi;
input_j vec3 xj; input_j double mj; input_j int kj;
param real scale;
output(sum) vec3 square;
output(product) double growth;
output(logsumexp) real z;
output(softmax) real y;
output(min) real least;
output(max) int most;
output(argmin) index near;
output(argmin) index three[3];
output(at) real r2_of[3];
output(argmax) index far;
output(count) index pairs;
output(sum) index total;
output(sum) int self;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
square += scale * dx * dx;
growth *= 1 + 0.0001 * r2;
z = logsumexp(z, r2);
y = softmax(y, r2, 1 + mj * mj);
least = min(least, r2);
most = max(most, kj);
near = argmin(near, r2);
three = argmin(three, r2);
r2_of = at(three, r2);
far = argmax(far, r2);
pairs += r2 > 0.5;
total += kj;
self += i_index == j_index ? 1 : 0;
void finish() { square.x = square.x * 2 + square.y; least = least + 1; near = near + 1; }
)";
const std::vector<std::string> kRounded{"square", "growth", "z", "y"};

// NBCC_MPI_DEVICE=cuda tries the rings on GPUs; ranks may share one.
nbcc::Device& device() {
  const char* const asked = std::getenv("NBCC_MPI_DEVICE");
  static nbcc::Device one(asked ? asked : "cpu", {.threads = 1, .cache_dir = build_folder() + "/test-cache"});
  return one;
}
const nbcc::Pipeline& every_reduction() {
  static const nbcc::Pipeline one =
      nbcc::Pipeline::from_text(device(), kEveryReduction, "ring", {.precision = NBCC_DOUBLE});
  return one;
}

using Columns = std::map<std::string, std::vector<double>>;

struct Set {
  std::vector<double> x, m;
  std::vector<std::int32_t> k;
  std::int64_t count() const { return std::int64_t(m.size()); }
  Set part(std::int64_t begin, std::int64_t end) const {
    return {{x.begin() + 3 * begin, x.begin() + 3 * end},
            {m.begin() + begin, m.begin() + end},
            {k.begin() + begin, k.begin() + end}};
  }
};

Set random_set(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Set set;
  for (std::int64_t n = 0; n < count; ++n) {
    for (int c = 0; c < 3; ++c) set.x.push_back(double(random() % 8) / 4);
    set.m.push_back(double(random() % 64) / 16);
    set.k.push_back(std::int32_t(random() % 2001) - 1000);
  }
  return set;
}

// A sum with its arrays. A rank of odd number has single-precision positions, the components far from each other, and
// masses in rising order of falling addresses.
class Bound {
 public:
  Bound(Set i, Set j, int style, const nbcc::Pipeline& pipeline = every_reduction())
      : sum(pipeline), i_(std::move(i)), j_(std::move(j)) {
    sum.set("scale", 0.5);
    sum.bind("xi", i_.x);
    if (style % 2 == 0) {
      sum.bind("xj", j_.x).bind("mj", j_.m);
    } else {
      for (int c = 0; c < 3; ++c)
        for (std::int64_t n = 0; n < j_.count(); ++n) narrow_.push_back(float(j_.x[std::size_t(3 * n + c)]));
      narrow_.push_back(0);
      backward_.assign(j_.m.rbegin(), j_.m.rend());
      backward_.insert(backward_.begin(), 0.0);
      const std::int64_t nj = j_.count();
      bind("xj", {narrow_.data(), NBCC_FLOAT, nj, 4, 4 * std::max<std::int64_t>(nj, 1)});
      bind("mj", {backward_.data() + nj, NBCC_DOUBLE_ELEMENT, nj, -8, 8});
    }
    sum.bind("kj", j_.k);
    for (const nbcc::Field& field : pipeline.fields()) {
      if (field.role != NBCC_OUTPUT) continue;
      std::vector<double>& column = columns[field.name];
      column.assign(std::size_t(i_.count() * field.components), -7.0);
      sum.bind(field.name, column);
    }
  }
  Bound(const Bound&) = delete;

  nbcc::Sum sum;
  Columns columns;

 private:
  void bind(const char* field, nbcc_view view) { nbcc_sum_bind(sum.get(), field, &view, nullptr); }
  Set i_, j_;
  std::vector<float> narrow_;
  std::vector<double> backward_;
};

// From where on the particles of a rank stand among all, by how they are spread.
using Spread = std::function<std::int64_t(std::int64_t count, int rank)>;
std::int64_t evenly(std::int64_t count, int rank) { return count * rank / rank_count(); }
std::int64_t rising(std::int64_t count, int rank) { return count * rank * rank / rank_count() / rank_count(); }
std::int64_t all_on_first(std::int64_t count, int rank) { return rank == 0 ? 0 : count; }
std::int64_t all_on_last(std::int64_t count, int rank) { return rank < rank_count() ? 0 : count; }
std::int64_t none_on_odd(std::int64_t count, int rank) {
  return rank == rank_count()                               ? count
         : count * (rank + rank % 2) / rank_count() > count ? count
                                                            : count * (rank + rank % 2) / rank_count();
}

Set share(const Set& all, const Spread& spread, int rank) {
  return all.part(spread(all.count(), rank), spread(all.count(), rank + 1));
}

void expect_share(const Columns& got, const Columns& all, std::int64_t begin, std::int64_t ni, std::int64_t nj,
                  const std::string& what) {
  for (const auto& [name, column] : all) {
    const std::int64_t width = std::int64_t(got.at(name).size()) / std::max<std::int64_t>(ni, 1);
    const std::vector<double> expected(column.begin() + begin * width, column.begin() + (begin + ni) * width);
    const bool rounded = std::find(kRounded.begin(), kRounded.end(), name) != kRounded.end();
    // A product has a rounding for each of its factors.
    const double rounding = (nbcc::test::kRoundings + 2 * double(nj)) * nbcc::test::epsilon(NBCC_DOUBLE);
    std::vector<double> bounds;
    for (const double value : expected) bounds.push_back(rounded ? rounding * std::fabs(value) : 0);
    nbcc::test::expect_within(got.at(name), expected, bounds, what + ", " + name);
  }
}

class RingTest : public testing::Test {
 protected:
  nbcc::MpiRing ring{MPI_COMM_WORLD, device()};
  const int rank = own_rank();
};

TEST_F(RingTest, EveryReductionIsThatOfOneProcess) {
  const std::pair<const char*, Spread> spreads[] = {{"evenly", evenly},
                                                    {"rising", rising},
                                                    {"all on the first", all_on_first},
                                                    {"all on the last", all_on_last},
                                                    {"none on odd", none_on_odd}};
  for (const auto& [ni, nj] : {std::pair<std::int64_t, std::int64_t>{67, 300}, {40, 3}, {3, 1500}, {5, 0}, {0, 20}}) {
    const Set all_i = random_set(ni, 1), all_j = random_set(nj, 2);
    Bound whole(all_i, all_j, 0);
    whole.sum.run();
    for (const auto& [i_name, i_spread] : spreads)
      for (const auto& [j_name, j_spread] : spreads) {
        const std::int64_t begin = i_spread(ni, rank), count = i_spread(ni, rank + 1) - begin;
        Bound mine(share(all_i, i_spread, rank), share(all_j, j_spread, rank), rank);
        ring.run(mine.sum);
        expect_share(mine.columns, whole.columns, begin, count, nj,
                     std::string("i ") + i_name + ", j " + j_name + ", " + std::to_string(nj));
        EXPECT_EQ(ring.i_offset(rank), begin);
        EXPECT_EQ(ring.j_offset(rank), j_spread(nj, rank));
        EXPECT_EQ(ring.j_offset(rank_count()), nj);
      }
  }
}

// So many that messages are no longer sent at once, and blocks are summed up in pieces.
TEST_F(RingTest, ManyParticlesHaveTheSameBitsFromRunToRun) {
  constexpr std::int64_t n = 12000;
  const nbcc::Pipeline gravity =
      nbcc::Pipeline::from_text(device(),
                                "input_i vec3 xi; input_j vec3 xj; input_j double mj;\noutput(sum) real pot;\n"
                                "vec3 d = xj - xi; pot += mj * rsqrt(dot(d, d) + 0.01);",
                                "potential", {.precision = NBCC_DOUBLE});
  std::mt19937 random(5);
  std::vector<double> x(3 * n), m(n);
  for (double& one : x) one = double(random()) / 4e9;
  for (double& one : m) one = double(random()) / 4e9;
  const std::int64_t begin = evenly(n, rank), count = evenly(n, rank + 1) - begin;
  std::vector<double> own_x(x.begin() + 3 * begin, x.begin() + 3 * (begin + count)),
      own_m(m.begin() + begin, m.begin() + begin + count);
  std::vector<double> first(static_cast<std::size_t>(count)), second(first), alone(first);
  nbcc::Sum sum(gravity);
  sum.bind("xi", own_x).bind("xj", own_x).bind("mj", own_m).bind("pot", first);
  ring.run(sum);
  sum.bind("pot", second);
  ring.run(sum);
  EXPECT_EQ(first, second);
  sum.bind("xj", x).bind("mj", m).bind("pot", alone).run();
  std::vector<double> bounds;
  for (const double value : alone) bounds.push_back(nbcc::test::kRoundings * nbcc::test::epsilon(NBCC_DOUBLE) * value);
  nbcc::test::expect_within(first, alone, bounds, "pot");
}

// The i of a step, as block time steps choose them, onto what is there; one's own arrays are bound again afterwards.
TEST_F(RingTest, SomeOfTheIAndAccumulation) {
  const std::int64_t n = 60;
  const Set all = random_set(n, 3);
  Bound mine(share(all, evenly, rank), share(all, evenly, rank), rank);
  for (const char* name : {"near", "three", "r2_of", "far", "y"}) mine.sum.ignore(name);
  ring.run(mine.sum);
  const std::vector<double> once = mine.columns.at("pairs");
  ring.accumulate(mine.sum);
  for (std::size_t k = 0; k < once.size(); ++k) EXPECT_EQ(mine.columns.at("pairs")[k], 2 * once[k]);
  std::vector<std::int64_t> chosen;
  if (rank != 1 && !once.empty()) chosen.push_back(std::int64_t(once.size()) - 1);
  ring.run(mine.sum, chosen);
  for (std::size_t k = 0; k < once.size(); ++k)
    EXPECT_EQ(mine.columns.at("pairs")[k], (!chosen.empty() && k + 1 == once.size() ? 1 : 2) * once[k]);
  // The sum is the caller's again: over his own j.
  mine.sum.offsets(0, 0).run();
  for (std::size_t k = 0; k < once.size(); ++k)
    EXPECT_EQ(mine.columns.at("self")[k], 1) << "over the rank's own j every i meets itself";
}

TEST_F(RingTest, SidesWithoutFieldsHaveCounts) {
  const nbcc::Pipeline pipeline = nbcc::Pipeline::from_text(
      device(), "output(sum) index all; output(sum) index own;\nall += 1; own += j_index;", "c");
  nbcc::Sum sum(pipeline);
  std::vector<double> all(3), own(3);
  sum.bind("all", all).bind("own", own).counts(3, rank + 1);
  ring.run(sum);
  const std::int64_t nj = std::int64_t(rank_count()) * (rank_count() + 1) / 2;
  EXPECT_EQ(all, std::vector<double>(3, double(nj)));
  EXPECT_EQ(own, std::vector<double>(3, double(nj * (nj - 1) / 2)));
  sum.run();
  EXPECT_EQ(all, std::vector<double>(3, double(rank + 1))) << "the rank's own count is back";
}

// ---- what goes wrong on one rank

class RingErrors : public RingTest {
 protected:
  const int last = rank_count() - 1;
  const Set all = random_set(50, 4);

  // On every rank the same, and nothing is written.
  void expect_error(Bound& bound, const std::string& message) {
    std::string told = "nothing";
    try {
      ring.run(bound.sum);
    } catch (const nbcc::Error& e) {
      told = e.what();
      EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
    }
    EXPECT_EQ(told, message);
    for (const auto& [name, column] : bound.columns) EXPECT_EQ(column, std::vector<double>(column.size(), -7)) << name;
  }
  // Nothing of what went wrong is under way any more.
  void expect_right_afterwards() {
    Bound mine(share(all, evenly, rank), share(all, evenly, rank), rank), whole(all, all, 0);
    whole.sum.run();
    ring.run(mine.sum);
    expect_share(mine.columns, whole.columns, evenly(50, rank), evenly(50, rank + 1) - evenly(50, rank), 50,
                 "afterwards");
  }
};

TEST_F(RingErrors, AFieldThatIsNotBound) {
  Bound mine(share(all, evenly, rank), share(all, evenly, rank), 0);
  nbcc::Sum bare(every_reduction());
  if (rank == last) mine.sum = std::move(bare);
  expect_error(mine, "rank " + std::to_string(last) + ": input_i 'xi' of pipeline 'ring' is not bound to an array");
  expect_right_afterwards();
}

// Noticed by the first block only, when all others are at work.
TEST_F(RingErrors, AParamThatIsNotSet) {
  Bound mine(share(all, evenly, rank), share(all, evenly, rank), 0);
  if (rank == last) {
    nbcc::Sum other(every_reduction());
    static std::vector<double> x(6), m(2), out(36);
    static std::vector<std::int32_t> k(2);
    other.bind("xi", x).bind("xj", x).bind("mj", m).bind("kj", k);
    for (const auto& [name, column] : mine.columns) other.ignore(name);
    mine.sum = std::move(other);
  }
  expect_error(mine,
               "rank " + std::to_string(last) + ": param 'scale' of pipeline 'ring' has no default and was not set");
  expect_right_afterwards();
}

TEST_F(RingErrors, OfSeveralTheLowestRankIsTold) {
  Bound mine(share(all, evenly, rank), share(all, evenly, rank), 0);
  const int lowest = rank_count() > 1 ? 1 : 0;
  nbcc::Sum bare(every_reduction());
  if (rank >= lowest) mine.sum = std::move(bare);
  std::string told;
  try {
    ring.run(mine.sum);
  } catch (const nbcc::Error& e) {
    told = e.what();
  }
  EXPECT_EQ(told.substr(0, 8), "rank " + std::to_string(lowest) + ": ");
  expect_right_afterwards();
}

TEST_F(RingErrors, OtherPipelines) {
  if (rank_count() == 1) return;
  const nbcc::Pipeline other =
      nbcc::Pipeline::from_text(device(), "input_j real x;\noutput(sum) real s;\ns += x;", "o");
  Bound mine(share(all, evenly, rank), share(all, evenly, rank), 0);
  nbcc::Sum sum(other);
  std::vector<double> s(1);
  if (rank == 1) {
    mine.sum = std::move(sum.bind("x", s).bind("s", s));
    for (auto& [name, column] : mine.columns) column.assign(column.size(), -7.0);
  }
  expect_error(mine, "rank 1: the inputs of j are not those of rank 0's pipeline");
  expect_right_afterwards();
}

TEST(RingCreation, NeedsACommunicatorAndADevice) {
  nbcc_mpi_ring* ring = nullptr;
  nbcc_error* error = nullptr;
  EXPECT_EQ(nbcc_mpi_ring_create(MPI_COMM_NULL, device().get(), &ring, &error), NBCC_ERROR_USAGE);
  EXPECT_STREQ(nbcc_error_message(error), "comm is MPI_COMM_NULL");
  nbcc_error_free(error);
  EXPECT_EQ(nbcc_mpi_ring_create(MPI_COMM_WORLD, own_rank() == 0 ? nullptr : device().get(), &ring, &error),
            NBCC_ERROR_USAGE);
  EXPECT_STREQ(nbcc_error_message(error), "rank 0: device is a null pointer");
  nbcc_error_free(error);
  nbcc_mpi_ring_destroy(ring);
}

}  // namespace
