#include "tests/support/periodic_sums.h"

namespace nbcc::test {
namespace {

// [component][i]: of the far images, without the constant.
std::vector<double> by_grid(const PeriodicTables& tables, const std::vector<CellVector>& of_i,
                            const std::vector<CellVector>& of_j, const std::vector<double>& weights) {
  const auto points = std::size_t(tables.grid.points()), components = tables.components.size();
  std::vector<double> at_points(points), values(points), sums(components * of_i.size());
  for (std::size_t j = 0; j < of_j.size(); ++j) {
    tables.grid.weights(of_j[j], values);
    for (std::size_t b = 0; b < points; ++b) at_points[b] += values[b] * weights[j];
  }
  const std::vector<double> matrix = far_operator(tables, tables.grid);
  for (std::size_t i = 0; i < of_i.size(); ++i) {
    tables.grid.weights(of_i[i], values);
    for (std::size_t c = 0; c < components; ++c)
      for (std::size_t a = 0; a < points; ++a) {
        double sum = 0;
        for (std::size_t b = 0; b < points; ++b) sum += matrix[(c * points + a) * points + b] * at_points[b];
        sums[c * of_i.size() + i] += values[a] * sum;
      }
  }
  return sums;
}

std::vector<double> by_function(const PeriodicTables& tables, const std::vector<CellVector>& of_i,
                                const std::vector<CellVector>& of_j, const std::vector<double>& weights) {
  const auto axes = std::size_t(tables.cell.axes), count = of_j.size();
  std::vector<double> differences(axes * count), sums(tables.components.size() * of_i.size());
  for (std::size_t i = 0; i < of_i.size(); ++i) {
    for (std::size_t row = 0; row < axes; ++row)
      for (std::size_t j = 0; j < count; ++j) differences[row * count + j] = of_j[j][row] - of_i[i][row];
    const std::vector<double> values = tables.far.evaluate(std::int64_t(count), tables.cell.axes, differences.data());
    for (std::size_t c = 0; c < tables.components.size(); ++c)
      for (std::size_t j = 0; j < count; ++j) sums[c * of_i.size() + i] += values[c * count + j] * weights[j];
  }
  return sums;
}

}  // namespace

std::vector<double> periodic_sums(const PeriodicTables& tables, const PeriodicKernel& kernel,
                                  std::vector<CellVector> of_i, std::vector<CellVector> of_j,
                                  const std::vector<double>& weights, bool one_set, FarBy by) {
  const PeriodicCell& cell = tables.cell;
  std::vector<CellVector> coordinates_i, coordinates_j;
  for (CellVector& i : of_i) {
    cell.move_in(i.data());
    coordinates_i.push_back(cell.coordinates(i.data()));
  }
  for (CellVector& j : of_j) {
    cell.move_in(j.data());
    coordinates_j.push_back(cell.coordinates(j.data()));
  }
  std::vector<double> sums = by == FarBy::Grid ? by_grid(tables, coordinates_i, coordinates_j, weights)
                                               : by_function(tables, coordinates_i, coordinates_j, weights);
  double total = 0;
  for (const double weight : weights) total += weight;
  for (std::size_t i = 0; i < of_i.size(); ++i) {
    for (std::size_t c = 0; c < tables.components.size(); ++c)
      sums[c * of_i.size() + i] += tables.components[c].constant * total;
    for (const CellImage& image : cell.near_images()) {
      const CellVector shift = cell.vector({double(image[0]), double(image[1]), double(image[2])});
      for (std::size_t j = 0; j < of_j.size(); ++j) {
        if (one_set && i == j && image == CellImage{}) continue;
        const std::vector<double> values =
            kernel_at(kernel, {of_j[j][0] + shift[0] - of_i[i][0], of_j[j][1] + shift[1] - of_i[i][1],
                               of_j[j][2] + shift[2] - of_i[i][2]});
        for (std::size_t c = 0; c < values.size(); ++c) sums[c * of_i.size() + i] += values[c] * weights[j];
      }
    }
  }
  return sums;
}

}  // namespace nbcc::test
