#include "tests/support/periodic_sums.h"

namespace nbcc::test {
namespace {

// The weight of j in a component.
struct ByComponent {
  const std::vector<double>& weights;
  std::size_t count;
  double operator()(std::size_t c, std::size_t j) const { return weights[weights.size() > count ? c * count + j : j]; }
};

// [component][i]: of the far images, without the constant.
std::vector<double> by_grid(const PeriodicTables& tables, const std::vector<CellVector>& of_i,
                            const std::vector<CellVector>& of_j, const ByComponent& weight) {
  const auto points = std::size_t(tables.grid.points()), components = tables.components.size();
  std::vector<double> values(points), at_points(components * points), sums(components * of_i.size());
  for (std::size_t j = 0; j < of_j.size(); ++j) {
    tables.grid.weights(of_j[j], values);
    for (std::size_t c = 0; c < components; ++c)
      for (std::size_t b = 0; b < points; ++b) at_points[c * points + b] += values[b] * weight(c, j);
  }
  const std::vector<double> matrix = far_operator(tables, tables.grid);
  for (std::size_t c = 0; c < components; ++c)
    for (std::size_t a = 0; a < points; ++a) {
      double sum = 0;
      for (std::size_t b = 0; b < points; ++b) sum += matrix[(c * points + a) * points + b] * at_points[c * points + b];
      for (std::size_t i = 0; i < of_i.size(); ++i) {
        const std::array<int, 3>& orders = tables.grid.orders();
        const std::array<int, 3> index{int(a) / (orders[1] * orders[2]), int(a) / orders[2] % orders[1],
                                       int(a) % orders[2]};
        double product = 1;
        for (int row = 0; row < 3; ++row) {
          CellGrid::Values along;
          tables.grid.weights_along(row, of_i[i][std::size_t(row)], along.data());
          product *= along[std::size_t(index[std::size_t(row)])];
        }
        sums[c * of_i.size() + i] += product * sum;
      }
    }
  return sums;
}

std::vector<double> by_function(const PeriodicTables& tables, const std::vector<CellVector>& of_i,
                                const std::vector<CellVector>& of_j, const ByComponent& weight) {
  const auto axes = std::size_t(tables.cell.axes), count = of_j.size();
  std::vector<double> differences(axes * count), sums(tables.components.size() * of_i.size());
  for (std::size_t i = 0; i < of_i.size(); ++i) {
    for (std::size_t row = 0; row < axes; ++row)
      for (std::size_t j = 0; j < count; ++j) differences[row * count + j] = of_j[j][row] - of_i[i][row];
    const std::vector<double> values = tables.far.evaluate(std::int64_t(count), tables.cell.axes, differences.data());
    for (std::size_t c = 0; c < tables.components.size(); ++c)
      for (std::size_t j = 0; j < count; ++j) sums[c * of_i.size() + i] += values[c * count + j] * weight(c, j);
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
  const ByComponent weight{weights, of_j.size()};
  std::vector<double> sums = by == FarBy::Grid ? by_grid(tables, coordinates_i, coordinates_j, weight)
                                               : by_function(tables, coordinates_i, coordinates_j, weight);
  const std::vector<CellImage> images = cell.near_images();
  for (std::size_t i = 0; i < of_i.size(); ++i)
    for (std::size_t j = 0; j < of_j.size(); ++j) {
      std::vector<double> positions;  // of the images, [axis][image]
      for (std::size_t axis = 0; axis < std::size_t(cell.axes); ++axis)
        for (const CellImage& image : images)
          if (!one_set || i != j || image != CellImage{})
            positions.push_back(of_j[j][axis] +
                                cell.vector({double(image[0]), double(image[1]), double(image[2])})[axis]);
      std::vector<double> near(tables.components.size());
      kernel.sums(1, of_i[i].data(), std::int64_t(positions.size()) / cell.axes, positions.data(), near.data());
      for (std::size_t c = 0; c < near.size(); ++c)
        sums[c * of_i.size() + i] += (near[c] + tables.components[c].constant) * weight(c, j);
    }
  return sums;
}

}  // namespace nbcc::test
