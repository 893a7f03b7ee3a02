// Entry points: weights_of_points(), ImageSums::collect(), ImageSums::evaluate().
#include "runtime/far/periodic/image_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/round_up.h"

namespace nbcc {
namespace {

constexpr std::int64_t kGatheredAtOnce =
    4096;  // particles whose weights are added together; the number of threads is no matter

// The values of the polynomials of each row of a grid at a position.
struct Basis {
  std::array<CellGrid::Values, 3> row;
  Basis(const PeriodicCell& cell, const CellGrid& grid, const double* position) {
    const CellVector at = cell.coordinates(position);
    for (int k = 0; k < 3; ++k) grid.weights_along(k, at[std::size_t(k)], row[std::size_t(k)].data());
  }
};

}  // namespace

std::vector<double> constants_of(const FarOperator& through, std::span<const double> gathered,
                                 std::span<const std::string> weight_names) {
  const std::size_t points = gathered.size() / weight_names.size() - 2;
  std::vector<double> constants(std::size_t(through.sums), 0.0);
  for (std::size_t c = 0; c < through.components.size(); ++c) {
    const auto weight = std::size_t(through.components[c].weight);
    const PeriodicComponent& component = through.tables.components[c];
    const double* of = gathered.data() + weight * (points + 2);
    const double total = of[points], magnitude = of[points + 1];
    if (const std::string why = require_neutral(component, weight_names[weight], total, magnitude); !why.empty())
      throw UsageError(why);
    // Rounding errors of neutral weights are no charge.
    if (std::fabs(total) > 1e-12 * magnitude)
      constants[std::size_t(through.components[c].sum)] += component.constant * total;
  }
  return constants;
}

std::vector<double> weights_of_points(const FarOperator& through, std::span<const double> positions,
                                      std::span<const std::span<double>> weights, const ForEach& for_each) {
  const PeriodicTables& tables = through.tables;
  const CellGrid& grid = tables.grid;
  const auto [order0, order1, order2] = grid.orders();
  const auto axes = std::size_t(tables.cell.axes), points = std::size_t(grid.points());
  const auto count = std::int64_t(positions.size() / axes), chunks = ceil_div(count, kGatheredAtOnce);
  // [chunk][weight][point], then the sums of weights and of their magnitudes
  const std::size_t of_weight = points + 2, of_chunk = weights.size() * of_weight;
  std::vector<double> parts(std::size_t(chunks) * of_chunk, 0.0);
  for_each(chunks, [&, order0 = order0, order1 = order1, order2 = order2](std::int64_t chunk) {
    for (std::int64_t j = chunk * kGatheredAtOnce; j < std::min(count, (chunk + 1) * kGatheredAtOnce); ++j) {
      const Basis basis(tables.cell, grid, &positions[std::size_t(j) * axes]);
      for (std::size_t k = 0; k < weights.size(); ++k) {
        const double weight = weights[k][std::size_t(j)];
        double* to = parts.data() + std::size_t(chunk) * of_chunk + k * of_weight;
        to[points] += weight;
        to[points + 1] += std::fabs(weight);
        for (int a = 0; a < order0; ++a)
          for (int b = 0; b < order1; ++b) {
            const double value = weight * basis.row[0][std::size_t(a)] * basis.row[1][std::size_t(b)];
            for (int c = 0; c < order2; ++c) *to++ += value * basis.row[2][std::size_t(c)];
          }
      }
    }
  });
  std::vector<double> all(of_chunk, 0.0);
  for (std::size_t chunk = 0; chunk < std::size_t(chunks); ++chunk)
    for (std::size_t k = 0; k < of_chunk; ++k) all[k] += parts[chunk * of_chunk + k];
  return all;
}

void ImageSums::collect(std::shared_ptr<const FarOperator> through, std::span<const double> gathered,
                        std::span<const std::string> weight_names, const ForEach& for_each) {
  through_ = std::move(through);
  const auto points = std::size_t(through_->tables.grid.points());
  constant_ = constants_of(*through_, gathered, weight_names);
  at_points_.assign(std::size_t(through_->sums) * points, 0.0);
  for_each(std::int64_t(points), [&](std::int64_t point) {
    const auto a = std::size_t(point);
    for (std::size_t c = 0; c < through_->components.size(); ++c) {
      const auto [sum, weight] = through_->components[c];
      const double* matrix = through_->matrix.data() + (c * points + a) * points;
      const double* of = gathered.data() + std::size_t(weight) * (points + 2);
      double value = 0;
      for (std::size_t b = 0; b < points; ++b) value += matrix[b] * of[b];
      at_points_[std::size_t(sum) * points + a] += value;
    }
  });
}

void ImageSums::evaluate(const double* position, std::span<double> sums) const {
  const PeriodicTables& tables = through_->tables;
  const auto [order0, order1, order2] = tables.grid.orders();
  const Basis basis(tables.cell, tables.grid, position);
  const double* from = at_points_.data();
  for (std::size_t sum = 0; sum < sums.size(); ++sum) {
    double value = constant_[sum];
    for (int a = 0; a < order0; ++a)
      for (int b = 0; b < order1; ++b) {
        double along = 0;
        for (int c = 0; c < order2; ++c) along += basis.row[2][std::size_t(c)] * *from++;
        value += basis.row[0][std::size_t(a)] * basis.row[1][std::size_t(b)] * along;
      }
    sums[sum] = value;
  }
}

}  // namespace nbcc
