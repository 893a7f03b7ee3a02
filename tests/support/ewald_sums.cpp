#include "tests/support/ewald_sums.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace nbcc::test {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kDigits = 6.2;  // exp(-kDigits^2) = 2e-17

double product(const EwaldVector& a, const EwaldVector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
EwaldVector cross(const EwaldVector& a, const EwaldVector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// body(v) for all sums v of multiples of rows with |v| <= radius; duals: the rows' reciprocal vectors / 2 pi times 2
// pi.
void for_lattice(const std::array<EwaldVector, 3>& rows, const std::array<EwaldVector, 3>& reciprocal, double radius,
                 const std::function<void(const EwaldVector&)>& body) {
  std::array<int, 3> reach;
  for (std::size_t k = 0; k < 3; ++k)
    reach[k] = int(radius * std::sqrt(product(reciprocal[k], reciprocal[k])) / (2 * kPi));
  for (int a = -reach[0]; a <= reach[0]; ++a)
    for (int b = -reach[1]; b <= reach[1]; ++b)
      for (int c = -reach[2]; c <= reach[2]; ++c) {
        EwaldVector v;
        for (std::size_t axis = 0; axis < 3; ++axis)
          v[axis] = a * rows[0][axis] + b * rows[1][axis] + c * rows[2][axis];
        if (product(v, v) <= radius * radius) body(v);
      }
}

// alpha of exp(-(alpha r)^2), with which both sums are about as long.
double splitting(const EwaldCell& cell) { return 2.5 / std::cbrt(cell.volume); }

// body(i, j, d, r) for all images at r > 0 that count.
void near_pairs(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                const std::function<void(std::size_t, std::size_t, const EwaldVector&, double)>& body) {
  const double cutoff = (kDigits + 1) / splitting(cell);
  double largest = 0;
  for (const EwaldVector& x : positions)
    for (const EwaldVector& y : positions)
      largest = std::max(largest, product(x, x) + product(y, y) - 2 * product(x, y));
  for_lattice(cell.rows, cell.reciprocal, cutoff + std::sqrt(largest), [&](const EwaldVector& shift) {
    for (std::size_t i = 0; i < positions.size(); ++i)
      for (std::size_t j = 0; j < positions.size(); ++j) {
        EwaldVector d;
        for (std::size_t axis = 0; axis < 3; ++axis) d[axis] = positions[j][axis] + shift[axis] - positions[i][axis];
        const double r = std::sqrt(product(d, d));
        if (r > 0 && r < cutoff) body(i, j, d, r);
      }
  });
}

// body(k, k^2, i, j, cos(k.d), sin(k.d)) for all k but 0 that count, d from i to j.
void far_pairs(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
               const std::function<void(const EwaldVector&, double, std::size_t, std::size_t, double, double)>& body) {
  std::array<EwaldVector, 3> rows;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t axis = 0; axis < 3; ++axis) rows[k][axis] = 2 * kPi * cell.rows[k][axis];
  for_lattice(cell.reciprocal, rows, 2 * (kDigits + 1) * splitting(cell), [&](const EwaldVector& k) {
    const double k2 = product(k, k);
    if (k2 == 0) return;
    for (std::size_t i = 0; i < positions.size(); ++i)
      for (std::size_t j = 0; j < positions.size(); ++j) {
        const double phase = product(k, positions[j]) - product(k, positions[i]);
        body(k, k2, i, j, std::cos(phase), std::sin(phase));
      }
  });
}

}  // namespace

EwaldCell ewald_cell(const std::array<EwaldVector, 3>& rows) {
  EwaldCell cell{rows, {}, 0};
  const double determinant = product(rows[0], cross(rows[1], rows[2]));
  cell.volume = std::fabs(determinant);
  for (std::size_t k = 0; k < 3; ++k) {
    cell.reciprocal[k] = cross(rows[(k + 1) % 3], rows[(k + 2) % 3]);
    for (double& x : cell.reciprocal[k]) x *= 2 * kPi / determinant;
  }
  return cell;
}

std::vector<double> ewald_coulomb(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                                  const std::vector<double>& weights) {
  const std::size_t n = positions.size();
  const double alpha = splitting(cell), root = alpha / std::sqrt(kPi);
  std::vector<double> sums(4 * n);
  near_pairs(cell, positions, [&](std::size_t i, std::size_t j, const EwaldVector& d, double r) {
    const double screened = std::erfc(alpha * r) / r;
    sums[i] += weights[j] * screened;
    const double slope = (screened + 2 * root * std::exp(-alpha * alpha * r * r)) / (r * r);
    for (std::size_t axis = 0; axis < 3; ++axis) sums[(axis + 1) * n + i] += weights[j] * slope * d[axis];
  });
  far_pairs(cell, positions,
            [&](const EwaldVector& k, double k2, std::size_t i, std::size_t j, double cosine, double sine) {
              const double factor = weights[j] * 4 * kPi / cell.volume * std::exp(-k2 / (4 * alpha * alpha)) / k2;
              sums[i] += factor * cosine;
              for (std::size_t axis = 0; axis < 3; ++axis) sums[(axis + 1) * n + i] += factor * sine * k[axis];
            });
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) sums[i] -= kPi / (alpha * alpha * cell.volume) * weights[j];
    sums[i] -= 2 * root * weights[i];
  }
  return sums;
}

std::vector<double> ewald_dipoles(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                                  const std::vector<double>& dipoles) {
  const std::size_t n = positions.size();
  const double alpha = splitting(cell), a2 = alpha * alpha;
  const auto of = [&](std::size_t j) { return EwaldVector{dipoles[j], dipoles[n + j], dipoles[2 * n + j]}; };
  std::vector<double> sums(3 * n);
  near_pairs(cell, positions, [&](std::size_t i, std::size_t j, const EwaldVector& d, double r) {
    const double r2 = r * r, gauss = 2 * alpha / std::sqrt(kPi) * std::exp(-a2 * r2);
    const double b = (std::erfc(alpha * r) / r + gauss) / r2, c = (3 * b + 2 * a2 * gauss) / r2;
    const EwaldVector m = of(j);
    for (std::size_t axis = 0; axis < 3; ++axis) sums[axis * n + i] += c * product(d, m) * d[axis] - b * m[axis];
  });
  far_pairs(cell, positions, [&](const EwaldVector& k, double k2, std::size_t i, std::size_t j, double cosine, double) {
    const double factor = 4 * kPi / cell.volume * std::exp(-k2 / (4 * a2)) / k2 * product(k, of(j)) * cosine;
    for (std::size_t axis = 0; axis < 3; ++axis) sums[axis * n + i] -= factor * k[axis];
  });
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += 4 * alpha * a2 / (3 * std::sqrt(kPi)) * dipoles[k];
  return sums;
}

std::vector<double> ewald_stokeslets(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                                     const std::vector<double>& forces) {
  const std::size_t n = positions.size();
  const double xi = splitting(cell), x2 = xi * xi;
  const auto of = [&](std::size_t j) { return EwaldVector{forces[j], forces[n + j], forces[2 * n + j]}; };
  std::vector<double> sums(3 * n);
  near_pairs(cell, positions, [&](std::size_t i, std::size_t j, const EwaldVector& d, double r) {
    const double gauss = 2 * xi / std::sqrt(kPi) * std::exp(-x2 * r * r), screened = std::erfc(xi * r) / r;
    const EwaldVector f = of(j);
    for (std::size_t axis = 0; axis < 3; ++axis)
      sums[axis * n + i] += (screened - gauss) * f[axis] + (screened + gauss) / (r * r) * product(d, f) * d[axis];
  });
  far_pairs(cell, positions, [&](const EwaldVector& k, double k2, std::size_t i, std::size_t j, double cosine, double) {
    const double factor = 8 * kPi / cell.volume / k2 * (1 + k2 / (4 * x2)) * std::exp(-k2 / (4 * x2)) * cosine;
    const EwaldVector f = of(j);
    for (std::size_t axis = 0; axis < 3; ++axis)
      sums[axis * n + i] += factor * (f[axis] - product(k, f) * k[axis] / k2);
  });
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] -= 4 * xi / std::sqrt(kPi) * forces[k];
  return sums;
}

std::vector<double> ewald_yukawa(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                                 const std::vector<double>& weights, double kappa) {
  const std::size_t n = positions.size();
  const double alpha = splitting(cell), a2 = alpha * alpha, k0 = kappa * kappa;
  std::vector<double> sums(n);
  near_pairs(cell, positions, [&](std::size_t i, std::size_t j, const EwaldVector&, double r) {
    const double up = std::exp(kappa * r) * std::erfc(alpha * r + kappa / (2 * alpha));
    const double down = std::exp(-kappa * r) * std::erfc(alpha * r - kappa / (2 * alpha));
    sums[i] += weights[j] * 0.5 * (up + down) / r;
  });
  const auto transform = [&](double k2) { return 4 * kPi / cell.volume * std::exp(-(k2 + k0) / (4 * a2)) / (k2 + k0); };
  far_pairs(cell, positions, [&](const EwaldVector&, double k2, std::size_t i, std::size_t j, double cosine, double) {
    sums[i] += weights[j] * transform(k2) * cosine;
  });
  for (std::size_t i = 0; i < n; ++i) {
    for (const double weight : weights) sums[i] += weight * transform(0);
    sums[i] -=
        weights[i] * (2 * alpha / std::sqrt(kPi) * std::exp(-k0 / (4 * a2)) - kappa * std::erfc(kappa / (2 * alpha)));
  }
  return sums;
}

}  // namespace nbcc::test
