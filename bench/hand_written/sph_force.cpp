// pipelines/sph_force.pipe in single precision, by hand. Entry point: sph_force().
//
// All that one particle decides is computed when it is packed: 1/h, the kernel's norm 3/(pi h^4), P/(omega rho^2), the
// reach 4 h^2. Beyond both reaches the slopes are 0 of themselves, so only the maximum needs the mask.
#include "bench/hand_written/sum.h"

namespace hand_written::NBCC_BENCH_ISA {
namespace {

constexpr double kPi = 3.141592653589793;

// What a particle brings besides its place and velocity.
enum { kReach2 = 6, kPerH, kNorm, kPush, kSound, kDensity, kHalfH, kMass };

struct SphForce {
  using Vector = Float;
  static constexpr int kI = 13, kJ = 14, kSums = 5, kMaximum = 4;
  Float half_alpha, beta;

  explicit SphForce(const double* param) : half_alpha(all(float(0.5 * param[0]))), beta(all(float(param[1]))) {}
  static double scale(int k) { return k < 3 ? -1 : 1; }

  static void numbers(const double* const* column, std::int64_t k, int after_velocity, double* out) {
    for (int c = 0; c < 6; ++c) out[c] = column[c][k];
    const double* const* state = column + after_velocity;
    const double h = state[0][k], rho = state[1][k], pressure = state[2][k], sound = state[3][k], omega = state[4][k];
    out[kReach2] = 4 * h * h;
    out[kPerH] = 1 / h;
    out[kNorm] = 3 / (kPi * h * h * h * h);
    out[kPush] = pressure / (omega * rho * rho);
    out[kSound] = sound;
    out[kDensity] = rho;
    out[kHalfH] = 0.5 * h;
  }
  static void i_numbers(const Problem& p, std::int64_t k, double* out) { numbers(p.i, k, 6, out); }
  static void j_numbers(const Problem& p, std::int64_t k, double* out) {
    numbers(p.j, k, 7, out);
    out[kMass] = p.j[6][k];
  }

  // dW/dr over r, without 1/r and the norm: max(1 - q, 0)^2 - max(1 - q/2, 0)^2.
  NBCC_INLINE Float slope(Float q) {
    const Float inner = maximum(all(1.0f) - q, all(0.0f)), outer = maximum(fnma(q, all(0.5f), all(1.0f)), all(0.0f));
    return fma(inner, inner, all(0.0f) - outer * outer);
  }

  template <int R, typename Self>
  __attribute__((always_inline)) void add(const Float (&i)[kI][R], const Float (&j)[kJ], Float (&sum)[kSums][R],
                                          const Self&) const {
    for (int r = 0; r < R; ++r) {
      Float d[6];
      for (int c = 0; c < 3; ++c) d[c] = i[c][r] - j[c];
      const Float r2 = fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2]));
      const Mask inside = less(r2, maximum(i[kReach2][r], j[kReach2]));
      if (__builtin_expect(!any(inside), 1)) continue;
      for (int c = 3; c < 6; ++c) d[c] = i[c][r] - j[c];
      // Away from 0, where the estimate is infinite; distance and slopes are 0 there whatever the reciprocal.
      const Float guarded = maximum(r2, all(1e-37f)), ri = scaled_rsqrt(guarded, rsqrt_estimate(guarded), 1);
      const Float distance = r2 * ri;
      const Float fi = slope(distance * i[kPerH][r]) * (i[kNorm][r] * ri);
      const Float fj = slope(distance * j[kPerH]) * (j[kNorm] * ri);

      const Float vx = fma(d[0], d[3], fma(d[1], d[4], d[2] * d[5])), approach = minimum(vx, all(0.0f));
      const Float h = i[kHalfH][r] + j[kHalfH], c = i[kSound][r] + j[kSound], rho = i[kDensity][r] + j[kDensity];
      const Float mu = h * approach * reciprocal(fma(all(0.01f) * h, h, r2));
      const Float visc = mu * fma(beta, mu, all(0.0f) - half_alpha * c) * reciprocal(rho) * (fi + fj);

      const Float push_i = i[kPush][r] * fi, push = fma(j[kPush], fj, push_i) + visc;
      const Float pull = j[kMass] * push, heat = j[kMass] * fma(all(0.5f), visc, push_i);
      for (int k = 0; k < 3; ++k) sum[k][r] = fma(pull, d[k], sum[k][r]);
      sum[3][r] = fma(heat, vx, sum[3][r]);
      sum[4][r] = choose(inside, maximum(sum[4][r], fnma(all(3.0f) * approach, ri, c)), sum[4][r]);
    }
  }
};

constexpr Kernel kShapes[] = {
    kernel<SphForce, 1, true>("sph_force", "1 vector of i"),
    kernel<SphForce, 1, false>("sph_force", "vector of j, 1 i"),
    kernel<SphForce, 2, false>("sph_force", "vector of j, 2 i"),
};

}  // namespace

Shapes sph_force() { return {kShapes, int(sizeof kShapes / sizeof *kShapes)}; }

}  // namespace hand_written::NBCC_BENCH_ISA
