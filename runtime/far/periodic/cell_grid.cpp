// Chebyshev points of a periodic cell -> their positions, and the values of their polynomials.
#include "runtime/far/periodic/cell_grid.h"

#include "runtime/far/periodic/chebyshev_series.h"

namespace nbcc {

CellGrid::CellGrid(const std::array<int, 3>& orders) : orders_(orders) {
  for (std::size_t row = 0; row < 3; ++row) {
    points_[row] = chebyshev_points(orders[row]);
    coefficients_[row] = chebyshev_coefficients(orders[row]).values;
  }
}

CellVector CellGrid::point(int index) const {
  return {point_along(0, index / (orders_[1] * orders_[2])), point_along(1, index / orders_[2] % orders_[1]),
          point_along(2, index % orders_[2])};
}

void CellGrid::weights_along(int row, double coordinate, double* values) const {
  const int order = orders_[std::size_t(row)];
  Values polynomials;
  chebyshev_polynomials(2 * coordinate, order, polynomials.data());
  for (int k = 0; k < order; ++k) values[k] = 0;
  const double* coefficient = coefficients_[std::size_t(row)].data();
  for (int m = 0; m < order; ++m)
    for (int k = 0; k < order; ++k) values[k] += *coefficient++ * polynomials[std::size_t(m)];
}

void CellGrid::weights(const CellVector& coordinates, std::span<double> values) const {
  std::array<Values, 3> along;
  for (int row = 0; row < 3; ++row) weights_along(row, coordinates[std::size_t(row)], along[std::size_t(row)].data());
  double* value = values.data();
  for (int a = 0; a < orders_[0]; ++a)
    for (int b = 0; b < orders_[1]; ++b)
      for (int c = 0; c < orders_[2]; ++c)
        *value++ = along[0][std::size_t(a)] * along[1][std::size_t(b)] * along[2][std::size_t(c)];
}

}  // namespace nbcc
