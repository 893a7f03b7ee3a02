// Ewald's sums in double precision over a few particles in any cell of three periodic vectors: what periodic sums by
// tables are compared with. Without the mode k = 0: surroundings of tinfoil, a uniform background.
#pragma once
#include <array>
#include <vector>

namespace nbcc::test {

using EwaldVector = std::array<double, 3>;

struct EwaldCell {
  std::array<EwaldVector, 3> rows, reciprocal;  // reciprocal[k]: 2 pi times the vector with product 1 with rows[k]
  double volume = 0;
};
EwaldCell ewald_cell(const std::array<EwaldVector, 3>& rows);

// [quantity][i]: potential sum of w / r, field sum of w d / r^3 (3), d from i to j; without i itself.
std::vector<double> ewald_coulomb(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                                  const std::vector<double>& weights);
// [axis][i]: sum of 3 d (d.m) / r^5 - m / r^3 of dipoles [axis][j].
std::vector<double> ewald_dipoles(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                                  const std::vector<double>& dipoles);
// [axis][i]: sum of f / r + d (d.f) / r^3 of forces [axis][j]; the mean flow is 0 (Hasimoto 1959).
std::vector<double> ewald_stokeslets(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                                     const std::vector<double>& forces);
// [i]: sum of w exp(-kappa r) / r, with the mode k = 0.
std::vector<double> ewald_yukawa(const EwaldCell& cell, const std::vector<EwaldVector>& positions,
                                 const std::vector<double>& weights, double kappa);

}  // namespace nbcc::test
