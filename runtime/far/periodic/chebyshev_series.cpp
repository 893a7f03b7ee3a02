// Series of Chebyshev polynomials in up to three variables: transforms along the variables, and values at points.
#include "runtime/far/periodic/chebyshev_series.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace nbcc {

std::vector<double> chebyshev_points(int order) {
  std::vector<double> points(std::size_t(order), 0.0);
  for (int k = 0; 2 * k + 1 < order; ++k) {
    points[std::size_t(k)] = std::cos(std::numbers::pi * (k + 0.5) / order);
    points[std::size_t(order - 1 - k)] = -points[std::size_t(k)];
  }
  return points;
}

void chebyshev_polynomials(double x, int order, double* values) {
  values[0] = 1;
  if (order > 1) values[1] = x;
  for (int k = 2; k < order; ++k) values[k] = 2 * x * values[k - 1] - values[k - 2];
}

SmallMatrix chebyshev_coefficients(int order) {
  SmallMatrix result(order, order);
  for (int m = 0; m < order; ++m)
    for (int k = 0; 2 * k < order; ++k) {
      const double value = (m == 0 ? 1.0 : 2.0) / order * std::cos(m * std::numbers::pi * (k + 0.5) / order);
      result.at(m, order - 1 - k) = m % 2 == 0 ? value : -value;
      result.at(m, k) = 2 * k + 1 == order && m % 2 == 1 ? 0 : value;
    }
  return result;
}

ChebyshevSeries::ChebyshevSeries(int of_components, const std::array<int, 3>& of_orders)
    : components(of_components), orders(of_orders), values(std::size_t(of_components) * size()) {}

std::array<int, 3> ChebyshevSeries::degrees(std::size_t index) const {
  const auto n1 = std::size_t(orders[1]), n2 = std::size_t(orders[2]);
  return {int(index / (n1 * n2)), int(index / n2 % n1), int(index % n2)};
}

namespace {

// to[outer][row][inner] = sum over columns of matrix[row][column] * from[outer][column][inner].
void apply_matrix(const SmallMatrix& matrix, std::size_t outer, std::size_t inner, const double* from, double* to) {
  const auto rows = std::size_t(matrix.rows), columns = std::size_t(matrix.columns);
  if (inner > 1) {
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t r = 0; r < rows; ++r) {
        double* const row = to + (o * rows + r) * inner;
        for (std::size_t c = 0; c < columns; ++c) {
          const double factor = matrix.values[r * columns + c];
          const double* const column = from + (o * columns + c) * inner;
          for (std::size_t k = 0; factor != 0 && k < inner; ++k) row[k] += factor * column[k];
        }
      }
    return;
  }
  std::vector<double> transposed(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) transposed[c * rows + r] = matrix.values[r * columns + c];
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t c = 0; c < columns; ++c) {
      const double factor = from[o * columns + c];
      for (std::size_t r = 0; r < rows; ++r) to[o * rows + r] += factor * transposed[c * rows + r];
    }
}

}  // namespace

ChebyshevSeries ChebyshevSeries::along(std::size_t variable, const SmallMatrix& matrix) const {
  std::size_t outer = std::size_t(components), inner = 1;
  for (std::size_t v = 0; v < variable; ++v) outer *= std::size_t(orders[v]);
  for (std::size_t v = variable + 1; v < 3; ++v) inner *= std::size_t(orders[v]);
  std::array<int, 3> new_orders = orders;
  new_orders[variable] = matrix.rows;
  ChebyshevSeries result(components, new_orders);
  apply_matrix(matrix, outer, inner, values.data(), result.values.data());
  return result;
}

ChebyshevSeries ChebyshevSeries::along(const std::array<SmallMatrix, 3>& matrices) const {
  return along(0, matrices[0]).along(1, matrices[1]).along(2, matrices[2]);
}

std::vector<double> ChebyshevSeries::evaluate(std::int64_t count, int variables, const double* points) const {
  constexpr int kBlock = 16;  // points at a time, in vectors of the processor
  std::vector<double> result(std::size_t(components) * std::size_t(count));
  std::array<std::vector<double>, 3> basis;  // [polynomial][point of the block]
  std::vector<double> polynomials(std::size_t(*std::max_element(orders.begin(), orders.end())));
  for (std::size_t v = 0; v < 3; ++v) basis[v].assign(std::size_t(orders[v] * kBlock), 1.0);
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const int size = int(std::min<std::int64_t>(kBlock, count - first));
    for (int v = 0; v < variables; ++v)
      for (int p = 0; p < size; ++p) {
        chebyshev_polynomials(points[v * count + first + p], orders[std::size_t(v)], polynomials.data());
        for (int k = 0; k < orders[std::size_t(v)]; ++k)
          basis[std::size_t(v)][std::size_t(k * kBlock + p)] = polynomials[std::size_t(k)];
      }
    for (int c = 0; c < components; ++c) {
      const double* coefficient = of(c);
      double sum[kBlock] = {};
      for (int k0 = 0; k0 < orders[0]; ++k0) {
        double plane[kBlock] = {};
        for (int k1 = 0; k1 < orders[1]; ++k1) {
          double line[kBlock] = {};
          const double* value = basis[2].data();
          for (int k2 = 0; k2 < orders[2]; ++k2, ++coefficient, value += kBlock) {
            const double factor = *coefficient;
            if (factor == 0) continue;  // half of the coefficients of even and odd functions
            for (int p = 0; p < kBlock; ++p) line[p] += factor * value[p];
          }
          value = basis[1].data() + k1 * kBlock;
          for (int p = 0; p < kBlock; ++p) plane[p] += line[p] * value[p];
        }
        const double* const value = basis[0].data() + k0 * kBlock;
        for (int p = 0; p < kBlock; ++p) sum[p] += plane[p] * value[p];
      }
      std::copy_n(sum, size, result.data() + c * count + first);
    }
  }
  return result;
}

}  // namespace nbcc
