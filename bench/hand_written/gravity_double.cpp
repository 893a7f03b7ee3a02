// pipelines/gravity_acc.pipe in double precision, by hand. Entry point: gravity_double().
//
// Two ways to 1/r^3: the hardware's estimate with the series of gravity.cpp carried on to 53 bits, and square root and
// division. AVX2 has no estimate in double, so there it is made in single precision, which holds for 1e-38 < r^2 <
// 1e38.
#include "bench/hand_written/sum.h"

namespace hand_written::NBCC_BENCH_ISA {
namespace {

struct Estimate {
#ifdef __aarch64__
  static constexpr double kConstant = 5.0 / 3;
  static double scale() { return 1 / (kConstant - 1); }
#else
  static double scale() { return 1; }
#endif
  // y^3 (1 - h)^(-3/2) over y: the caller multiplies by the first y.
  NBCC_INLINE Double inverse_cube(Double m, Double r2) {
#ifdef __aarch64__
    // A second Newton step makes 31 bits. 1 + 3/2 h = 3/2 (5/3 - r^2 y^2).
    const Double y = newton_step(r2, rsqrt_estimate(r2)), y2 = y * y;
    return m * y * y2 * fnma(r2, y2, all(kConstant));
#else
    const Double y = rsqrt_estimate(r2), y2 = y * y, h = fnma(r2, y2, all(1.0));
#ifdef __AVX512F__
    Double series = fma(h, all(315.0 / 128), all(35.0 / 16));
#else
    Double series = fma(h, all(693.0 / 256), all(315.0 / 128));
    series = fma(h, series, all(35.0 / 16));
#endif
    series = fma(h, series, all(15.0 / 8));
    series = fma(h, series, all(3.0 / 2));
    series = fma(h, series, all(1.0));
    return m * y * y2 * series;
#endif
  }
};

struct Exact {
  static double scale() { return 1; }
  NBCC_INLINE Double inverse_cube(Double m, Double r2) { return m / (r2 * square_root(r2)); }
};

template <typename Root>
struct Gravity {
  using Vector = Double;
  static constexpr int kI = 3, kJ = 4, kSums = 3, kMaximum = -1;
  Double eps2;

  explicit Gravity(const double* param) : eps2(all(param[0])) {}
  static double scale(int) { return Root::scale(); }

  static void i_numbers(const Problem& p, std::int64_t k, double* out) {
    for (int c = 0; c < 3; ++c) out[c] = p.i[c][k];
  }
  static void j_numbers(const Problem& p, std::int64_t k, double* out) {
    for (int c = 0; c < 4; ++c) out[c] = p.j[c][k];
  }

  template <int R, typename Self>
  __attribute__((always_inline)) void add(const Double (&i)[kI][R], const Double (&j)[kJ], Double (&sum)[kSums][R],
                                          const Self&) const {
    Double x[R], y[R], z[R], w[R];
    for (int r = 0; r < R; ++r) x[r] = j[0] - i[0][r];
    for (int r = 0; r < R; ++r) y[r] = j[1] - i[1][r];
    for (int r = 0; r < R; ++r) z[r] = j[2] - i[2][r];
    for (int r = 0; r < R; ++r) w[r] = fma(z[r], z[r], eps2);
    for (int r = 0; r < R; ++r) w[r] = fma(y[r], y[r], w[r]);
    for (int r = 0; r < R; ++r) w[r] = fma(x[r], x[r], w[r]);
    for (int r = 0; r < R; ++r) w[r] = Root::inverse_cube(j[3], w[r]);
    for (int r = 0; r < R; ++r) sum[0][r] = fma(w[r], x[r], sum[0][r]);
    for (int r = 0; r < R; ++r) sum[1][r] = fma(w[r], y[r], sum[1][r]);
    for (int r = 0; r < R; ++r) sum[2][r] = fma(w[r], z[r], sum[2][r]);
  }
};

constexpr Kernel kShapes[] = {
    kernel<Gravity<Estimate>, 1, true>("gravity_acc", "estimate, 1 vector of i"),
    kernel<Gravity<Estimate>, 2, true>("gravity_acc", "estimate, 2 vectors of i"),
    kernel<Gravity<Estimate>, 1, false>("gravity_acc", "estimate, vector of j, 1 i"),
    kernel<Gravity<Estimate>, 2, false>("gravity_acc", "estimate, vector of j, 2 i"),
    kernel<Gravity<Exact>, 1, true>("gravity_acc", "sqrt and division, 1 vector of i"),
    kernel<Gravity<Exact>, 1, false>("gravity_acc", "sqrt and division, vector of j, 1 i"),
};

}  // namespace

Shapes gravity_double() { return {kShapes, int(sizeof kShapes / sizeof *kShapes)}; }

}  // namespace hand_written::NBCC_BENCH_ISA
