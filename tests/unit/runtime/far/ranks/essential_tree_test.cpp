// Essential trees: what a process needs of the tree of another, and the forest in which it sums.
#include "runtime/far/ranks/essential_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "runtime/far/far_grids.h"

namespace nbcc {
namespace {

const ForEach kOneByOne = [](std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t item = 0; item < count; ++item) body(item);
};

// In a cube of side 1 that begins at `first` along x.
std::vector<double> cube_at(double first, std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> positions;
  for (std::int64_t k = 0; k < 3 * count; ++k) positions.push_back(uniform(random) + (k % 3 == 0 ? first : 0));
  return positions;
}

FarTree tree_of(const std::vector<double>& positions, int leaf = 16) {
  FarTree tree;
  tree.build(positions, 3, {}, leaf, kOneByOne);
  return tree;
}

// A grid serves up to this ratio of a cell's radius to its distance.
FarLimits limits_of(double ratio) {
  FarLimits limits;
  limits.first_size = -40;
  FarLimits::Row row{};
  for (int k = 0; k < FarLimits::kRatios; ++k) row[std::size_t(k)] = k <= ratio * FarLimits::kRatios ? 1e9F : 0;
  limits.rows.assign(60, row);
  return limits;
}

double distance_to(const FarBox& box, const std::array<double, 3>& point) {
  double squared = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    squared += std::pow(std::max(0.0, std::fabs(box.centre[axis] - point[axis]) - box.half[axis]), 2);
  return std::sqrt(squared);
}

TEST(EssentialTree, BoxesContainAllParticles) {
  const std::vector<double> positions = cube_at(0, 3000, 1);
  const FarTree tree = tree_of(positions);
  for (const std::size_t most : {1, 2, 7, 64, 100000}) {
    const std::vector<FarBox> boxes = boxes_of(tree.cells(), most);
    EXPECT_LE(boxes.size(), most);
    EXPECT_GE(boxes.size(), std::min<std::size_t>(most, 64));
    for (std::size_t k = 0; k < positions.size(); k += 3)
      EXPECT_TRUE(std::ranges::any_of(boxes, [&](const FarBox& box) {
        return distance_to(box, {positions[k], positions[k + 1], positions[k + 2]}) == 0;
      }));
  }
  EXPECT_TRUE(boxes_of({}, 64).empty());
}

// Each particle is sent, or is in one cell whose grid alone is sent; that cell is distant from all boxes, and the cell
// above it is not.
TEST(EssentialTree, HasEachParticleOnce) {
  constexpr double kRatio = 0.5;
  const FarTree tree = tree_of(cube_at(0, 4000, 2));
  const std::vector<FarBox> boxes = boxes_of(tree_of(cube_at(1.01, 4000, 3)).cells(), 64);
  const EssentialTree found = essential_tree(tree.cells(), 3, boxes, limits_of(kRatio));
  std::vector<int> times(4000, 0);
  for (const std::int32_t position : found.order) ++times[std::size_t(position)];
  for (const std::int32_t grid : found.grids) {
    const FarCell& cell = tree.cells()[std::size_t(grid)];
    for (std::int32_t p = cell.begin; p < cell.end; ++p) ++times[std::size_t(p)];
    for (const FarBox& box : boxes) EXPECT_LE(cell.radius, kRatio * distance_to(box, cell.centre) * (1 + 1e-12));
  }
  EXPECT_EQ(std::ranges::count(times, 1), 4000);
  EXPECT_GT(found.grids.size(), 20U);
  EXPECT_GT(found.particles(), 100);
  EXPECT_LT(found.particles(), 3000);
  EXPECT_EQ(found.cells[0].count(), 4000);
  EXPECT_EQ(found.cells[0].end, found.particles());
  std::size_t grids = 0;
  for (const FarCell& cell : found.cells) {
    if (cell.has_grid_alone()) {
      ++grids;
      EXPECT_EQ(cell.begin, cell.end);
    }
    if (cell.is_leaf()) continue;
    const FarCell &left = found.cells[std::size_t(cell.child)], &right = found.cells[std::size_t(cell.child) + 1];
    EXPECT_EQ(cell.begin, left.begin);
    EXPECT_EQ(left.end, right.begin);
    EXPECT_EQ(cell.end, right.end);
    EXPECT_EQ(cell.count(), left.count() + right.count());
    EXPECT_FALSE(std::ranges::all_of(
        boxes, [&](const FarBox& box) { return cell.radius <= (kRatio - 0.03) * distance_to(box, cell.centre); }));
  }
  EXPECT_EQ(grids, found.grids.size());
}

TEST(EssentialTree, OfDistantBoxesIsOneGrid) {
  const FarTree tree = tree_of(cube_at(0, 500, 2));
  const std::vector<FarBox> boxes = boxes_of(tree_of(cube_at(30, 10, 3)).cells(), 64);
  const EssentialTree found = essential_tree(tree.cells(), 3, boxes, limits_of(0.5));
  ASSERT_EQ(found.cells.size(), 1U);
  EXPECT_EQ(found.cells[0].elsewhere, 500);
  EXPECT_EQ(found.grids, std::vector<std::int32_t>{0});
  EXPECT_EQ(found.particles(), 0);
  EXPECT_TRUE(essential_tree(tree.cells(), 3, {}, limits_of(0.5)).cells.empty());
  EXPECT_TRUE(essential_tree({}, 3, boxes, limits_of(0.5)).cells.empty());
}

// A grid that serves near, but not far away, as for a term that vanishes, does not serve for boxes that contain both.
TEST(EssentialTree, AsksForAllSmallerRatios) {
  const FarTree tree = tree_of(cube_at(0, 500, 2));
  FarLimits limits = limits_of(0.5);
  for (FarLimits::Row& row : limits.rows) row[FarLimits::kFirst] = 0;
  const EssentialTree found =
      essential_tree(tree.cells(), 3, boxes_of(tree_of(cube_at(30, 10, 3)).cells(), 64), limits);
  EXPECT_EQ(found.particles(), 500);
}

// A cell at the other end of the period is near the boxes with a shift.
TEST(EssentialTree, IsCutForAllImages) {
  constexpr double kRatio = 0.5, kPeriod = 2;
  const FarTree tree = tree_of(cube_at(0, 4000, 2));
  const std::vector<FarBox> boxes = boxes_of(tree_of(cube_at(1, 4000, 3)).cells(), 64);
  std::vector<std::array<double, 3>> images;
  for (const double x : {0.0, -kPeriod, kPeriod})
    for (const double y : {0.0, -kPeriod, kPeriod}) images.push_back({x, y, 0});
  const EssentialTree found = essential_tree(tree.cells(), 3, boxes, limits_of(kRatio), images);
  EXPECT_GT(found.grids.size(), 20U);
  for (const std::int32_t grid : found.grids) {
    const FarCell& cell = tree.cells()[std::size_t(grid)];
    for (const std::array<double, 3>& shift : images)
      for (const FarBox& box : boxes) {
        std::array<double, 3> centre = cell.centre;
        for (std::size_t axis = 0; axis < 3; ++axis) centre[axis] += shift[axis];
        EXPECT_LE(cell.radius, kRatio * distance_to(box, centre) * (1 + 1e-12));
      }
  }
  // Particles at both ends, and with the images in any order.
  const auto near = [&](double low, double high) {
    return std::ranges::count_if(found.order, [&](std::int32_t position) {
      const double x = tree.coordinates(0)[std::size_t(position)];
      return x >= low && x < high;
    });
  };
  EXPECT_GT(near(0, 0.1), 300);
  EXPECT_GT(near(0.9, 1), 300);
  EXPECT_LT(near(0.45, 0.55), near(0, 0.1));
  std::ranges::reverse(images);
  EXPECT_EQ(essential_tree(tree.cells(), 3, boxes, limits_of(kRatio), images).order, found.order);
  EXPECT_LT(essential_tree(tree.cells(), 3, boxes, limits_of(kRatio)).particles(), found.particles());
}

// Pairs of a walk over a forest: each i meets each j of all trees once, by its particle or by a grid.
TEST(EssentialTree, AForestActsOnEachParticleOnce) {
  for (const bool both_sides : {true, false}) {
    const FarLimits limits = limits_of(0.6);
    const FarTree own = tree_of(cube_at(0, 1500, 4)), second = tree_of(cube_at(1, 1000, 5)),
                  third = tree_of(cube_at(2.5, 700, 6));
    const std::vector<FarBox> boxes = boxes_of(own.cells(), 64);
    std::vector<std::vector<FarCell>> others(4);  // two processes have sent nothing
    others[1] = essential_tree(second.cells(), 3, boxes, limits).cells;
    others[3] = essential_tree(third.cells(), 3, boxes, limits).cells;
    FarTree forest;
    forest.merge(own, others);
    EXPECT_EQ(forest.roots().size(), 3U);
    EXPECT_EQ(forest.count(), 1500 + others[1][0].end + others[3][0].end);
    for (std::size_t level = 0; level + 1 < forest.level_first().size(); ++level)
      for (std::int32_t k = forest.level_first()[level]; k < forest.level_first()[level + 1]; ++k)
        EXPECT_EQ(forest.cells()[std::size_t(k)].level, std::int32_t(level));
    const std::vector<std::int32_t> roots = forest.roots();
    const std::vector<std::int32_t> of_own(own.cells().size(), 64), of_forest(forest.cells().size(), 64);
    const FarWalk found =
        walk(own.cells(), forest.cells(), 3, {of_own, of_forest, both_sides, {}, roots}, limits, false, kOneByOne);
    std::vector<std::int64_t> acting(1500, 0);  // [position of i]
    for (const FarEntry& entry : found.entries) {
      const FarCell &i = own.cells()[std::size_t(entry.of_i)], &j = forest.cells()[std::size_t(entry.of_j)];
      const bool is_of_grid = entry.kind == FarKind::GridOnParticles || entry.kind == FarKind::GridOnGrid;
      EXPECT_TRUE(j.elsewhere == 0 || is_of_grid);
      for (std::int32_t p = i.begin; p < i.end; ++p) acting[std::size_t(p)] += j.count();
    }
    EXPECT_EQ(std::ranges::count(acting, 1500 + 1000 + 700), 1500) << both_sides;
  }
}

// Weights of a forest go up to the same grids as those of the trees of which it consists.
TEST(EssentialTree, WeightsOfReceivedCellsGoUp) {
  constexpr int kOrder = 7;  // grids of flat cells have fewer points
  const FarTree own = tree_of(cube_at(0, 300, 4)), second = tree_of(cube_at(1, 1000, 5));
  const EssentialTree sent = essential_tree(second.cells(), 3, boxes_of(own.cells(), 64), limits_of(0.6));
  const auto weights_of = [](const FarTree& tree) {
    std::vector<double> values(std::size_t(FarGrids(tree, kOrder).points()));
    for (std::int64_t p = 0; p < tree.count(); ++p) values[std::size_t(p)] = 1 + double(p % 7);
    const std::vector<std::span<double>> columns{values};
    FarGrids(tree, kOrder).go_up(columns, kOneByOne);
    return values;
  };
  const std::vector<double> all = weights_of(second);
  const FarGrids of_second(second, kOrder);
  FarTree forest;
  const std::vector<std::vector<FarCell>> others{sent.cells};
  forest.merge(own, others);
  std::vector<double> positions;
  for (const std::int32_t p : sent.order)
    for (int axis = 0; axis < 3; ++axis) positions.push_back(second.coordinates(axis)[std::size_t(p)]);
  forest.place(own.count(), positions);
  const FarGrids grids(forest, kOrder);
  std::vector<double> values(std::size_t(grids.points()), -1);
  for (std::size_t k = 0; k < sent.order.size(); ++k)
    values[std::size_t(own.count()) + k] = all[std::size_t(sent.order[k])];
  std::size_t grid = 0;
  for (std::size_t k = 0; k < sent.cells.size(); ++k)
    if (sent.cells[k].has_grid_alone())
      std::copy_n(all.begin() + of_second.first_point(sent.grids[grid++]), grids.points_of(forest.numbers(1)[k]),
                  values.begin() + grids.first_point(forest.numbers(1)[k]));
  std::vector<char> is_received(forest.cells().size(), 1);
  for (const std::int32_t cell : forest.numbers(0)) is_received[std::size_t(cell)] = 0;
  const std::vector<std::span<double>> columns{values};
  grids.go_up(columns, kOneByOne, is_received);
  const std::int64_t root = grids.first_point(forest.numbers(1)[0]), of_root = of_second.first_point(0);
  for (int p = 0; p < grids.points_of(forest.numbers(1)[0]); ++p)
    EXPECT_NEAR(values[std::size_t(root + p)], all[std::size_t(of_root + p)], 1e-11 * 4000);
  for (const std::int32_t cell : forest.numbers(0))
    EXPECT_EQ(values[std::size_t(grids.first_point(cell))], -1) << "an own cell is left as it is";
}

}  // namespace
}  // namespace nbcc
