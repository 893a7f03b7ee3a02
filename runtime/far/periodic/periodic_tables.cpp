// A kernel, a cell and a tolerance -> the tables of its periodic sum.
#include "runtime/far/periodic/periodic_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.h"
#include "runtime/far/periodic/far_series.h"
#include "runtime/far/periodic/periodic_orders.h"

namespace nbcc {
namespace {

constexpr int kMismatchSamples = 150, kRemakeSamples = 40;  // for each periodic row
constexpr double kMismatchLimit = 0.03;  // over the tolerance: the largest errors of F are 10 times their rms
constexpr double kMismatchBound = 0.3;   // at the highest orders, or where rounding errors end the gain
constexpr int kMaxSeriesPoints = 27000;
constexpr double kSameShape = 0.05;  // change of a cell's rows, in each other, with which the grid is kept

// All but the grid.
PeriodicTables tables_of(KernelSampler& sampler, const KernelFacts& facts, FarSeries series, const SeriesOrders& orders,
                         double tolerance, double mismatch) {
  PeriodicTables tables;
  tables.cell = sampler.cell();
  tables.tolerance = tolerance;
  tables.components.resize(std::size_t(sampler.components()));
  set_constants(sampler, facts, series, tolerance, tables.components);
  tables.far = std::move(series.far);
  tables.level_order = orders.level;
  tables.levels = series.levels;
  tables.evaluated_levels = series.evaluated_levels;
  tables.mismatch = mismatch;
  return tables;
}

[[noreturn]] void refuse(double mismatch, double tolerance, const SeriesOrders& orders) {
  throw UsageError(
      fmt::format("no periodic sum of this formula keeps the tolerance {:.2g}: with tables of {} x {} x {} points near "
                  "and far images "
                  "join to {:.2g}, expected {:.2g}; {}",
                  tolerance, orders.first[0], orders.first[1], orders.first[2], mismatch, kMismatchBound * tolerance,
                  mismatch > 1e-8 ? "the formula is not smooth or oscillates, or the cell is too long in one direction"
                                  : "these are rounding errors"));
}

// How much the rows of a cell differ from those of another, in the other's coordinates.
double change_of_shape(const PeriodicCell& cell, const PeriodicCell& before) {
  double change = 0;
  for (std::size_t row = 0; row < std::size_t(cell.axes); ++row) {
    CellVector end{};
    for (std::size_t axis = 0; axis < 3; ++axis) end[axis] = cell.rows[row][axis] + before.origin[axis];
    CellVector coordinates = before.coordinates(end.data());
    coordinates[row] -= 1;
    for (const double x : coordinates) change = std::max(change, std::fabs(x));
  }
  return change;
}

}  // namespace

PeriodicTables make_periodic_tables(const PeriodicCell& cell, const PeriodicKernel& kernel, double tolerance) {
  KernelSampler sampler(cell, kernel);
  const KernelFacts facts = measure_kernel(sampler);
  const double limit = kMismatchLimit * tolerance;
  double digits = std::log(0.005 / limit), mismatch = INFINITY;
  SeriesOrders orders = series_orders(cell, digits), best_orders;
  FarSeries best;
  for (int failures = 0; failures < 2;) {
    FarSeries series = make_far_series(sampler, facts, orders, tolerance);
    fit_periodic(sampler, series);
    const double now = measure_mismatch(sampler, facts, series.far, kMismatchSamples);
    if (!(now < 0.5 * mismatch)) ++failures;
    if (now < mismatch) {
      mismatch = now;
      best = std::move(series);
      best_orders = orders;
    }
    if (now <= limit) break;
    digits += std::clamp(std::log(now / limit), 1.5, 5.0);
    const SeriesOrders next = series_orders(cell, digits);
    const auto [a, b, c] = next.first;
    if (a * b * c > kMaxSeriesPoints || (next.first == orders.first && next.level == orders.level)) break;
    orders = next;
  }
  if (!(mismatch <= kMismatchBound * tolerance)) refuse(mismatch, tolerance, best_orders);
  PeriodicTables tables = tables_of(sampler, facts, std::move(best), best_orders, tolerance, mismatch);
  const GridChoice choice = choose_grid(sampler, tables.far, tolerance);
  tables.shape = cell;
  tables.grid = CellGrid(choice.orders);
  tables.pair_error = choice.pair_error;
  tables.evaluations = sampler.evaluations();
  return tables;
}

PeriodicTables remake_periodic_tables(const PeriodicTables& before, const PeriodicCell& new_cell,
                                      const PeriodicKernel& kernel) {
  const double tolerance = before.tolerance;
  if (new_cell.axes != before.cell.axes || new_cell.periodic != before.cell.periodic ||
      change_of_shape(new_cell, before.shape) > kSameShape)
    return make_periodic_tables(new_cell, kernel, tolerance);
  PeriodicCell cell = new_cell;
  cell.near_reach = before.cell.near_reach;  // which may have changed by 1
  KernelSampler sampler(cell, kernel);
  const KernelFacts facts = measure_kernel(sampler);
  const SeriesOrders orders{before.far.orders, before.level_order};
  FarSeries series = make_far_series(sampler, facts, orders, tolerance);
  fit_periodic(sampler, series);
  const double mismatch = measure_mismatch(sampler, facts, series.far, kRemakeSamples);
  if (!(mismatch <= kMismatchBound * tolerance)) return make_periodic_tables(new_cell, kernel, tolerance);
  PeriodicTables tables = tables_of(sampler, facts, std::move(series), orders, tolerance, mismatch);
  tables.shape = before.shape;
  // Another cell, or other params of the kernel, may need more points.
  const GridChoice choice = choose_grid(sampler, tables.far, tolerance, before.grid.orders());
  tables.grid = choice.orders == before.grid.orders() ? before.grid : CellGrid(choice.orders);
  tables.pair_error = choice.pair_error;
  tables.evaluations = sampler.evaluations();
  return tables;
}

std::vector<double> PeriodicTables::far_images(std::int64_t count, const double* coordinates) const {
  std::vector<double> values = far.evaluate(count, cell.axes, coordinates);
  for (std::size_t c = 0; c < components.size(); ++c)
    for (std::size_t k = c * std::size_t(count); k < (c + 1) * std::size_t(count); ++k)
      values[k] += components[c].constant;
  return values;
}

std::vector<double> far_operator(const PeriodicTables& tables, const CellGrid& grid) {
  std::array<SmallMatrix, 3> differences;  // [point a, point b][polynomial]
  const std::array<int, 3>& q = grid.orders();
  for (int row = 0; row < 3; ++row) {
    const int order = q[std::size_t(row)], polynomials = tables.far.orders[std::size_t(row)];
    SmallMatrix& matrix = differences[std::size_t(row)];
    matrix = SmallMatrix(order * order, polynomials);
    for (int a = 0; a < order; ++a)
      for (int b = 0; b < order; ++b)
        chebyshev_polynomials(grid.point_along(row, b) - grid.point_along(row, a), polynomials,
                              matrix.values.data() + (a * order + b) * polynomials);
  }
  const ChebyshevSeries lines = tables.far.along(0, differences[0]).along(1, differences[1]);
  const int points = grid.points(), last = q[2] * q[2], polynomials = lines.orders[2];
  std::vector<double> result(std::size_t(lines.components) * std::size_t(points) * std::size_t(points));
  std::vector<double> transposed(std::size_t(polynomials * last)), block(std::size_t(last), 0.0);
  for (int k = 0; k < polynomials; ++k)
    for (int ab = 0; ab < last; ++ab) transposed[std::size_t(k * last + ab)] = differences[2].at(ab, k);
  const double* line = lines.values.data();
  for (int c = 0; c < lines.components; ++c)
    for (int ab0 = 0; ab0 < q[0] * q[0]; ++ab0)
      for (int ab1 = 0; ab1 < q[1] * q[1]; ++ab1, line += polynomials) {
        std::fill(block.begin(), block.end(), 0.0);
        for (int k = 0; k < polynomials; ++k)
          for (int ab = 0; ab < last; ++ab) block[std::size_t(ab)] += line[k] * transposed[std::size_t(k * last + ab)];
        const int a = (ab0 / q[0] * q[1] + ab1 / q[1]) * q[2], b = (ab0 % q[0] * q[1] + ab1 % q[1]) * q[2];
        for (int a2 = 0; a2 < q[2]; ++a2)
          std::copy_n(block.data() + a2 * q[2], q[2], result.data() + (std::size_t(c) * points + a + a2) * points + b);
      }
  return result;
}

}  // namespace nbcc
