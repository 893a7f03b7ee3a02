// Orders of the series of F from the geometry of the cell; orders of the grid from errors of sampled pairs.
#include "runtime/far/periodic/periodic_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/error.h"
#include "runtime/far/periodic/cell_grid.h"

namespace nbcc {
namespace {

constexpr int kLeastSeriesOrder = 6;  // above the degree of any fitted polynomial
constexpr int kMaxSeriesOrder = 40;
constexpr int kMaxGridPoints = 3000;
constexpr int kSampledPoints = 24;  // of i and of j: all pairs of them

// The factor by which errors fall with each further Chebyshev polynomial along a row, for displacements up to
// bounds[row]: rho of the largest ellipse (Bernstein) without an image that is far.
double gain(const PeriodicCell& cell, std::size_t row, const CellVector& bounds) {
  const CellVector& vector = cell.rows[row];
  const double half = bounds[row] * std::hypot(vector[0], vector[1], vector[2]);
  double least = INFINITY;
  for (std::size_t other = 0; other < std::size_t(cell.periodic); ++other) {
    const double slope = std::hypot(cell.inverse[0][other], cell.inverse[1][other], cell.inverse[2][other]);
    const double across = (cell.near_reach[other] + 1 - bounds[other]) / slope / half;
    const double along = (cell.near_reach[other] + 1) / bounds[other];
    least =
        std::min(least, other == row ? along + std::sqrt(along * along - 1) : across + std::sqrt(1 + across * across));
  }
  return least;
}

CellVector level_bounds(const PeriodicCell& cell) {
  CellVector bounds{};
  for (std::size_t row = 0; row < std::size_t(cell.axes); ++row)
    bounds[row] = int(row) < cell.periodic ? 2.0 / 3 : 1.0 / 3;
  return bounds;
}

// Pairs of positions, and what F gives along each row.
struct SampledPairs {
  std::vector<CellVector> of_i, of_j;   // coordinates of the kSampledPoints of each side
  std::vector<CellVector> differences;  // [pair]
  std::vector<double> magnitudes;       // [group][pair]: of the near images
};

SampledPairs sample_pairs(KernelSampler& sampler) {
  SampledPairs pairs;
  UniformSource random(21);
  const auto draw = [&](std::vector<CellVector>& points) {
    for (int k = 0; k < kSampledPoints; ++k) {
      CellVector point = random.point(sampler.cell(), 0.5);
      for (double& x : point)  // half of them near faces, where the far images are nearest
        if (k % 2 == 0) x = std::copysign(0.5 - 0.06 * std::fabs(x), x);
      for (std::size_t row = std::size_t(sampler.cell().axes); row < 3; ++row) point[row] = 0;
      points.push_back(point);
    }
  };
  draw(pairs.of_i);
  draw(pairs.of_j);
  for (const CellVector& i : pairs.of_i)
    for (const CellVector& j : pairs.of_j) pairs.differences.push_back({j[0] - i[0], j[1] - i[1], j[2] - i[2]});
  pairs.magnitudes = sampler.near_magnitudes(pairs.differences);
  return pairs;
}

// lines[pair][component][k]: F as a series of the difference along the row, at the pair's differences along others.
std::vector<double> lines_along(const ChebyshevSeries& far, std::size_t row,
                                const std::vector<CellVector>& differences) {
  const auto order = std::size_t(far.orders[row]);
  std::vector<double> lines(differences.size() * std::size_t(far.components) * order);
  std::array<std::vector<double>, 3> basis;
  double* line = lines.data();
  for (const CellVector& difference : differences) {
    for (std::size_t r = 0; r < 3; ++r) {
      basis[r].assign(std::size_t(far.orders[r]), 1.0);
      if (r != row) chebyshev_polynomials(difference[r], far.orders[r], basis[r].data());
    }
    for (int c = 0; c < far.components; ++c, line += order) {
      const double* coefficient = far.of(c);
      for (std::size_t a = 0; a < basis[0].size(); ++a)
        for (std::size_t b = 0; b < basis[1].size(); ++b) {
          const double factor = basis[0][a] * basis[1][b];
          for (std::size_t k = 0; k < basis[2].size(); ++k)
            line[row == 0 ? a : row == 1 ? b : k] += *coefficient++ * factor * basis[2][k];
        }
    }
  }
  return lines;
}

// errors[pair][k]: of Chebyshev polynomial k of the difference along a row, interpolated between points of i and of j.
std::vector<double> interpolation_errors(const SampledPairs& pairs, std::size_t row, int order, int polynomials) {
  const CellGrid grid({order, 1, 1});
  const auto n = std::size_t(polynomials), q = std::size_t(order);
  std::vector<double> at_points(q * q * n), errors(pairs.differences.size() * n), of_i(q), of_j(q), exact(n);
  for (int a = 0; a < order; ++a)
    for (int b = 0; b < order; ++b)
      chebyshev_polynomials(grid.point_along(0, b) - grid.point_along(0, a), polynomials,
                            at_points.data() + (std::size_t(a) * q + std::size_t(b)) * n);
  double* error = errors.data();
  std::vector<double> of_side_i(q * n);  // [point of j][k]
  for (const CellVector& i : pairs.of_i) {
    grid.weights_along(0, i[row], of_i.data());
    std::fill(of_side_i.begin(), of_side_i.end(), 0.0);
    for (std::size_t a = 0; a < q; ++a)
      for (std::size_t k = 0; k < q * n; ++k) of_side_i[k] += of_i[a] * at_points[a * q * n + k];
    for (const CellVector& j : pairs.of_j) {
      grid.weights_along(0, j[row], of_j.data());
      chebyshev_polynomials(j[row] - i[row], polynomials, exact.data());
      for (std::size_t k = 0; k < n; ++k) error[k] = -exact[k];
      for (std::size_t b = 0; b < q; ++b)
        for (std::size_t k = 0; k < n; ++k) error[k] += of_j[b] * of_side_i[b * n + k];
      error += n;
    }
  }
  return errors;
}

// The largest error of a pair; with open directions the rms, because the largest is that of pairs in opposite corners
// of the extents, of which there are few.
double pair_error(const KernelSampler& sampler, const SampledPairs& pairs, const std::vector<double>& lines,
                  const std::vector<double>& errors) {
  const std::size_t count = pairs.differences.size(), n = errors.size() / count;
  std::vector<double> values(std::size_t(sampler.components()) * count);
  const double* line = lines.data();
  for (std::size_t pair = 0; pair < count; ++pair)
    for (std::size_t c = 0; c < std::size_t(sampler.components()); ++c)
      for (std::size_t k = 0; k < n; ++k) values[c * count + pair] += *line++ * errors[pair * n + k];
  const std::vector<double> magnitudes = group_magnitudes(sampler, values);
  double largest = 0, rms = 0;
  for (std::size_t group = 0; group < std::size_t(sampler.groups()); ++group) {
    double sum = 0;
    for (std::size_t k = group * count; k < (group + 1) * count; ++k) {
      const double error = magnitudes[k] > 0 ? magnitudes[k] / pairs.magnitudes[k] : 0;
      largest = std::max(largest, error);
      sum += error * error;
    }
    rms = std::max(rms, std::sqrt(sum / double(count)));
  }
  return sampler.cell().periodic < sampler.cell().axes ? rms : largest;
}

}  // namespace

SeriesOrders series_orders(const PeriodicCell& cell, double digits) {
  SeriesOrders orders;
  const auto order = [&](std::size_t row, const CellVector& bounds) {
    return int(std::clamp(std::ceil(digits / std::log(gain(cell, row, bounds))), double(kLeastSeriesOrder),
                          double(kMaxSeriesOrder)));
  };
  for (std::size_t row = 0; row < std::size_t(cell.axes); ++row) {
    orders.first[row] = order(row, {1, 1, 1});
    orders.level[row] = order(row, level_bounds(cell));
  }
  return orders;
}

GridChoice choose_grid(KernelSampler& sampler, const ChebyshevSeries& far, double tolerance,
                       const std::array<int, 3>& least) {
  const SampledPairs pairs = sample_pairs(sampler);
  GridChoice choice;
  for (std::size_t row = 0; row < std::size_t(sampler.cell().axes); ++row) {
    const std::vector<double> lines = lines_along(far, row, pairs.differences);
    double error = INFINITY;
    int order = least[row] - 1;
    while (error > 0.1 * tolerance && order < CellGrid::kMaxOrder)
      error = pair_error(sampler, pairs, lines, interpolation_errors(pairs, row, ++order, far.orders[row]));
    choice.orders[row] = order;
    choice.pair_error += error;
    if (error > 0.1 * tolerance)
      throw UsageError(fmt::format(
          "no order of the grid keeps the tolerance {:.2g} in a periodic sum: with {} points along row {} of the cell "
          "the error of far images is {:.2g}; expected at most {:.2g}",
          tolerance, order, row, error, 0.1 * tolerance));
  }
  const auto [a, b, c] = choice.orders;
  if (a * b * c > kMaxGridPoints)
    throw UsageError(fmt::format(
        "a periodic sum of tolerance {:.2g} in this cell needs a grid of {} x {} x {} points; expected at most {}",
        tolerance, a, b, c, kMaxGridPoints));
  return choice;
}

}  // namespace nbcc
