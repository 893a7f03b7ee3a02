// A warning comes exactly where a pair may have two images within reach: the bound, in boxes and cells, of reaches of
// the run and of particles, whichever pairs act, and once while it holds.
#include "runtime/sum/run/image_warning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"
#include "tests/support/neighbour_cases.h"

namespace nbcc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Among all vectors of small multiples.
double shortest_of_all(const std::array<double, 9>& cell) {
  double shortest = std::numeric_limits<double>::infinity();
  constexpr int kMost = 8;
  for (int a = -kMost; a <= kMost; ++a)
    for (int b = -kMost; b <= kMost; ++b)
      for (int c = -kMost; c <= kMost; ++c) {
        if (a == 0 && b == 0 && c == 0) continue;
        double length2 = 0;
        for (std::size_t k = 0; k < 3; ++k) length2 += std::pow(a * cell[k] + b * cell[3 + k] + c * cell[6 + k], 2);
        shortest = std::min(shortest, std::sqrt(length2));
      }
  return shortest;
}

TEST(ShortestLatticeVector, IsTheShortestOfAll) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int trial = 0; trial < 300; ++trial) {
    std::array<double, 9> cell{};
    for (double& one : cell) one = number(random);
    for (std::size_t k = 0; k < 3; ++k) cell[4 * k] += 1.5;
    const double expected = shortest_of_all(cell);
    // Another basis of the same lattice.
    for (int step = 0; step < 6; ++step) {
      const std::size_t one = random() % 3, other = (one + 1 + random() % 2) % 3;
      const double times = double(random() % 7) - 3;
      for (std::size_t k = 0; k < 3; ++k) cell[3 * one + k] += times * cell[3 * other + k];
    }
    EXPECT_NEAR(shortest_lattice_vector(cell), expected, 1e-12 * expected) << trial;
  }
  EXPECT_EQ(shortest_lattice_vector({1, 0, 0, 0, 2, 0, 0, 0, 1e30}), 1);
  EXPECT_EQ(shortest_lattice_vector({1, 0, 0, 7, 2, 0, 0, 0, 0}), 1);
  EXPECT_EQ(shortest_lattice_vector({HUGE_VAL, 0, 0, 0, 0, 0, 0, 0, 3}), 3);
  EXPECT_EQ(shortest_lattice_vector({}), HUGE_VAL);
  EXPECT_TRUE(std::isnan(shortest_lattice_vector({1, 0, 0, 2, 0, 0, 0, 0, 1})));
}

// One particle with two sums over it.
class ImageWarnings : public testing::Test {
 protected:
  Sum& start(const std::string& difference, const std::string& bound) {
    const std::string text =
        "input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real hj; param real rc = 1.0;\n"
        "param vec3 box = vec3(8, 9, 10); param vec3 la = vec3(6, 0, 0); param vec3 lb = vec3(3, 6, 0);\n"
        "param vec3 lc = vec3(0, 0, 7); output(sum) real count;\n"
        "vec3 dx = " +
        difference + "; real reach = " + bound + ";\nskip_if(dot(dx, dx) > reach * reach); count += 1.0;\n";
    sum_.emplace(Pipeline::from_text(device_, text, "warned"));
    sum_->bind("xi", rows(x_, 3)).bind("xj", rows(x_, 3)).bind("hi", rows(h_, 1)).bind("hj", rows(h_, 1));
    sum_->bind("count", rows(count_, 1));
    return *sum_;
  }
  std::vector<std::string> run() {
    sum_->run();
    return sum_->warnings();
  }

  Device device_{"cpu"};
  std::vector<double> x_ = std::vector<double>(9, 1.0), h_{0.5, 1, 2}, count_ = std::vector<double>(3);
  std::optional<Sum> sum_;
};

constexpr const char* kInBox = "nearest_image(xj - xi, box)";
constexpr const char* kInCell = "nearest_image(xj - xi, la, lb, lc)";

TEST_F(ImageWarnings, BeginBeyondHalfOfTheBox) {
  Sum& sum = start(kInBox, "2.0 * rc");
  EXPECT_THAT(run(), IsEmpty());
  sum.set("rc", 2.0);  // half of the shortest side: of pairs beyond it none is within reach twice
  EXPECT_THAT(run(), IsEmpty());
  sum.set("rc", 2.1);
  EXPECT_THAT(run(), ElementsAre("pipeline 'warned': the cutoff of 4.2 is more than half of the periodic box 8 x 9 x "
                                 "10, whose shortest period is 8: only the nearest image of each pair is counted, "
                                 "others within the cutoff are missing; every_image() counts them"));
}

// A cutoff that is too long by its last digits must not look as if it were right.
TEST_F(ImageWarnings, HaveAllDigits) {
  Sum& sum = start(kInBox, "rc");
  sum.set("rc", 4.000000001);
  EXPECT_THAT(run(), ElementsAre(HasSubstr("the cutoff of 4.000000001 is more than half of the periodic box 8 x")));
  sum.set("rc", 1).set("box", std::vector<double>{8, 9, 10}).pairs(NBCC_PAIRS_ALL);
  EXPECT_THAT(run(), IsEmpty());
  sum.set("rc", 4).set("box", std::vector<double>{8, 7.9999999, 10});
  EXPECT_THAT(run(), ElementsAre(HasSubstr("8 x 7.9999999 x 10, whose shortest period is 7.9999999:")));
}

// The height of this cell is less than its shortest vector; images are missing beyond half of the vector alone.
TEST_F(ImageWarnings, BeginBeyondHalfOfTheShortestLatticeVector) {
  Sum& sum = start(kInCell, "rc");
  sum.set("rc", 2.99);
  EXPECT_THAT(run(), IsEmpty());
  sum.set("rc", 3.01);
  EXPECT_THAT(run(), ElementsAre(HasSubstr("shortest period is 6:")));
}

TEST_F(ImageWarnings, AreOfTheLargestReachOfAParticle) {
  for (const char* bound : {"hi", "hj", "max(hi, hj)", "min(hi, hj)", "0.5 * (hi + hj)"}) {
    start(kInBox, bound);
    h_ = {0.5, 3.9, 4};
    EXPECT_THAT(run(), IsEmpty()) << bound;
    h_[1] = 4.5;
    h_[2] = std::nan("");  // bounds nothing
    EXPECT_THAT(run(), ElementsAre(HasSubstr("cutoff of 4.5"))) << bound;
    h_[0] = HUGE_VAL;
    EXPECT_THAT(run(), ElementsAre(HasSubstr("cutoff of 4.5"))) << bound;  // as it was
    start(kInBox, bound);
    EXPECT_THAT(run(), ElementsAre(HasSubstr("cutoff of inf"))) << bound;
  }
}

TEST_F(ImageWarnings, ComeWhicheverPairsAct) {
  Sum& sum = start(kInBox, "rc");
  sum.set("rc", 5.0);
  const std::vector<std::int64_t> first{0, 1, 1, 2}, j{1, 0}, i_first{0, 3}, range_first{0, 1}, begin{0}, end{3},
      batch{0, 0, 1};
  for (const nbcc_pairs pairs : {NBCC_PAIRS_AUTO, NBCC_PAIRS_ALL, NBCC_PAIRS_CUTOFF}) {
    sum.pairs(pairs);
    EXPECT_EQ(run().size(), 1U);
  }
  sum.pairs(NBCC_PAIRS_AUTO).set("rc", 1.0);
  EXPECT_THAT(run(), IsEmpty());
  sum.set("rc", 5.0);
  sum.neighbours();
  EXPECT_EQ(sum.warnings().size(), 1U);
  sum.listed_pairs(first, j);
  EXPECT_EQ(run().size(), 1U);
  sum.batches(2, batch, batch);
  EXPECT_EQ(run().size(), 1U);
}

// Of batches one has a small box.
TEST_F(ImageWarnings, AreOfABatchWithItsOwnBox) {
  Sum& sum = start(kInBox, "rc");
  const std::vector<std::int64_t> batch{0, 1, 1};
  sum.set("rc", 3.0).batches(2, batch, batch);
  sum.set_batch("box", std::vector<double>{8, 8, 8, 8, 5, 8});
  EXPECT_THAT(run(), ElementsAre(HasSubstr("box 8 x 5 x 8 of group 1, whose shortest period is 5")));
  sum.set_batch("box", std::vector<double>{8, 8, 8, 8, 7, 8});
  EXPECT_THAT(run(), IsEmpty());
  const std::vector<std::int64_t> apart{0, 3, 3};
  sum.batches(4, apart, apart);
  sum.set_batch("box", std::vector<double>{8, 8, 8, 1, 1, 1, 1, 1, 1, 8, 5, 8});
  EXPECT_THAT(run(), ElementsAre(HasSubstr("box 8 x 5 x 8 of group 3, whose shortest period is 5")));
}

TEST_F(ImageWarnings, AreNotOfAnOpenSpace) {
  start("xj - xi", "rc").set("rc", 1e9);
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(ImageWarnings, StayTheSameWhileTheyHold) {
  Sum& sum = start(kInBox, "rc");
  sum.set("rc", 5.0);
  const std::vector<std::string> warned = run();
  sum.set("box", std::vector<double>{8.1, 9.1, 10.1});
  EXPECT_EQ(run(), warned);
  EXPECT_EQ(nbcc_sum_warning(sum.get(), 1), nullptr);
  EXPECT_EQ(nbcc_sum_warning(sum.get(), -1), nullptr);
  EXPECT_EQ(nbcc_sum_warning(nullptr, 0), nullptr);
}

// No warning, no pair with two images within reach: in random cells, by counting images. And with one, somewhere there
// is such a pair: at half of the shortest lattice vector.
TEST(ImageWarning, HoldsWhereAPairMayHaveTwoImagesWithinReach) {
  int warned = 0, silent = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const test::NeighbourCase c = test::lattice_case(seed);
    std::array<double, 9> cell{};
    for (std::size_t k = 0; k < 9; ++k) cell[k] = c.cell[k / 3][k % 3];
    const double shortest = shortest_lattice_vector(cell);
    const bool warns = c.rc > shortest / 2;
    ++(warns ? warned : silent);
    std::mt19937_64 random(seed);
    for (int trial = 0; trial < 20; ++trial) {
      std::array<double, 3> d{};
      for (std::size_t k = 0; k < 9; ++k) d[k % 3] += cell[k] * double(random() % 1000) / 1000;
      int within = 0;
      for (int n = 0; n < 9 * 9 * 9; ++n) {
        double r2 = 0;
        for (std::size_t k = 0; k < 3; ++k)
          r2 += std::pow(d[k] + (n % 9 - 4) * cell[k] + (n / 9 % 9 - 4) * cell[3 + k] + (n / 81 - 4) * cell[6 + k], 2);
        within += r2 < c.rc * c.rc * (1 - 1e-12);
      }
      if (!warns) {
        EXPECT_LE(within, 1) << seed;
      }
    }
  }
  EXPECT_GT(warned, 50);
  EXPECT_GT(silent, 50);
}

}  // namespace
}  // namespace nbcc
