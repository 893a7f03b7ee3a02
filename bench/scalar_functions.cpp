// Three sums over all j as loops over pairs. Entry points: gaussian_rbf(), ewald_real(), hologram().
#include "bench/scalar_functions.h"

#include <cmath>
#include <numbers>

namespace nbcc::bench {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;

}  // namespace

void gaussian_rbf(const ScalarProblem& p) {
  const float factor = -0.5f / (p.param[0] * p.param[0]);
  for (std::int64_t i = 0; i < p.ni; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < p.nj; ++j) {
      float r2 = 0;
      for (int c = 0; c < 3; ++c) r2 += (p.i[c][i] - p.j[c][j]) * (p.i[c][i] - p.j[c][j]);
      sum += p.j[3][j] * std::exp(r2 * factor);
    }
    p.sum[0][i] = sum;
  }
}

// Params: ke, alpha, rc, box.
void ewald_real(const ScalarProblem& p) {
  const float ke = p.param[0], alpha = p.param[1], rc2 = p.param[2] * p.param[2];
  const float slope = 2 * alpha / std::sqrt(kPi);
  for (std::int64_t i = 0; i < p.ni; ++i) {
    double force[3] = {}, energy = 0;
    for (std::int64_t j = 0; j < p.nj; ++j) {
      float d[3], r2 = 0;
      for (int c = 0; c < 3; ++c) {
        d[c] = p.j[c][j] - p.i[c][i];
        d[c] -= p.param[3 + c] * std::rint(d[c] / p.param[3 + c]);
        r2 += d[c] * d[c];
      }
      if (i == j || r2 >= rc2) continue;
      const float ri = 1 / std::sqrt(r2), ar = alpha * r2 * ri, screened = std::erfc(ar) * ri;
      const float qq = ke * p.i[3][i] * p.j[3][j], w = qq * (screened + slope * std::exp(-ar * ar)) * ri * ri;
      for (int c = 0; c < 3; ++c) force[c] -= w * d[c];
      energy += 0.5f * qq * screened;
    }
    for (int c = 0; c < 3; ++c) p.sum[c][i] = force[c];
    p.sum[3][i] = energy;
  }
}

// Params: lambda, z0.
void hologram(const ScalarProblem& p) {
  const float lambda = p.param[0], z0 = p.param[1];
  for (std::int64_t i = 0; i < p.ni; ++i) {
    double re = 0, im = 0;
    for (std::int64_t j = 0; j < p.nj; ++j) {
      float d[3];
      for (int c = 0; c < 3; ++c) d[c] = p.j[c][j] - p.i[c][i];
      const float rho2 = d[0] * d[0] + d[1] * d[1], r = std::sqrt(rho2 + d[2] * d[2]);
      const float halves = 2 * ((rho2 + (d[2] - z0) * (d[2] + z0)) / (r + z0)) / lambda;
      const float phase = kPi * (halves - 2 * std::rint(0.5f * halves));  // whole cycles off before pi comes in
      re += p.j[3][j] * std::cos(phase);
      im += p.j[3][j] * std::sin(phase);
    }
    p.sum[0][i] = re;
    p.sum[1][i] = im;
  }
}

}  // namespace nbcc::bench
