// Polynomials of up to three variables from -1 to 1, as products of Chebyshev polynomials. Tested by
// tests/unit/runtime/far/periodic/.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nbcc {

struct SmallMatrix {
  int rows = 0, columns = 0;
  std::vector<double> values;  // [row][column]

  SmallMatrix() = default;
  SmallMatrix(int r, int c) : rows(r), columns(c), values(std::size_t(r) * std::size_t(c)) {}
  double& at(int r, int c) { return values[std::size_t(r) * std::size_t(columns) + std::size_t(c)]; }
  double at(int r, int c) const { return values[std::size_t(r) * std::size_t(columns) + std::size_t(c)]; }
};

// The Chebyshev points of the first kind; exactly symmetric: point k is minus point order - 1 - k.
std::vector<double> chebyshev_points(int order);
// The values of the first `order` Chebyshev polynomials at x.
void chebyshev_polynomials(double x, int order, double* values);
// Values at the points -> coefficients: [polynomial][point].
SmallMatrix chebyshev_coefficients(int order);

// Values or coefficients of several polynomials: [component][k0][k1][k2]; a variable that does not exist has order 1.
struct ChebyshevSeries {
  int components = 0;
  std::array<int, 3> orders{1, 1, 1};
  std::vector<double> values;

  ChebyshevSeries() = default;
  ChebyshevSeries(int of_components, const std::array<int, 3>& of_orders);
  std::size_t size() const { return std::size_t(orders[0]) * std::size_t(orders[1]) * std::size_t(orders[2]); }
  double* of(int component) { return values.data() + std::size_t(component) * size(); }
  const double* of(int component) const { return values.data() + std::size_t(component) * size(); }
  // The degrees k0, k1, k2 of a coefficient.
  std::array<int, 3> degrees(std::size_t index) const;

  // The matrix applied along one variable; matrices[variable] along each.
  ChebyshevSeries along(std::size_t variable, const SmallMatrix& matrix) const;
  ChebyshevSeries along(const std::array<SmallMatrix, 3>& matrices) const;
  // result[component][point] of coefficients; points[variable][point], as many variables as given.
  std::vector<double> evaluate(std::int64_t count, int variables, const double* points) const;
};

}  // namespace nbcc
