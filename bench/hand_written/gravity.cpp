// pipelines/gravity_acc.pipe in single precision, by hand. Entry point: gravity().
//
// m r^-3 is formed from the estimate y of 1/r without ever refining y: with h = 1 - r^2 y^2 it is m y^3 (1 - h)^(-3/2),
// whose series needs h to the first power for 14 bits or more and to the second for 12. The leading coefficient of the
// series is taken out and applied to the finished sum; what remains costs one operation less. The factor applied is the
// inverse of the rounded constant, or every sum would be wrong by its rounding.
#include "bench/hand_written/symmetric.h"

namespace hand_written::NBCC_BENCH_ISA {
namespace {

struct Gravity {
  using Vector = Float;
  static constexpr int kI = 3, kJ = 4, kSums = 3, kMaximum = -1;
  Float eps2;

  explicit Gravity(const double* param) : eps2(all(float(param[0]))) {}
#if defined(__AVX512F__) || defined(__aarch64__)
  // 1 + 3/2 h = 3/2 (5/3 - r^2 y^2)
  static constexpr float kConstant = float(5.0 / 3);
  static double scale(int) { return 1 / (double(kConstant) - 1); }
  NBCC_INLINE Float series(Float r2, Float y2) { return fnma(r2, y2, all(kConstant)); }
#else
  // 1 + 3/2 h + 15/8 h^2 = 15/8 (8/15 + h (4/5 + h))
  static constexpr float kConstant = float(8.0 / 15);
  static double scale(int) { return 1 / double(kConstant); }
  NBCC_INLINE Float series(Float r2, Float y2) {
    const Float h = fnma(r2, y2, all(1.0f));
    return fma(h, h + all(0.8f), all(kConstant));
  }
#endif

  static void i_numbers(const Problem& p, std::int64_t k, double* out) {
    for (int c = 0; c < 3; ++c) out[c] = p.i[c][k];
  }
  static void j_numbers(const Problem& p, std::int64_t k, double* out) {
    for (int c = 0; c < 4; ++c) out[c] = p.j[c][k];
  }

  template <int R, typename Self>
  __attribute__((always_inline)) void add(const Float (&i)[kI][R], const Float (&j)[kJ], Float (&sum)[kSums][R],
                                          const Self&) const {
    Float x[R], y[R], z[R], r2[R], e[R], e2[R], w[R];
    for (int r = 0; r < R; ++r) x[r] = j[0] - i[0][r];
    for (int r = 0; r < R; ++r) y[r] = j[1] - i[1][r];
    for (int r = 0; r < R; ++r) z[r] = j[2] - i[2][r];
    for (int r = 0; r < R; ++r) r2[r] = fma(z[r], z[r], eps2);
    for (int r = 0; r < R; ++r) r2[r] = fma(y[r], y[r], r2[r]);
    for (int r = 0; r < R; ++r) r2[r] = fma(x[r], x[r], r2[r]);
    for (int r = 0; r < R; ++r) e[r] = rsqrt_estimate(r2[r]);
    for (int r = 0; r < R; ++r) e2[r] = e[r] * e[r];
    for (int r = 0; r < R; ++r) w[r] = j[3] * e[r];
    for (int r = 0; r < R; ++r) r2[r] = series(r2[r], e2[r]);
    for (int r = 0; r < R; ++r) w[r] = w[r] * e2[r];
    for (int r = 0; r < R; ++r) w[r] = w[r] * r2[r];
    for (int r = 0; r < R; ++r) sum[0][r] = fma(w[r], x[r], sum[0][r]);
    for (int r = 0; r < R; ++r) sum[1][r] = fma(w[r], y[r], sum[1][r]);
    for (int r = 0; r < R; ++r) sum[2][r] = fma(w[r], z[r], sum[2][r]);
  }

  template <bool kDiagonal, int R, typename Weight>
  __attribute__((always_inline)) void add_both(const Float (&i)[kJ][R], const Float (&j)[kJ], Float (&sum)[kSums][R],
                                               Float (&back)[kSums], const Weight& weight) const {
    Float d[3][R], r2[R], e[R], e2[R], w[R], u[R];
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < R; ++r) d[c][r] = j[c] - i[c][r];
    for (int r = 0; r < R; ++r) r2[r] = fma(d[2][r], d[2][r], eps2);
    for (int r = 0; r < R; ++r) r2[r] = fma(d[1][r], d[1][r], r2[r]);
    for (int r = 0; r < R; ++r) r2[r] = fma(d[0][r], d[0][r], r2[r]);
    for (int r = 0; r < R; ++r) e[r] = rsqrt_estimate(r2[r]);
    for (int r = 0; r < R; ++r) e2[r] = e[r] * e[r];
    for (int r = 0; r < R; ++r) e[r] = e[r] * e2[r];
    for (int r = 0; r < R; ++r) r2[r] = series(r2[r], e2[r]);
    for (int r = 0; r < R; ++r) e[r] = e[r] * r2[r];
    if (kDiagonal)
      for (int r = 0; r < R; ++r) e[r] = e[r] * weight(r);
    for (int r = 0; r < R; ++r) w[r] = j[3] * e[r];
    for (int r = 0; r < R; ++r) u[r] = i[3][r] * e[r];
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < R; ++r) sum[c][r] = fma(w[r], d[c][r], sum[c][r]);
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < R; ++r) back[c] = fnma(u[r], d[c][r], back[c]);
  }
};

constexpr Kernel kShapes[] = {
    kernel<Gravity, 1, true>("gravity_acc", "1 vector of i"),
    kernel<Gravity, 2, true>("gravity_acc", "2 vectors of i"),
    kernel<Gravity, 4, true>("gravity_acc", "4 vectors of i"),
    kernel<Gravity, 1, false>("gravity_acc", "vector of j, 1 i"),
    kernel<Gravity, 2, false>("gravity_acc", "vector of j, 2 i"),
    kernel<Gravity, 4, false>("gravity_acc", "vector of j, 4 i"),
    symmetric_kernel<Gravity, 1>("gravity_acc", "each pair once, 1 i"),
    symmetric_kernel<Gravity, 2>("gravity_acc", "each pair once, 2 i"),
    symmetric_kernel<Gravity, 4>("gravity_acc", "each pair once, 4 i"),
};

}  // namespace

Shapes gravity() { return {kShapes, int(sizeof kShapes / sizeof *kShapes)}; }

}  // namespace hand_written::NBCC_BENCH_ISA
