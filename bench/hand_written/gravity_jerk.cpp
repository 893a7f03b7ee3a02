// pipelines/gravity_jerk.pipe in single precision, by hand. Entry point: gravity_jerk().
//
// All powers of 1/r are those of sqrt(3)/r, which the refinement of the estimate gives for nothing: the 3 of the jerk
// is then already in its square, and the sums are put right by one factor each.
#include "bench/hand_written/sum.h"

namespace hand_written::NBCC_BENCH_ISA {
namespace {

constexpr double kRoot3 = 1.7320508075688772;

struct GravityJerk {
  using Vector = Float;
  static constexpr int kI = 6, kJ = 7, kSums = 7, kMaximum = -1;
  Float eps2;

  explicit GravityJerk(const double* param) : eps2(all(float(param[0]))) {}
  static double scale(int k) { return k < 6 ? 1 / (3 * kRoot3) : -1 / kRoot3; }

  static void i_numbers(const Problem& p, std::int64_t k, double* out) {
    for (int c = 0; c < kI; ++c) out[c] = p.i[c][k];
  }
  static void j_numbers(const Problem& p, std::int64_t k, double* out) {
    for (int c = 0; c < kJ; ++c) out[c] = p.j[c][k];
  }

  template <int R, typename Self>
  __attribute__((always_inline)) void add(const Float (&i)[kI][R], const Float (&j)[kJ], Float (&sum)[kSums][R],
                                          const Self&) const {
    Float d[6][R], d2[R], dot[R], ri[R], ri2[R], mri[R], alpha[R];
    for (int c = 0; c < 6; ++c)
      for (int r = 0; r < R; ++r) d[c][r] = j[c] - i[c][r];
    for (int r = 0; r < R; ++r) d2[r] = d[2][r] * d[2][r];
    for (int r = 0; r < R; ++r) dot[r] = d[2][r] * d[5][r];
    for (int c = 1; c >= 0; --c) {
      for (int r = 0; r < R; ++r) d2[r] = fma(d[c][r], d[c][r], d2[r]);
      for (int r = 0; r < R; ++r) dot[r] = fma(d[c][r], d[c + 3][r], dot[r]);
    }
    // A pair in one place has no estimate: 0 makes all of its terms 0, without softening too.
    for (int r = 0; r < R; ++r) {
      const Float r2 = d2[r] + eps2;
      ri[r] = scaled_rsqrt(r2, keep(unequal(d2[r], all(0.0f)), rsqrt_estimate(r2)), float(kRoot3));
    }
    for (int r = 0; r < R; ++r) ri2[r] = ri[r] * ri[r];
    for (int r = 0; r < R; ++r) mri[r] = j[6] * ri[r];
    for (int r = 0; r < R; ++r) alpha[r] = dot[r] * ri2[r];
    for (int r = 0; r < R; ++r) sum[6][r] = sum[6][r] + mri[r];
    for (int r = 0; r < R; ++r) mri[r] = mri[r] * ri2[r];
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r < R; ++r) sum[c][r] = fma(mri[r], d[c][r], sum[c][r]);
      for (int r = 0; r < R; ++r) d[c + 3][r] = fnma(alpha[r], d[c][r], d[c + 3][r]);
      for (int r = 0; r < R; ++r) sum[c + 3][r] = fma(mri[r], d[c + 3][r], sum[c + 3][r]);
    }
  }
};

constexpr Kernel kShapes[] = {
    kernel<GravityJerk, 1, true>("gravity_jerk", "1 vector of i"),
    kernel<GravityJerk, 2, true>("gravity_jerk", "2 vectors of i"),
    kernel<GravityJerk, 1, false>("gravity_jerk", "vector of j, 1 i"),
    kernel<GravityJerk, 2, false>("gravity_jerk", "vector of j, 2 i"),
};

}  // namespace

Shapes gravity_jerk() { return {kShapes, int(sizeof kShapes / sizeof *kShapes)}; }

}  // namespace hand_written::NBCC_BENCH_ISA
