// Computes the numbers of a table (field.h) from the params: the table's elements, or the coefficients of a cubic
// spline through each row. The interpreter and the runtime both use it.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "compiler/field.h"

namespace nbcc {

// Coefficients of the cubic spline through y[0], y[1], ... at x = 0, 1, ...: for x in [k, k + 1] the spline is the sum
// over p of result[p][k] (x - k)^p. It ends with "not-a-knot" conditions (its third derivative is continuous at the
// second and the second last point), so that it reproduces cubics. Three values give a parabola, two a line.
inline std::array<std::vector<double>, 4> spline_coefficients(std::span<const double> y) {
  const std::size_t n = y.size();
  std::vector<double> curvature(n, 0.0), factor(n, 0.0);
  const auto bend = [&](std::size_t k) { return y[k - 1] - 2 * y[k] + y[k + 1]; };
  if (n > 2) {
    curvature[1] = bend(1);
    curvature[n - 2] = bend(n - 2);
    // The inner curvatures solve c[k-1] + 4 c[k] + c[k+1] = 6 bend(k): forward elimination, then back substitution.
    for (std::size_t k = 2; k + 2 < n; ++k) {
      const double pivot = 4 - factor[k - 1];
      factor[k] = 1 / pivot;
      curvature[k] = (6 * bend(k) - curvature[k - 1]) / pivot;
    }
    for (std::size_t k = n - 3; k >= 2 && k < n; --k) curvature[k] -= factor[k] * curvature[k + 1];
    curvature[0] = n > 3 ? 2 * curvature[1] - curvature[2] : curvature[1];
    curvature[n - 1] = n > 3 ? 2 * curvature[n - 2] - curvature[n - 3] : curvature[1];
  }
  std::array<std::vector<double>, 4> result;
  for (auto& of_power : result) of_power.assign(n, 0.0);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    result[0][k] = y[k];
    result[1][k] = y[k + 1] - y[k] - (2 * curvature[k] + curvature[k + 1]) / 6;
    result[2][k] = curvature[k] / 2;
    result[3][k] = (curvature[k + 1] - curvature[k]) / 6;
  }
  if (n > 0) result[0][n - 1] = y[n - 1];
  return result;
}

inline std::vector<double> table_values(const Table& table, std::span<const double> params) {
  std::vector<double> values(std::size_t(table.count));
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = params[std::size_t(table.first) + k * std::size_t(table.stride)];
  if (table.power < 0) return values;
  const auto row = std::size_t(table.columns > 0 ? table.columns : table.count);
  for (std::size_t begin = 0; begin < values.size(); begin += row)
    std::ranges::copy(spline_coefficients(std::span(values).subspan(begin, row))[std::size_t(table.power)],
                      values.begin() + std::ptrdiff_t(begin));
  return values;
}

inline std::vector<std::vector<double>> tables_of(const std::vector<Table>& tables, std::span<const double> params) {
  std::vector<std::vector<double>> values;
  for (const Table& table : tables) values.push_back(table_values(table, params));
  return values;
}

}  // namespace nbcc
