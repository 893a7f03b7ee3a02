// Sums over all images of all j by tables of the displacement (runtime/far/periodic/), the near images one by one; and
// kernels for them.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/far/periodic/periodic_tables.h"

namespace nbcc::test {

// A function of one displacement, of `axes` components, as a kernel. All components are one group, unless groups are
// given.
template <typename Values>
PeriodicKernel periodic_kernel(int axes, int components, Values values, std::vector<int> groups = {}) {
  if (groups.empty()) groups.assign(std::size_t(components), 0);
  return {std::move(groups),
          [=](std::int64_t ni, const double* position_i, std::int64_t nj, const double* position_j, double* sums) {
            for (std::int64_t i = 0; i < ni; ++i) {
              double sum[9] = {};
              for (std::int64_t j = 0; j < nj; ++j) {
                CellVector d{};
                for (int axis = 0; axis < axes; ++axis)
                  d[std::size_t(axis)] = position_j[axis * nj + j] - position_i[axis * ni + i];
                double value[9];
                values(d, value);
                for (int c = 0; c < components; ++c) sum[c] += value[c];
              }
              for (int c = 0; c < components; ++c) sums[c * ni + i] = sum[c];
            }
          }};
}

inline double squared_length(const CellVector& d) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

// r^-p.
inline PeriodicKernel power_kernel(int axes, double p) {
  return periodic_kernel(axes, 1,
                         [p](const CellVector& d, double* value) { value[0] = std::pow(squared_length(d), -0.5 * p); });
}

// 1/r and d/r^3, each a group.
inline PeriodicKernel coulomb_kernel() {
  return periodic_kernel(3, 4,
                         [](const CellVector& d, double* value) {
                           const double r2 = squared_length(d), r = std::sqrt(r2);
                           value[0] = 1 / r;
                           for (std::size_t axis = 0; axis < 3; ++axis) value[axis + 1] = d[axis] / (r2 * r);
                         },
                         {0, 1, 1, 1});
}

enum class FarBy { Function, Grid };  // F itself, or interpolated between the points of the grid

// [component][i]: the sum over all images of all j of K(x_j - x_i) * w_j, without that of i itself at distance 0 where
// i and j are one set. Positions are anywhere.
std::vector<double> periodic_sums(const PeriodicTables& tables, const PeriodicKernel& kernel,
                                  std::vector<CellVector> of_i, std::vector<CellVector> of_j,
                                  const std::vector<double>& weights, bool one_set, FarBy by = FarBy::Function);

}  // namespace nbcc::test
