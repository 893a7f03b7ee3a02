#include "runtime/search/particle_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace nbcc {
namespace {

const ForEach kInOrder = [](std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t k = 0; k < count; ++k) body(k);
};
const ForEach kBackwards = [](std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t k = count; k-- > 0;) body(k);
};

struct Sites {
  std::vector<std::vector<double>> rows;
  std::vector<const double*> pointers() const {
    std::vector<const double*> all;
    for (const auto& row : rows) all.push_back(row.data());
    return all;
  }
};

// Coordinates and a row of reaches.
Sites random_sites(std::mt19937_64& random, int axes, std::int64_t count, double low, double high) {
  Sites sites;
  for (int row = 0; row <= axes; ++row) {
    std::uniform_real_distribution<double> number(row < axes ? low : 0.0, row < axes ? high : 0.3);
    auto& values = sites.rows.emplace_back();
    for (std::int64_t k = 0; k < count; ++k) values.push_back(number(random));
  }
  return sites;
}

double exact_distance(const SearchSpace& space, const Sites& a, std::size_t i, const Sites& b, std::size_t j) {
  double sum = 0;
  for (std::size_t axis = 0; axis < std::size_t(space.axes); ++axis) {
    double d = b.rows[axis][j] - a.rows[axis][i];
    if (space.length[axis] > 0) d -= space.length[axis] * std::round(d / space.length[axis]);
    sum += d * d;
  }
  return std::sqrt(sum);
}

SearchSpace space_of(int axes, bool periodic, SearchLayout::Reach kind) {
  SearchSpace space;
  space.axes = axes;
  space.kind = kind;
  space.uniform = 0.2;
  space.relative = 1e-12;
  space.absolute = 1e-12;
  for (std::size_t axis = 0; periodic && axis < std::size_t(axes); ++axis)
    space.set_length(axis, 1.0 + 0.1 * double(axis));
  return space;
}

// Nobody is missed, whatever the metric; and what is found beside is near the group's box.
TEST(ParticleTree, FindsAllWithinReach) {
  std::mt19937_64 random(7);
  using Reach = SearchLayout::Reach;
  for (const int axes : {1, 2, 3}) {
    for (const bool periodic : {false, true}) {
      for (const Reach kind : {Reach::Uniform, Reach::OfI, Reach::OfJ, Reach::Max, Reach::Min, Reach::Sum}) {
        const SearchSpace space = space_of(axes, periodic, kind);
        const Sites i = random_sites(random, axes, 77, -2, 3), j = random_sites(random, axes, 500, -2, 3);
        const ParticleTree i_tree(space, i.pointers(), true, 77, kInOrder),
            j_tree(space, j.pointers(), true, 500, kInOrder);
        std::vector<int> found;
        for (std::int64_t group = 0; group < i_tree.leaves(); ++group) {
          found.clear();
          j_tree.find(i_tree.leaf(group), found);
          EXPECT_TRUE(std::ranges::is_sorted(found));
          std::vector<bool> is_found(500);
          for (const int position : found) is_found[std::size_t(j_tree.numbers()[std::size_t(position)])] = true;
          for (std::int64_t k = group * ParticleTree::kLeaf;
               k < std::min<std::int64_t>(77, (group + 1) * ParticleTree::kLeaf); ++k) {
            const auto one = std::size_t(i_tree.numbers()[std::size_t(k)]);
            for (std::size_t other = 0; other < 500; ++other) {
              const double reach = space.reach(i.rows.back()[one], j.rows.back()[other]);
              EXPECT_TRUE(is_found[other] || exact_distance(space, i, one, j, other) > reach)
                  << axes << " axes, " << periodic << ", " << int(kind);
            }
          }
        }
      }
    }
  }
}

TEST(ParticleTree, OrderDoesNotDependOnThreads) {
  std::mt19937_64 random(3);
  const SearchSpace space = space_of(3, true, SearchLayout::Reach::Uniform);
  const Sites sites = random_sites(random, 3, 40000, 0, 1);
  const ParticleTree one(space, sites.pointers(), false, 40000, kInOrder),
      other(space, sites.pointers(), false, 40000, kBackwards);
  EXPECT_EQ(one.numbers(), other.numbers());
  std::vector<int> sorted = one.numbers();
  std::ranges::sort(sorted);
  for (std::size_t k = 0; k < sorted.size(); ++k) ASSERT_EQ(sorted[k], int(k));
}

// Clusters whose sizes differ by four orders of magnitude, each with the reach that suits it; and one that reaches all.
TEST(ParticleTree, TestsFewMoreThanAct) {
  std::mt19937_64 random(5);
  SearchSpace space = space_of(3, false, SearchLayout::Reach::Max);
  Sites sites;
  sites.rows.resize(4);
  constexpr std::int64_t count = 40000;
  for (std::int64_t k = 0; k < count; ++k) {
    const double size = std::pow(10.0, -double(k % 5));
    std::uniform_real_distribution<double> number(-size, size);
    for (std::size_t axis = 0; axis < 3; ++axis) sites.rows[axis].push_back(number(random) + 3.0 * double(k % 5));
    sites.rows[3].push_back(size * 0.2);
  }
  sites.rows[3][17] = 1e20;
  const ParticleTree tree(space, sites.pointers(), true, count, kInOrder);
  std::vector<int> found;
  std::int64_t tested = 0, hits = 0;
  for (std::int64_t group = 0; group < tree.leaves(); group += 10) {
    found.clear();
    tree.find(tree.leaf(group), found);
    if (found.size() == count) continue;  // the group of the one that reaches all
    for (int k = 0; k < ParticleTree::kLeaf; ++k) {
      const auto one = std::size_t(tree.numbers()[std::size_t(group * ParticleTree::kLeaf + k)]);
      tested += std::int64_t(found.size());
      for (const int position : found) {
        const auto other = std::size_t(tree.numbers()[std::size_t(position)]);
        hits +=
            exact_distance(space, sites, one, sites, other) <= space.reach(sites.rows[3][one], sites.rows[3][other]);
      }
    }
  }
  EXPECT_LE(tested, 15 * hits);
}

TEST(ParticleTree, NobodyIsFoundAmongNobody) {
  const SearchSpace space = space_of(2, false, SearchLayout::Reach::Uniform);
  const Sites sites{{{}, {}, {}}};
  const ParticleTree tree(space, sites.pointers(), false, 0, kInOrder);
  std::vector<int> found;
  tree.find({}, found);
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(tree.leaves(), 0);
}

// Put back into the box from below 0, a coordinate would be rounded to the last digits of the length.
TEST(ParticleTree, KeepsCoordinatesThatAreSmallBesideTheLength) {
  SearchSpace space = space_of(1, true, SearchLayout::Reach::Uniform);
  space.set_length(0, 1);
  space.uniform = 1.0e-16;
  space.absolute = 0;
  space.of_size = 0x1p-48;
  const Sites i{{{-1e-16}}}, j{{{0}}};
  const ParticleTree i_tree(space, i.pointers(), false, 1, kInOrder), j_tree(space, j.pointers(), false, 1, kInOrder);
  std::vector<int> found;
  j_tree.find(i_tree.leaf(0), found);
  EXPECT_EQ(found.size(), 1U);
}

// A reach that is no number bounds nothing.
TEST(ParticleTree, ReachesThatAreNoNumbersReachAll) {
  std::mt19937_64 random(9);
  const SearchSpace space = space_of(1, false, SearchLayout::Reach::OfJ);
  Sites j = random_sites(random, 1, 100, 0, 1000);
  j.rows[1][40] = std::numeric_limits<double>::quiet_NaN();
  const ParticleTree tree(space, j.pointers(), true, 100, kInOrder);
  std::vector<int> found;
  tree.find({.centre = {-5000.0}, .half = {0.0}, .reach = 0}, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(tree.numbers()[std::size_t(found[0])], 40);
}

}  // namespace
}  // namespace nbcc
