#include "runtime/search/search_cell.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace nbcc {
namespace {

using Basis = std::array<Place, 3>;

constexpr Basis kCells[] = {
    {Place{1, 0, 0}, Place{0, 1, 0}, Place{0, 0, 1}},           // a cube
    {Place{0, 1, 1}, Place{1, 0, 1}, Place{1, 1, 0}},           // close packed: no sharper angles in reduced cells
    {Place{1, 0, 0}, Place{0.5, 0.87, 0}, Place{0.2, 0.1, 4}},  // long
    {Place{1, 0, 0}, Place{-0.4, 3, 0}, Place{0.3, 1.4, 3.5}},  // flat
};

Place random_place(std::mt19937_64& random, double size) {
  std::uniform_real_distribution<double> number(-size, size);
  return {number(random), number(random), number(random)};
}

double length(const Place& a) { return std::sqrt(dot(a, a)); }

// Of all copies by up to three of each vector.
double nearest_of_many(const Basis& basis, const Place& d) {
  double nearest = length(d);
  for (int l = -3; l <= 3; ++l)
    for (int m = -3; m <= 3; ++m)
      for (int n = -3; n <= 3; ++n)
        nearest = std::min(nearest, length(sum(sum(sum(d, l, basis[0]), m, basis[1]), n, basis[2])));
  return nearest;
}

TEST(SearchCell, ShiftsMeetTheNearestCopy) {
  std::mt19937_64 random(3);
  for (const Basis& basis : kCells)
    for (const double reach : {0.3, 1.0, 100.0}) {
      const SearchCell cell(basis, {-3, -3, -3}, {3, 3, 3});
      ASSERT_TRUE(cell.is_valid());
      int met = 0;
      for (int k = 0; k < 500; ++k) {
        const Place i = cell.wrapped(random_place(random, 3)), j = cell.wrapped(random_place(random, 3));
        const double nearest = nearest_of_many(basis, sum(j, -1, i));
        double found = std::numeric_limits<double>::infinity();
        cell.for_shifts(reach,
                        [&](const Place& shift) { found = std::min(found, length(sum(sum(j, -1, i), -1, shift))); });
        if (nearest > reach) continue;
        EXPECT_NEAR(found, nearest, 1e-12);
        ++met;
      }
      EXPECT_GT(met, 0);
    }
}

TEST(SearchCell, WrappedPlacesAreCopies) {
  std::mt19937_64 random(4);
  for (const Basis& basis : kCells) {
    const SearchCell cell(basis, {-3, -3, -3}, {3, 3, 3});
    for (int k = 0; k < 100; ++k) {
      const Place at = random_place(random, 20), wrapped = cell.wrapped(at);
      EXPECT_NEAR(length(cell.short_copy(sum(at, -1, wrapped))), 0, 1e-12);
      EXPECT_NEAR(length(sum(cell.wrapped(sum(at, 5, basis[1])), -1, wrapped)), 0, 1e-12);
      EXPECT_LE(length(wrapped), 0.5 * (length(basis[0]) + length(basis[1]) + length(basis[2])));
    }
  }
}

TEST(SearchCell, VectorsBeyondAllParticlesAreNone) {
  const Basis slab = {Place{1, 0, 0}, Place{0, 1, 0}, Place{0, 0, 1e30}};
  const SearchCell cell(slab, {0, 0, 0}, {1, 1, 1});
  EXPECT_EQ(cell.largest(), 1);
  int shifts = 0;
  cell.for_shifts(0.5, [&](const Place& shift) {
    EXPECT_EQ(shift[2], 0);
    ++shifts;
  });
  EXPECT_EQ(shifts, 9);
}

TEST(SearchCell, ThreeVectorsMustSpanAVolume) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(SearchCell({Place{1, 0, 0}, Place{2, 0, 0}, Place{0, 0, 1}}, {}, {1, 1, 1}).is_valid());
  EXPECT_FALSE(SearchCell({Place{1, 0, 0}, Place{0, nan, 0}, Place{0, 0, 1}}, {}, {1, 1, 1}).is_valid());
}

}  // namespace
}  // namespace nbcc
