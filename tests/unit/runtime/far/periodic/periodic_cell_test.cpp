// Cells of periodic sums: reduced vectors, open directions, near images; and the grid of a cell.
#include "runtime/far/periodic/periodic_cell.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/error.h"
#include "runtime/far/periodic/cell_grid.h"
#include "runtime/far/periodic/chebyshev_series.h"
#include "runtime/far/periodic/nearest_image.h"

namespace nbcc {
namespace {

double length(const CellVector& a) { return std::hypot(a[0], a[1], a[2]); }

TEST(PeriodicCell, VectorsAreReduced) {
  const PeriodicCell cell =
      make_periodic_cell(3, std::vector<CellVector>{{1, 0, 0}, {1000.9, 1, 0}, {-7.7, -300.7, 1}});
  EXPECT_NEAR(cell.volume, 1, 1e-9);
  for (std::size_t row = 0; row < 3; ++row) EXPECT_LE(length(cell.rows[row]), 1.5);
}

TEST(PeriodicCell, RowsStayInOrderWhereACellChangesALittle) {
  for (const double change : {-0.004, 0.004}) {
    const std::vector<CellVector> vectors{{1, 0, 0}, {-0.5 + change, std::sqrt(0.75), 0}, {0, change, 1 + change}};
    const PeriodicCell cell = make_periodic_cell(3, vectors);
    for (std::size_t row = 0; row < 3; ++row) EXPECT_EQ(cell.rows[row], vectors[row]);
  }
}

TEST(PeriodicCell, CoordinatesAndVectorsAreInverse) {
  const std::vector<CellVector> plane{{1, 0.2, 0.1}, {-0.3, 0.9, 0.4}};
  const std::vector<OpenExtent> extent{{2, 5}};
  const PeriodicCell cell = make_periodic_cell(3, plane, extent);
  EXPECT_EQ(cell.periodic, 2);
  EXPECT_NEAR(length(cell.rows[2]), 3, 1e-14);
  EXPECT_NEAR(length(cell.origin), 3.5, 1e-14);
  const CellVector position{0.7, -2.1, 3.3};
  const CellVector vector = cell.vector(cell.coordinates(position.data()));
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(vector[axis] + cell.origin[axis], position[axis], 1e-14);
  for (std::size_t row = 0; row < 2; ++row) {
    double product = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) product += cell.rows[row][axis] * cell.rows[2][axis];
    EXPECT_NEAR(product, 0, 1e-14);
  }
}

TEST(PeriodicCell, PositionsAreMovedIn) {
  const PeriodicCell cell = make_periodic_cell(3, std::vector<CellVector>{{1, 0, 0}, {0.3, 1, 0}, {0, 0, 2}});
  CellVector position{7.25, -3.5, 9};
  cell.move_in(position.data());
  for (const double x : cell.coordinates(position.data())) EXPECT_LE(std::fabs(x), 0.5 + 1e-12);
  CellVector inside{0.25, -0.25, 0.9};
  cell.move_in(inside.data());
  EXPECT_EQ(inside, (CellVector{0.25, -0.25, 0.9}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CellVector chosen_not{nan, 3, 3};
  cell.move_in(chosen_not.data());
  EXPECT_EQ(chosen_not[1], 3);
  CellVector too_far{1e10, 0, 0};
  EXPECT_THROW(cell.move_in(too_far.data()), UsageError);
}

TEST(PeriodicCell, OpenDirectionsAreAxesWherePossible) {
  const std::vector<CellVector> of_wire = open_directions(3, std::vector<CellVector>{{0, 2, 0}});
  ASSERT_EQ(of_wire.size(), 2u);
  EXPECT_EQ(of_wire[0], (CellVector{1, 0, 0}));
  EXPECT_EQ(of_wire[1], (CellVector{0, 0, 1}));
  const std::vector<CellVector> of_line = open_directions(2, std::vector<CellVector>{{3, 4, 0}});
  ASSERT_EQ(of_line.size(), 1u);
  EXPECT_NEAR(std::fabs(of_line[0][0]), 0.8, 1e-15);
  EXPECT_NEAR(of_line[0][0] * 3 + of_line[0][1] * 4, 0, 1e-15);
}

TEST(PeriodicCell, ThinExtentsAreWidened) {
  const std::vector<CellVector> plane{{2, 0, 0}, {0, 3, 0}};
  const std::vector<OpenExtent> extent{{1, 1}};  // all particles at one height
  const PeriodicCell cell = make_periodic_cell(3, plane, extent);
  EXPECT_NEAR(length(cell.rows[2]), 0.02, 1e-15);
}

TEST(PeriodicCell, NearImagesReachFurtherAlongShortRows) {
  EXPECT_EQ(make_periodic_cell(3, std::vector<CellVector>{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}).near_images().size(), 125u);
  const PeriodicCell cell = make_periodic_cell(3, std::vector<CellVector>{{0, 0, 10}, {1, 0, 0}, {0, 1, 0}});
  EXPECT_EQ(cell.near_reach, (std::array<int, 3>{2, 8, 8}));
  const PeriodicCell extreme = make_periodic_cell(3, std::vector<CellVector>{{1, 0, 0}, {0, 1, 0}, {0, 0, 1000}});
  EXPECT_LE(extreme.near_images().size(), 2000u);
  const PeriodicCell slab =
      make_periodic_cell(3, std::vector<CellVector>{{1, 0, 0}, {0, 1, 0}}, std::vector<OpenExtent>{{0, 1}});
  EXPECT_EQ(slab.near_images().size(), 25u);
}

// Against all images within three periods.
TEST(PeriodicCell, NearestImagesAreFound) {
  const std::vector<std::vector<CellVector>> cells{
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{1, 0, 0}, {0.5, 0.9, 0}, {0.4, -0.4, 1}}, {{1, 0, 0}, {0.4, 1, 0}}};
  std::mt19937 random(4);
  std::uniform_real_distribution<double> unit(-0.5, 0.5);
  for (const std::vector<CellVector>& vectors : cells) {
    const PeriodicCell cell =
        make_periodic_cell(3, vectors, std::vector<OpenExtent>(3 - vectors.size(), OpenExtent{-1, 1}));
    std::vector<CellVector> shifts;
    for (const CellImage& image : cell.near_images()) {
      CellVector shift{};
      for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t axis = 0; axis < 3; ++axis) shift[axis] += image[row] * cell.rows[row][axis];
      shifts.push_back(shift);
    }
    const NearestImage nearest(cell, shifts);
    for (int k = 0; k < 300; ++k) {
      const CellVector i = cell.vector({unit(random), unit(random), unit(random)});
      const CellVector j = cell.vector({unit(random), unit(random), unit(random)});
      const auto distance = [&](const CellVector& shift) {
        return length({j[0] - i[0] + shift[0], j[1] - i[1] + shift[1], j[2] - i[2] + shift[2]});
      };
      double least = distance({});
      for (const CellVector& shift : shifts) least = std::min(least, distance(shift));
      EXPECT_EQ(distance(shifts[std::size_t(nearest.number(i.data(), j.data()))]), least);
    }
    const CellVector nan{std::numeric_limits<double>::quiet_NaN(), 0, 0}, here{};
    EXPECT_EQ(nearest.number(nan.data(), here.data()), 0);
  }
}

TEST(PeriodicCell, DependentVectorsAreRefused) {
  EXPECT_THROW(make_periodic_cell(3, std::vector<CellVector>{{1, 0, 0}, {2, 0, 0}, {0, 0, 1}}), UsageError);
  EXPECT_THROW(make_periodic_cell(3, std::vector<CellVector>{{1, 0, 0}, {0, 0, 0}, {0, 0, 1}}), UsageError);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(make_periodic_cell(3, std::vector<CellVector>{{infinite, 0, 0}, {0, 1, 0}, {0, 0, 1}}), UsageError);
}

TEST(CellGrid, WeightsInterpolatePolynomials) {
  const CellGrid grid({4, 3, 17});
  EXPECT_EQ(grid.points(), 204);
  const auto polynomial = [](const CellVector& x) {
    return (1 + x[0] * x[0] * x[0]) * (x[1] * x[1] - 2) * std::pow(x[2], 16);
  };
  const CellVector at{0.31, -0.44, 0.5};
  std::vector<double> weights(204);
  grid.weights(at, weights);
  double value = 0, sum = 0;
  for (int k = 0; k < grid.points(); ++k) {
    value += weights[std::size_t(k)] * polynomial(grid.point(k));
    sum += weights[std::size_t(k)];
  }
  EXPECT_NEAR(value, polynomial(at), 1e-14);
  EXPECT_NEAR(sum, 1, 1e-13);
  // The polynomials of a row are combinations of Chebyshev polynomials.
  CellGrid::Values along;
  std::vector<double> polynomials(17);
  grid.weights_along(2, 0.2, along.data());
  chebyshev_polynomials(0.4, 17, polynomials.data());
  double combined = 0;
  for (int m = 0; m < 17; ++m) combined += grid.coefficient(2, m, 5) * polynomials[std::size_t(m)];
  EXPECT_NEAR(along[5], combined, 1e-15);
}

TEST(ChebyshevSeries, ValuesAtPointsGiveTheSeriesBack) {
  const std::array<int, 3> orders{5, 4, 3};
  ChebyshevSeries values(2, orders);
  std::array<SmallMatrix, 3> transforms;
  for (std::size_t v = 0; v < 3; ++v) transforms[v] = chebyshev_coefficients(orders[v]);
  const auto function = [](int component, double x, double y, double z) {
    return component == 0 ? x * x * x * x - y * z : (1 + x) * y * y * y * z * z;
  };
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::array<int, 3> index = values.degrees(k);
      values.of(c)[k] =
          function(c, chebyshev_points(5)[std::size_t(index[0])], chebyshev_points(4)[std::size_t(index[1])],
                   chebyshev_points(3)[std::size_t(index[2])]);
    }
  const ChebyshevSeries series = values.along(transforms);
  EXPECT_NEAR(series.of(0)[0], 3.0 / 8, 1e-15);  // the mean of x^4 with the weight of Chebyshev polynomials
  constexpr std::int64_t kPoints = 19;           // more than a block of evaluate()
  std::vector<double> points;
  for (int v = 0; v < 3; ++v)
    for (int p = 0; p < kPoints; ++p) points.push_back(std::cos(1 + v + 0.7 * p));
  const std::vector<double> results = series.evaluate(kPoints, 3, points.data());
  for (int c = 0; c < 2; ++c)
    for (int p = 0; p < kPoints; ++p)
      EXPECT_NEAR(
          results[std::size_t(c * kPoints + p)],
          function(c, points[std::size_t(p)], points[std::size_t(kPoints + p)], points[std::size_t(2 * kPoints + p)]),
          1e-14);
}

}  // namespace
}  // namespace nbcc
