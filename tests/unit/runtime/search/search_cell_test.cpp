#include "runtime/search/search_cell.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace nbcc {
namespace {

using Basis = std::array<Vector3, 3>;

constexpr Basis kCells[] = {
    {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}},  // a cube
    {Vector3{0, 1, 1}, Vector3{1, 0, 1}, Vector3{1, 1, 0}},  // close packed: no sharper angles in reduced cells
    {Vector3{1, 0, 0}, Vector3{0.5, 0.87, 0}, Vector3{0.2, 0.1, 4}},  // long
    {Vector3{1, 0, 0}, Vector3{-0.4, 3, 0}, Vector3{0.3, 1.4, 3.5}},  // flat
};

Vector3 random_place(std::mt19937_64& random, double size) {
  std::uniform_real_distribution<double> number(-size, size);
  return {number(random), number(random), number(random)};
}

double length(const Vector3& a) { return std::sqrt(dot(a, a)); }

// Of all copies by up to three of each vector.
double nearest_of_many(const Basis& basis, const Vector3& d) {
  double nearest = length(d);
  for (int l = -3; l <= 3; ++l)
    for (int m = -3; m <= 3; ++m)
      for (int n = -3; n <= 3; ++n)
        nearest = std::min(nearest, length(sum(sum(sum(d, l, basis[0]), m, basis[1]), n, basis[2])));
  return nearest;
}

// Copies in the frame are at the same distances as in the caller's coordinates.
TEST(SearchCell, FramedPositionsAreCopies) {
  std::mt19937_64 random(4);
  for (const Basis& basis : kCells) {
    const SearchCell cell(basis, 30);
    ASSERT_TRUE(cell.is_valid());
    Basis framed{};
    for (std::size_t k = 0; k < 3; ++k) {
      framed[k][k] = cell.width(k);
      for (std::size_t axis = 0; axis < k; ++axis) framed[k][axis] = cell.tilt(k, axis);
    }
    for (int k = 0; k < 100; ++k) {
      const Vector3 a = random_place(random, 20), b = random_place(random, 20);
      const Vector3 in_frame = sum(cell.to_frame(a), -1, cell.to_frame(b)), copy = cell.minimum_image(sum(a, -1, b));
      EXPECT_NEAR(nearest_of_many(framed, in_frame), nearest_of_many(basis, copy), 1e-12);
      EXPECT_NEAR(length(copy), nearest_of_many(basis, copy), 1e-12);
      EXPECT_NEAR(length(sum(cell.to_frame(sum(a, 5, basis[1])), -1, cell.to_frame(a))), 0, 1e-12);
      EXPECT_LE(length(cell.to_frame(a)), 0.5 * (length(basis[0]) + length(basis[1]) + length(basis[2])));
    }
  }
}

TEST(SearchCell, VectorsBeyondAllParticlesAreDropped) {
  const Basis slab = {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1e30}};
  const SearchCell cell(slab, 1.8);
  EXPECT_EQ(cell.largest(), 1);
  EXPECT_EQ(cell.width(1), 1);
  EXPECT_EQ(cell.width(2), 0);
  EXPECT_EQ(cell.to_frame({0.25, 1.25, 7}), (Vector3{0.25, 0.25, 7}));
}

TEST(SearchCell, VectorsOf0AreOpen) {
  const SearchCell slab({Vector3{1, 0, 0}, Vector3{-0.4, 3, 0}, Vector3{}}, 100);
  ASSERT_TRUE(slab.is_valid());
  EXPECT_EQ(slab.width(2), 0);
  EXPECT_EQ(slab.minimum_image({10.25, 6.5, 70}), (Vector3{10.25 + 0.8 - 11, 0.5, 70}));
  const SearchCell none({Vector3{}, Vector3{}, Vector3{}}, 100);
  ASSERT_TRUE(none.is_valid());
  EXPECT_EQ(none.minimum_image({10.25, 6.5, 70}), (Vector3{10.25, 6.5, 70}));
}

TEST(SearchCell, ThreeVectorsMustSpanAVolume) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(SearchCell({Vector3{1, 0, 0}, Vector3{2, 0, 0}, Vector3{0, 0, 1}}, 1.8).is_valid());
  EXPECT_FALSE(SearchCell({Vector3{1, 0, 0}, Vector3{0, nan, 0}, Vector3{0, 0, 1}}, 1.8).is_valid());
}

}  // namespace
}  // namespace nbcc
