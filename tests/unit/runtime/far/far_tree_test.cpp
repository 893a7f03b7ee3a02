// Trees, grids and walks of far fields: polynomials are interpolated exactly, cells partition the particles, and every
// pair of particles is in exactly one list.
#include "runtime/far/far_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/far/chebyshev.h"
#include "runtime/far/far_grids.h"
#include "runtime/far/far_walk.h"

namespace nbcc {
namespace {

const ForEach kInOrder = [](std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t item = 0; item < count; ++item) body(item);
};
// Items in another order than that of their numbers, as threads may take them.
const ForEach kBackwards = [](std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t item = count; item-- > 0;) body(item);
};

std::vector<double> chebyshev_values(const Chebyshev& chebyshev, double x) {
  Chebyshev::Values values{};
  with_order(chebyshev.order(), [&]<int order>() { chebyshev.evaluate<order>(x, values.data()); });
  return {values.begin(), values.begin() + chebyshev.order()};
}

TEST(FarChebyshev, InterpolatesPolynomialsExactly) {
  for (int order = 1; order <= Chebyshev::kMaxOrder; ++order) {
    const Chebyshev chebyshev(order);
    for (int degree = 0; degree <= order; ++degree)
      for (const double x : {-1.0, -0.7, 0.0, 0.31, 1.0}) {
        const std::vector<double> values = chebyshev_values(chebyshev, x);
        double sum = 0, interpolated = 0;
        for (int k = 0; k < order; ++k) {
          sum += values[std::size_t(k)];
          interpolated += values[std::size_t(k)] * std::pow(chebyshev.point(k), degree);
        }
        EXPECT_NEAR(sum, 1, 1e-14 * order);
        if (degree < order) EXPECT_NEAR(interpolated, std::pow(x, degree), 1e-14 * order) << order << " " << degree;
      }
    // A polynomial of degree q is not: its error at 1 is 2^(1 - q), the value of a Chebyshev polynomial over its
    // factor.
    const std::vector<double> values = chebyshev_values(chebyshev, 1);
    double interpolated = 0;
    for (int k = 0; k < order; ++k) interpolated += values[std::size_t(k)] * std::pow(chebyshev.point(k), order);
    EXPECT_NEAR(1 - interpolated, std::ldexp(1.0, 1 - order), 1e-14 * order);
  }
}

TEST(FarChebyshev, PolynomialsAreOneAtTheirPointsAndZeroAtOthers) {
  for (int order = 1; order <= Chebyshev::kMaxOrder; ++order) {
    const Chebyshev chebyshev(order);
    for (int k = 0; k < order; ++k) {
      const std::vector<double> values = chebyshev_values(chebyshev, chebyshev.point(k));
      for (int m = 0; m < order; ++m) EXPECT_NEAR(values[std::size_t(m)], m == k ? 1 : 0, 1e-13);
    }
  }
}

// positions[particle * axes + axis]
std::vector<double> far_positions(const std::string& what, std::int64_t n, int axes, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> positions;
  for (std::int64_t k = 0; k < n; ++k) {
    const double along = uniform(random);
    for (int axis = 0; axis < axes; ++axis) {
      double x = uniform(random);
      if (what == "coincident") x = 0.3 + axis;
      if (what == "few positions") x = double(random() % 2) + 5;
      if (what == "line") x = along * (axis + 1) + 3;
      if (what == "axis" && axis > 0) x = 7;
      if (what == "plane" && axis == axes - 1) x = -2;
      if (what == "far body" && k == n / 2) x = 1e9;
      if (what == "clumps") x = 1e-4 * x + (k % 2 == 0 ? 0 : 1e3);
      if (what == "zero") x = 0;
      if (what == "large") x *= 1e200;
      if (what == "offset") x = x * 1e-9 + 1e6;
      positions.push_back(x);
    }
  }
  return positions;
}

const char* const kFarShapes[] = {"uniform",  "coincident", "few positions", "line",  "axis",  "plane",
                                  "far body", "clumps",     "zero",          "large", "offset"};

void expect_partition(const FarTree& tree, const std::vector<double>& positions, const std::set<std::int64_t>& chosen,
                      int leaf) {
  const int axes = tree.axes();
  ASSERT_EQ(tree.count(), std::int64_t(chosen.size()));
  EXPECT_EQ(std::set<std::int64_t>(tree.order().begin(), tree.order().end()), chosen);
  for (int axis = 0; axis < axes; ++axis)
    for (std::size_t p = 0; p < chosen.size(); ++p)
      EXPECT_EQ(tree.coordinates(axis)[p], positions[std::size_t(tree.order()[p] * axes + axis)]);
  EXPECT_EQ(tree.cells().empty(), chosen.empty());
  if (chosen.empty()) return;
  const auto cells = tree.cells();
  EXPECT_EQ(cells[0].begin, 0);
  EXPECT_EQ(cells[0].end, std::int32_t(chosen.size()));
  EXPECT_EQ(tree.level_first().back(), std::int32_t(cells.size()));
  std::vector<int> leaves_of(chosen.size(), 0);
  std::vector<int> parents(cells.size(), 0);
  double side = 0;
  for (int axis = 0; axis < axes; ++axis) side = std::max(side, 2 * cells[0].half[std::size_t(axis)]);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const FarCell& cell = cells[k];
    EXPECT_GE(std::int32_t(k), tree.level_first()[std::size_t(cell.level)]);
    EXPECT_LT(std::int32_t(k), tree.level_first()[std::size_t(cell.level) + 1]);
    EXPECT_GT(cell.count(), 0);
    double squared = 0, extent = 0;
    for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
      EXPECT_GT(cell.half[axis], 0);
      double least = INFINITY, most = -INFINITY;
      for (std::int32_t p = cell.begin; p < cell.end; ++p) {
        const double x = tree.coordinates(int(axis))[std::size_t(p)];
        EXPECT_LE(std::fabs(x - cell.centre[axis]), cell.half[axis]);
        least = std::min(least, x), most = std::max(most, x);
      }
      // The box is tight but for rounding.
      EXPECT_LE(cell.half[axis], (most - least) / 2 * (1 + 1e-12) + 1e-12 * std::fabs(cell.centre[axis]) + 1e-280);
      extent = std::max(extent, most - least);
      squared += cell.half[axis] * cell.half[axis];
    }
    EXPECT_DOUBLE_EQ(cell.radius, std::sqrt(squared));
    if (cell.is_leaf()) {
      for (std::int32_t p = cell.begin; p < cell.end; ++p) ++leaves_of[std::size_t(p)];
      if (cell.count() > leaf) EXPECT_LE(extent, side * std::ldexp(1.0, axes == 3 ? -20 : -30));
      continue;
    }
    EXPECT_GT(cell.count(), leaf);
    const FarCell &left = cells[std::size_t(cell.child)], &right = cells[std::size_t(cell.child) + 1];
    EXPECT_GT(cell.child, std::int32_t(k));
    EXPECT_EQ(left.begin, cell.begin);
    EXPECT_EQ(left.end, right.begin);
    EXPECT_EQ(right.end, cell.end);
    ++parents[std::size_t(cell.child)], ++parents[std::size_t(cell.child) + 1];
  }
  for (const int leaves : leaves_of) EXPECT_EQ(leaves, 1);
  for (std::size_t k = 1; k < parents.size(); ++k) EXPECT_EQ(parents[k], 1);
}

TEST(FarTree, CellsPartitionTheParticles) {
  for (const int axes : {1, 2, 3})
    for (const char* const shape : kFarShapes)
      for (const std::int64_t n : {0, 1, 2, 3, 27, 700})
        for (const int leaf : {1, 8, 64}) {
          SCOPED_TRACE(std::string(shape) + ", " + std::to_string(axes) + " axes, n " + std::to_string(n) + ", leaf " +
                       std::to_string(leaf));
          const std::vector<double> positions = far_positions(shape, n, axes, 7);
          std::set<std::int64_t> all;
          for (std::int64_t k = 0; k < n; ++k) all.insert(k);
          FarTree tree;
          tree.build(positions, axes, {}, leaf, kInOrder);
          expect_partition(tree, positions, all, leaf);
          if (HasFailure()) return;
        }
}

TEST(FarTree, IsMadeOfChosenParticlesAndSplitAgain) {
  const std::vector<double> positions = far_positions("uniform", 500, 3, 3);
  std::vector<std::int64_t> chosen;
  for (std::int64_t k = 499; k > 0; k -= 3) chosen.push_back(k);
  FarTree tree;
  tree.build(positions, 3, chosen, 16, kInOrder);
  expect_partition(tree, positions, {chosen.begin(), chosen.end()}, 16);
  for (const int leaf : {4, 1, 100}) {
    tree.split_again(leaf, kBackwards);
    expect_partition(tree, positions, {chosen.begin(), chosen.end()}, leaf);
  }
}

TEST(FarTree, ManyParticlesAreSortedInChunks) {
  const std::int64_t n = 100'000;
  const std::vector<double> positions = far_positions("uniform", n, 3, 5);
  FarTree forwards, backwards;
  forwards.build(positions, 3, {}, 64, kInOrder);
  backwards.build(positions, 3, {}, 64, kBackwards);
  EXPECT_TRUE(std::ranges::equal(forwards.order(), backwards.order()));
  std::int64_t in_leaves = 0;
  for (const FarCell& cell : forwards.cells())
    if (cell.is_leaf()) {
      in_leaves += cell.count();
      EXPECT_LE(cell.count(), 64);
    }
  EXPECT_EQ(in_leaves, n);
}

// A polynomial of degree q - 1 along each axis, of the position relative to the root's box.
double far_polynomial(const FarTree& tree, const std::array<double, 3>& x, int order) {
  double value = 1;
  for (std::size_t axis = 0; axis < std::size_t(tree.axes()); ++axis) {
    // Along an axis without extent the box is as wide as roundings.
    const double centre = tree.cells()[0].centre[axis];
    const double y = (x[axis] - centre) / std::max(tree.cells()[0].half[axis], 1e-3 * std::fabs(centre));
    value *= 0.5 + std::pow(0.8 * y + 0.1 * double(axis), order - 1) - 0.3 * y * (order > 1 ? 1 : 0);
  }
  return value;
}

struct FarPoints {
  FarPoints(const FarTree& tree, const FarGrids& grids) {
    columns.assign(std::size_t(tree.axes()), std::vector<double>(std::size_t(grids.points())));
    std::vector<std::span<double>> spans(columns.begin(), columns.end());
    grids.locate(spans, kBackwards);
  }
  std::array<double, 3> operator[](std::int64_t point) const {
    std::array<double, 3> x{};
    for (std::size_t axis = 0; axis < columns.size(); ++axis) x[axis] = columns[axis][std::size_t(point)];
    return x;
  }
  std::vector<std::vector<double>> columns;
};

TEST(FarGrids, WeightsGoUpExactly) {
  for (const int axes : {1, 2, 3})
    for (const char* const shape : {"uniform", "line", "plane", "clumps", "far body", "axis", "few positions"})
      for (const int order : {1, 2, 3, 5, 8, 11}) {
        if (axes == 3 && order > 8) continue;
        SCOPED_TRACE(std::string(shape) + ", axes " + std::to_string(axes) + ", order " + std::to_string(order));
        const std::int64_t n = 200;
        FarTree tree;
        tree.build(far_positions(shape, n, axes, 11), axes, {}, 12, kInOrder);
        const FarGrids grids(tree, order, FarShape::Cube);
        const FarPoints points(tree, grids);
        std::mt19937_64 random(2);
        std::uniform_real_distribution<double> uniform(-1, 1);
        std::vector<std::vector<double>> values(2, std::vector<double>(std::size_t(grids.points()), 1e9));
        for (auto& column : values)
          for (std::size_t p = 0; p < std::size_t(n); ++p) column[p] = uniform(random);
        const std::vector<std::vector<double>> given = values;
        std::vector<std::span<double>> spans(values.begin(), values.end());
        grids.go_up(spans, kBackwards);
        for (std::size_t w = 0; w < values.size(); ++w)
          for (std::size_t k = 0; k < tree.cells().size(); ++k) {
            const FarCell& cell = tree.cells()[k];
            double of_particles = 0, of_grid = 0, size = 0;
            for (std::int32_t p = cell.begin; p < cell.end; ++p) {
              EXPECT_EQ(values[w][std::size_t(p)], given[w][std::size_t(p)]);
              of_particles += values[w][std::size_t(p)] * far_polynomial(tree, points[p], order);
              size += std::fabs(values[w][std::size_t(p)]);
            }
            for (int g = 0; g < grids.points_of(std::int64_t(k)); ++g) {
              const std::int64_t point = grids.first_point(std::int64_t(k)) + g;
              of_grid += values[w][std::size_t(point)] * far_polynomial(tree, points[point], order);
            }
            EXPECT_NEAR(of_grid, of_particles, 1e-11 * size);
          }
        if (HasFailure()) return;
      }
}

TEST(FarGrids, SumsGoDownExactly) {
  for (const int axes : {1, 2, 3})
    for (const char* const shape : {"uniform", "line", "plane", "clumps", "far body", "axis"})
      for (const int order : {1, 2, 4, 7}) {
        SCOPED_TRACE(std::string(shape) + ", axes " + std::to_string(axes) + ", order " + std::to_string(order));
        const std::int64_t n = 200;
        FarTree tree;
        tree.build(far_positions(shape, n, axes, 13), axes, {}, 12, kInOrder);
        const FarGrids grids(tree, order, FarShape::Cube);
        const FarPoints points(tree, grids);
        // Each cell's grid receives another multiple of the polynomial.
        std::vector<std::vector<double>> sums(2, std::vector<double>(std::size_t(grids.points()), 0.0));
        std::vector<std::vector<double>> expected(2, std::vector<double>(std::size_t(n), 0.0));
        for (std::size_t s = 0; s < sums.size(); ++s) {
          for (std::size_t p = 0; p < std::size_t(n); ++p) sums[s][p] = expected[s][p] = double(p % 5);
          for (std::size_t k = 0; k < tree.cells().size(); ++k) {
            const FarCell& cell = tree.cells()[k];
            const double factor = 1 + double((3 * k + s) % 7);
            for (int g = 0; g < grids.points_of(std::int64_t(k)); ++g) {
              const std::int64_t point = grids.first_point(std::int64_t(k)) + g;
              sums[s][std::size_t(point)] = factor * far_polynomial(tree, points[point], order);
            }
            for (std::int32_t p = cell.begin; p < cell.end; ++p)
              expected[s][std::size_t(p)] += factor * far_polynomial(tree, points[p], order);
          }
        }
        std::vector<std::vector<double>> some = sums;
        std::vector<std::span<double>> spans(sums.begin(), sums.end()), some_spans(some.begin(), some.end());
        grids.go_down(spans, {}, kBackwards);
        for (std::size_t s = 0; s < sums.size(); ++s)
          for (std::size_t p = 0; p < std::size_t(n); ++p)
            EXPECT_NEAR(sums[s][p], expected[s][p], 1e-11 * (100 + std::fabs(expected[s][p])));
        // Only the ancestors of one particle are wanted: it gets the same, others may get nothing.
        std::vector<char> wanted(tree.cells().size(), 0);
        for (std::size_t k = 0; k < wanted.size(); ++k)
          wanted[k] = char(tree.cells()[k].begin <= 77 && 77 < tree.cells()[k].end);
        grids.go_down(some_spans, wanted, kInOrder);
        EXPECT_EQ(some[0][77], sums[0][77]);
        EXPECT_EQ(some[1][77], sums[1][77]);
        if (HasFailure()) return;
      }
}

TEST(FarGrids, ShorterSidesHaveFewerPoints) {
  FarCell cell;
  cell.half = {0.5, 1, 0.1};
  EXPECT_EQ(points_along(FarShape::Cube, 7, cell, 3), (std::array{7, 7, 7}));
  EXPECT_EQ(points_along(FarShape::Shorter, 7, cell, 3), (std::array{6, 7, 4}));
  EXPECT_EQ(points_along(FarShape::Shorter, 7, cell, 2), (std::array{6, 7, 1}));
  EXPECT_EQ(points_along(FarShape::Shorter, 5, cell, 3), (std::array{5, 5, 5}));
  cell.half = {1, 1, 1e-12};
  EXPECT_EQ(points_along(FarShape::Shorter, 7, cell, 3), (std::array{7, 7, 1}));
  EXPECT_EQ(points_along(FarShape::Shorter, 1, cell, 3), (std::array{1, 1, 1}));
}

// 1 / distance of particles and of points on a sphere around a cell: through the cell's grid, up and down.
TEST(FarGrids, ShorterSidesAreAsExact) {
  for (const char* const shape : {"uniform", "line", "plane", "clumps", "axis"}) {
    SCOPED_TRACE(shape);
    const std::int64_t n = 400;
    FarTree tree;
    tree.build(far_positions(shape, n, 3, 17), 3, {}, 12, kInOrder);
    std::array<double, 2> errors{};
    std::array<std::int64_t, 2> points_in_all{};
    for (const FarShape of : {FarShape::Cube, FarShape::Shorter}) {
      const FarGrids grids(tree, 7, of);
      const FarPoints points(tree, grids);
      points_in_all[std::size_t(of)] = grids.points();
      std::vector<double> weights(std::size_t(grids.points()), 1);
      const std::vector<std::span<double>> columns{weights};
      grids.go_up(columns, kInOrder);
      double& worst = errors[std::size_t(of)];
      std::mt19937_64 random(3);
      std::normal_distribution<double> normal;
      for (std::size_t k = 0; k < tree.cells().size(); ++k) {
        const FarCell& cell = tree.cells()[k];
        if (cell.count() < 2 || !(cell.radius > 1e-6 * tree.cells()[0].radius)) continue;
        const std::array<double, 3> v{normal(random), normal(random), normal(random)};
        std::array<double, 3> target{};
        for (std::size_t axis = 0; axis < 3; ++axis)
          target[axis] = cell.centre[axis] + 2.5 * cell.radius * v[axis] / std::hypot(v[0], v[1], v[2]);
        const auto inverse = [&](const std::array<double, 3>& x) {
          return 1 / std::hypot(x[0] - target[0], x[1] - target[1], x[2] - target[2]);
        };
        std::vector<double> sums(std::size_t(grids.points()), 0.0);
        double exact = 0, up = 0;
        for (std::int32_t p = cell.begin; p < cell.end; ++p) exact += inverse(points[p]);
        for (int g = 0; g < grids.points_of(std::int64_t(k)); ++g) {
          const std::int64_t point = grids.first_point(std::int64_t(k)) + g;
          up += weights[std::size_t(point)] * inverse(points[point]);
          sums[std::size_t(point)] = inverse(points[point]);
        }
        const std::vector<std::span<double>> of_sums{sums};
        grids.go_down(of_sums, {}, kInOrder);
        worst = std::max(worst, std::fabs(up / exact - 1));
        for (std::int32_t p = cell.begin; p < cell.end; ++p)
          worst = std::max(worst, std::fabs(sums[std::size_t(p)] / inverse(points[p]) - 1));
      }
    }
    EXPECT_LT(errors[1], 3 * errors[0]);
    EXPECT_LT(errors[1], 1e-3);
    EXPECT_LE(points_in_all[1], points_in_all[0]);
    if (shape != std::string("clumps"))  // whose cells are cubes
      EXPECT_LT(double(points_in_all[1] - n), 0.8 * double(points_in_all[0] - n));
  }
}

// How often each pair of particles is served, by positions in the trees; and the pairs that kernels evaluate.
struct FarCounted {
  std::vector<int> served;
  std::array<double, kFarKinds> pairs{};
};
FarCounted count_far_pairs(const FarTree& i, const FarTree& j, const FarWalk& walk, const FarGridUse& use) {
  FarCounted counted;
  counted.served.assign(std::size_t(i.count() * j.count()), 0);
  for (const FarEntry& entry : walk.entries) {
    const FarCell &of_i = i.cells()[std::size_t(entry.of_i)], &of_j = j.cells()[std::size_t(entry.of_j)];
    const bool particles_receive =
        entry.kind == FarKind::ParticlesOnParticles || entry.kind == FarKind::GridOnParticles;
    const bool particles_act = entry.kind == FarKind::ParticlesOnParticles || entry.kind == FarKind::ParticlesOnGrid;
    counted.pairs[std::size_t(entry.kind)] +=
        double(particles_receive ? of_i.count() : use.points_of_i[std::size_t(entry.of_i)]) *
        double(particles_act ? of_j.count() : use.points_of_j[std::size_t(entry.of_j)]);
    if (particles_receive) EXPECT_TRUE(of_i.is_leaf());
    for (std::int32_t p = of_i.begin; p < of_i.end; ++p)
      for (std::int32_t q = of_j.begin; q < of_j.end; ++q) ++counted.served[std::size_t(p * j.count() + q)];
  }
  return counted;
}

double distance_to_box(const FarCell& cell, const FarCell& other, int axes) {
  double squared = 0;
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
    const double gap = std::max(0.0, std::fabs(cell.centre[axis] - other.centre[axis]) - other.half[axis]);
    squared += gap * gap;
  }
  return std::sqrt(squared);
}

bool is_far_enough(const FarCell& cell, int acting, const FarCell& other, int axes, const FarLimits& limits) {
  const double distance = distance_to_box(cell, other, axes);
  for (int k = FarLimits::kFirst; k < FarLimits::kRatios; ++k)
    if (FarLimits::kRatios * cell.radius <= k * distance * (1 + 1e-12))
      return float(acting) <= limits.rows[std::size_t(cell.size() - limits.first_size)][std::size_t(k)];
  return false;
}

// Grids of half as many points or more.
std::vector<std::int32_t> points_near(int grid, const FarTree& tree) {
  std::vector<std::int32_t> points(tree.cells().size());
  for (std::size_t k = 0; k < points.size(); ++k) points[k] = std::max(1, grid - int(k % 3) * grid / 4);
  return points;
}

void expect_each_pair_once(const FarTree& i, const FarTree& j, bool both_sides, int grid, std::mt19937_64& random) {
  // Sizes from 2^-40 on; each ratio lets fewer j act than the one before.
  FarLimits limits;
  limits.first_size = -40;
  std::uniform_real_distribution<float> uniform(0.7F, 1);
  for (int size = 0; size < 80; ++size) {
    FarLimits::Row& row = limits.rows.emplace_back();
    float most = 300;
    for (float& value : row) value = most *= uniform(random);
  }
  const std::vector<std::int32_t> points_of_i = points_near(grid, i), points_of_j = points_near(grid, j);
  FarGridUse use{points_of_i, points_of_j, both_sides};
  use.relative = random() % 2 == 0;
  const FarWalk found = walk(i.cells(), j.cells(), i.axes(), use, limits, false, kBackwards);
  const FarCounted counted = count_far_pairs(i, j, found, use);
  for (const int times : counted.served) ASSERT_EQ(times, 1);
  std::set<std::int32_t> finished;
  std::int32_t last = -1;
  for (const FarEntry& entry : found.entries) {
    const FarCell &of = i.cells()[std::size_t(entry.of_i)], &from = j.cells()[std::size_t(entry.of_j)];
    if (entry.kind == FarKind::GridOnParticles || entry.kind == FarKind::GridOnGrid)
      EXPECT_TRUE(is_far_enough(from, from.count(), of, i.axes(), limits));
    if (entry.kind == FarKind::GridOnParticles && use.relative)
      EXPECT_LE(of.radius, 2 * distance_to_box(from, of, i.axes()) * (1 + 1e-12));
    if (entry.kind == FarKind::ParticlesOnGrid || entry.kind == FarKind::GridOnGrid) {
      ASSERT_TRUE(both_sides);
      EXPECT_TRUE(is_far_enough(of, from.count(), from, i.axes(), limits));
    }
    if (entry.of_i != last) EXPECT_TRUE(finished.insert(entry.of_i).second) << "entries of a cell are consecutive";
    last = entry.of_i;
  }
  const FarWalk only_counted = walk(i.cells(), j.cells(), i.axes(), use, limits, true, kInOrder);
  EXPECT_TRUE(only_counted.entries.empty());
  for (std::size_t kind = 0; kind < kFarKinds; ++kind) {
    EXPECT_EQ(found.pairs[kind], counted.pairs[kind]);
    EXPECT_EQ(only_counted.pairs[kind], counted.pairs[kind]);
  }
  const FarWalk again = walk(i.cells(), j.cells(), i.axes(), use, limits, false, kInOrder);
  EXPECT_TRUE(std::ranges::equal(again.entries, found.entries, [](const FarEntry& a, const FarEntry& b) {
    return a.of_i == b.of_i && a.of_j == b.of_j && a.kind == b.kind;
  }));
}

TEST(FarWalk, ServesEachPairOnce) {
  std::mt19937_64 random(23);
  std::array<int, 2> walks{};
  for (const int axes : {1, 2, 3})
    for (const char* const shape : kFarShapes)
      for (const std::int64_t n : {1, 2, 27, 260})
        for (const bool both_sides : {true, false}) {
          SCOPED_TRACE(std::string(shape) + ", axes " + std::to_string(axes) + ", n " + std::to_string(n) +
                       (both_sides ? ", both sides" : ", j alone"));
          const int leaf = 1 + int(random() % 9), grid = 1 + int(random() % 20);
          FarTree one, other;
          one.build(far_positions(shape, n, axes, 17), axes, {}, leaf, kInOrder);
          other.build(far_positions(kFarShapes[random() % 11], 1 + n / 2, axes, 19), axes, {}, leaf + 3, kInOrder);
          expect_each_pair_once(one, one, both_sides, grid, random);
          expect_each_pair_once(one, other, both_sides, grid, random);
          expect_each_pair_once(other, one, both_sides, grid, random);
          ++walks[both_sides ? 1 : 0];
          if (HasFailure()) return;
        }
  EXPECT_EQ(walks[0], walks[1]);
}

TEST(FarWalk, UsesAllKindsAndOfNothingMakesNothing) {
  FarTree tree, empty;
  tree.build(far_positions("uniform", 2000, 3, 29), 3, {}, 20, kInOrder);
  empty.build({}, 3, {}, 20, kInOrder);
  FarLimits limits;  // ratios up to 0.6
  limits.first_size = -40;
  limits.rows.resize(80);
  for (FarLimits::Row& row : limits.rows) std::fill_n(row.begin(), 25, 1e9F);
  EXPECT_EQ(limits.largest_ratio(), 0.6);
  const std::vector<std::int32_t> points = points_near(8, tree);
  const FarGridUse use{points, points, true};
  const FarWalk found = walk(tree.cells(), tree.cells(), 3, use, limits, true, kInOrder);
  EXPECT_LT(found.all_pairs(), 2000.0 * 2000.0);
  for (const double pairs : found.pairs) EXPECT_GT(pairs, 0);
  EXPECT_EQ(walk(empty.cells(), tree.cells(), 3, use, limits, false, kInOrder).all_pairs(), 0);
  EXPECT_EQ(walk(tree.cells(), empty.cells(), 3, use, limits, false, kInOrder).all_pairs(), 0);
}

}  // namespace
}  // namespace nbcc
