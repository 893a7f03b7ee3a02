// Ewald sums in double precision: a reference for periodic sums of 1/r that shares nothing with them. P. P. Ewald, Ann.
// Phys. 369 (1921) 253. Without the mode k = 0: in a uniform background, and with a conductor around all images.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "tests/support/vector3.h"

namespace nbcc::test {

struct EwaldSum {
  std::vector<double> potential;  // [i] the sum of w / r over all images of all j, without the pair of i with itself
  std::vector<Vector3> field;     // sum of w d / r^3, d from i to the image of j
};

// Multiples of three vectors whose lengths may be up to `reach`.
template <typename Body>
void for_lattice(const std::array<Vector3, 3>& vectors, double reach, const Body& body) {
  const double volume = std::fabs(dot(vectors[0], cross(vectors[1], vectors[2])));
  std::array<int, 3> most{};
  for (std::size_t k = 0; k < 3; ++k) {
    const Vector3 normal = cross(vectors[(k + 1) % 3], vectors[(k + 2) % 3]);
    most[k] = int(std::ceil(reach * std::sqrt(dot(normal, normal)) / volume));
  }
  for (int a = -most[0]; a <= most[0]; ++a)
    for (int b = -most[1]; b <= most[1]; ++b)
      for (int c = -most[2]; c <= most[2]; ++c) {
        Vector3 sum{};
        for (std::size_t axis = 0; axis < 3; ++axis)
          sum[axis] = a * vectors[0][axis] + b * vectors[1][axis] + c * vectors[2][axis];
        body(sum);
      }
}

// The sums of one set of particles in a cell of three vectors, with relative errors near 1e-15.
inline EwaldSum ewald(const std::array<Vector3, 3>& cell, std::span<const Vector3> x, std::span<const double> w) {
  const double pi = std::numbers::pi, digits = std::sqrt(-std::log(1e-16));
  const double volume = std::fabs(dot(cell[0], cross(cell[1], cell[2])));
  const double alpha = 3.2 / std::cbrt(volume), reach = digits / alpha, highest = 2 * digits * alpha;
  double extent = 0;  // of displacements within the cell
  for (const Vector3& vector : cell) extent += std::sqrt(dot(vector, vector));
  EwaldSum sums{std::vector<double>(x.size()), std::vector<Vector3>(x.size())};
  for_lattice(cell, reach + extent, [&](const Vector3& shift) {
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x.size(); ++j) {
        const Vector3 d{x[j][0] - x[i][0] + shift[0], x[j][1] - x[i][1] + shift[1], x[j][2] - x[i][2] + shift[2]};
        const double r2 = dot(d, d), r = std::sqrt(r2);
        if (r2 == 0 || r > reach) continue;
        const double screened = std::erfc(alpha * r) / r;
        const double slope = (screened + 2 * alpha / std::sqrt(pi) * std::exp(-alpha * alpha * r2)) / r2;
        sums.potential[i] += w[j] * screened;
        for (std::size_t axis = 0; axis < 3; ++axis) sums.field[i][axis] += w[j] * slope * d[axis];
      }
  });
  std::array<Vector3, 3> reciprocal{};
  for (std::size_t k = 0; k < 3; ++k) {
    reciprocal[k] = cross(cell[(k + 1) % 3], cell[(k + 2) % 3]);
    const double scale = 2 * pi / dot(cell[k], reciprocal[k]);
    for (double& component : reciprocal[k]) component *= scale;
  }
  for_lattice(reciprocal, highest, [&](const Vector3& k) {
    const double k2 = dot(k, k);
    if (k2 < 1e-20 * highest * highest || k2 > highest * highest) return;
    double cosines = 0, sines = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      cosines += w[j] * std::cos(dot(k, x[j])), sines += w[j] * std::sin(dot(k, x[j]));
    const double of_mode = 4 * pi / volume * std::exp(-k2 / (4 * alpha * alpha)) / k2;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double c = std::cos(dot(k, x[i])), s = std::sin(dot(k, x[i]));
      sums.potential[i] += of_mode * (cosines * c + sines * s);
      for (std::size_t axis = 0; axis < 3; ++axis) sums.field[i][axis] += of_mode * k[axis] * (sines * c - cosines * s);
    }
  });
  double total = 0;
  for (const double one : w) total += one;
  for (std::size_t i = 0; i < x.size(); ++i)
    sums.potential[i] -= pi / (alpha * alpha * volume) * total + 2 * alpha / std::sqrt(pi) * w[i];
  return sums;
}

}  // namespace nbcc::test
