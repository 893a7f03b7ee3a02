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

TEST(lattice, needs_independent_vectors) {
  const double flat[9] = {1, 0, 0, 0, 1, 0, 1, 1, 0}, nan[9] = {NAN, 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_TRUE(std::isnan(Lattice(flat).shortest({0.1, 0, 0})[0]));
  EXPECT_TRUE(std::isnan(Lattice(nan).shortest({0.1, 0, 0})[0]));
  const double parallel[9] = {1, 2, 0, 0, 0, 0, 2, 4, 0};  // and an open direction
  EXPECT_TRUE(std::isnan(Lattice(parallel).shortest({0.1, 0, 0})[0]));
}

TEST(lattice, vectors_of_0_and_infinite_ones_are_open) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double open : {0.0, infinity, 1e300}) {
    const double slab[9] = {3, 0, 4, 0, open, 0, 6, 1, 8};  // 6 1 8 = 2 * (3 0 4) + (0 1 0)
    const Triple image = Lattice(slab).shortest({30.4 + 0.8, 5.25, 40.3 - 0.6});
    EXPECT_NEAR(image[0], 0.4 + 0.8, 1e-12);
    EXPECT_NEAR(image[1], 0.25, 1e-12);
    EXPECT_NEAR(image[2], 0.3 - 0.6, 1e-12);
    const double line[9] = {0, 0, open, 0, 2, 0, open, 0, 0}, none[9] = {open, 0, 0, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(Lattice(line).shortest({30.5, 5.25, -70}), (Triple{30.5, -0.75, -70}));
    EXPECT_EQ(Lattice(none).shortest({30.5, 5.25, -70}), (Triple{30.5, 5.25, -70}));
    EXPECT_EQ(Lattice(line).doubt({0.5, 0.999, -0.25}, 0.1), (Triple{0, 2, 0}));
  }
}

}  // namespace
}  // namespace nbcc
