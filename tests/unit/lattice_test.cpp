#include "compiler/ir/lattice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nbcc {
namespace {

constexpr double kSquare[9] = {2, 0, 0, 0, 3, 0, 0, 0, 5};

TEST(lattice, of_right_angles_rounds_each_number) {
  const Lattice lattice(kSquare);
  EXPECT_EQ(lattice.shortest({1.25, -1.375, 12}), (Triple{-0.75, -1.375, 2}));
  EXPECT_EQ(lattice.across(), 10);
}

TEST(lattice, is_the_same_whatever_vectors_it_is_made_of) {
  // 1000 and more of the others are hidden in each, and two are exchanged.
  const double skewed[9] = {2 * 1000, 3, 0, 2, 0, 0, 2 * 7, 3 * 4003, 5};
  const Triple copy = Lattice(skewed).shortest({1.25 + 2 * 11, -1.5 + 3 * 5, 1});
  EXPECT_NEAR(std::fabs(copy[0]), 0.75, 1e-12);
  EXPECT_NEAR(std::fabs(copy[1]), 1.5, 1e-12);
  EXPECT_NEAR(copy[2], 1, 1e-12);
}

// Where three planes of copies meet, rounding of one number after the other misses the shortest.
TEST(lattice, tries_the_neighbours_of_what_rounding_finds) {
  const double hexagonal[9] = {1, 0, 0, 0.5, std::sqrt(0.75), 0, 0, 0, 1};
  const Triple copy = Lattice(hexagonal).shortest({0.45, 0.43, 0});
  EXPECT_NEAR(std::hypot(copy[0], copy[1], copy[2]), std::hypot(0.05, std::sqrt(0.75) - 0.43), 1e-12);
}

TEST(lattice, doubts_a_copy_beside_which_another_is_as_short) {
  const Lattice lattice(kSquare);
  EXPECT_EQ(lattice.doubt({0.9, 0, 0}, 0.1), (Triple{0, 0, 0}));
  EXPECT_EQ(lattice.doubt({0.999, 0, 0}, 0.1), (Triple{2, 0, 0}));
  EXPECT_EQ(lattice.doubt({0.9, 1.499, 0}, 0.1), (Triple{0, 3, 0}));
}

TEST(lattice, needs_vectors_that_span_a_volume) {
  const double flat[9] = {1, 0, 0, 0, 1, 0, 1, 1, 0};
  EXPECT_TRUE(std::isnan(Lattice(flat).shortest({0.1, 0, 0})[0]));
  const double infinite[9] = {std::numeric_limits<double>::infinity(), 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_TRUE(std::isnan(Lattice(infinite).shortest({0.1, 0, 0})[0]));
}

}  // namespace
}  // namespace nbcc
