// Chebyshev points of a periodic cell, and the weights with which a particle acts on them and receives from them.
// Tested by tests/unit/runtime/far/periodic/.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "runtime/far/periodic/periodic_cell.h"

namespace nbcc {

class CellGrid {
 public:
  static constexpr int kMaxOrder = 40;
  using Values = std::array<double, kMaxOrder>;

  CellGrid() : CellGrid({1, 1, 1}) {}
  // orders[row]: points along each row, 1 to kMaxOrder; 1 of rows that the cell lacks.
  explicit CellGrid(const std::array<int, 3>& orders);

  const std::array<int, 3>& orders() const { return orders_; }
  int points() const { return orders_[0] * orders_[1] * orders_[2]; }
  // Coordinates, from -1/2 to 1/2; point (a0 * orders[1] + a1) * orders[2] + a2.
  CellVector point(int index) const;
  double point_along(int row, int k) const { return 0.5 * points_[std::size_t(row)][std::size_t(k)]; }
  // The coefficient of Chebyshev polynomial m of 2 * coordinate in the polynomial of point k.
  double coefficient(int row, int m, int k) const {
    return coefficients_[std::size_t(row)][std::size_t(m * orders_[std::size_t(row)] + k)];
  }
  // The values of the polynomials of a row, each 1 at its point and 0 at the others: values[0], ..., values[order - 1].
  void weights_along(int row, double coordinate, double* values) const;
  // The values of the polynomials of all points, the products of those of the rows: values[point].
  void weights(const CellVector& coordinates, std::span<double> values) const;

 private:
  std::array<int, 3> orders_;
  std::array<std::vector<double>, 3> points_, coefficients_;  // coefficients_[row]: [polynomial][point]
};

}  // namespace nbcc
