// pipelines/lennard_jones.pipe in single precision, by hand. Entry point: lennard_jones().
//
// Most vectors hold no pair within the cutoff and leave after the comparison; so the test for a particle that meets
// itself stands behind it, where it is rare: its distance is 0, within any cutoff.
#include "bench/hand_written/sum.h"

namespace hand_written::NBCC_BENCH_ISA {
namespace {

struct LennardJones {
  using Vector = Float;
  static constexpr int kI = 3, kJ = 3, kSums = 5, kMaximum = -1;
  double eps;
  Float box[3], per_box[3], sigma2, cutoff2, shift;

  // In the order of the pipeline: sigma, eps, rc, shift, box.
  explicit LennardJones(const double* param) : eps(param[1]) {
    const double sc2 = param[0] * param[0] / (param[2] * param[2]), sc6 = sc2 * sc2 * sc2;
    for (int c = 0; c < 3; ++c) box[c] = all(float(param[4 + c]));
    for (int c = 0; c < 3; ++c) per_box[c] = all(float(1 / param[4 + c]));
    sigma2 = all(float(param[0] * param[0]));
    cutoff2 = all(float(param[2] * param[2]));
    shift = all(float(param[3] * sc6 * (sc6 - 1)));
  }
  double scale(int k) const { return eps * (k < 3 ? -24 : k == 3 ? 2 : 12); }

  static void i_numbers(const Problem& p, std::int64_t k, double* out) {
    for (int c = 0; c < 3; ++c) out[c] = p.i[c][k];
  }
  static void j_numbers(const Problem& p, std::int64_t k, double* out) {
    for (int c = 0; c < 3; ++c) out[c] = p.j[c][k];
  }

  template <int R, typename Self>
  __attribute__((always_inline)) void add(const Float (&i)[kI][R], const Float (&j)[kJ], Float (&sum)[kSums][R],
                                          const Self& self) const {
    for (int r = 0; r < R; ++r) {
      Float d[3];
      for (int c = 0; c < 3; ++c) d[c] = j[c] - i[c][r];
      for (int c = 0; c < 3; ++c) d[c] = fnma(box[c], nearest_whole(d[c] * per_box[c]), d[c]);
      const Float r2 = fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2]));
      const Mask inside = less(r2, cutoff2);
      if (__builtin_expect(!any(inside), 1)) continue;
      const Mask live = without(inside, self(r));
      const Float per_r2 = keep(live, reciprocal(r2)), s2 = sigma2 * per_r2, s6 = s2 * s2 * s2;
      const Float w = s6 * fma(all(2.0f), s6, all(-1.0f)), f = w * per_r2;
      for (int c = 0; c < 3; ++c) sum[c][r] = fma(f, d[c], sum[c][r]);
      sum[3][r] = sum[3][r] + keep(live, fma(s6, s6, all(0.0f) - s6) - shift);
      sum[4][r] = sum[4][r] + w;
    }
  }
};

constexpr Kernel kShapes[] = {
    kernel<LennardJones, 1, true>("lennard_jones", "1 vector of i"),
    kernel<LennardJones, 1, false>("lennard_jones", "vector of j, 1 i"),
    kernel<LennardJones, 2, false>("lennard_jones", "vector of j, 2 i"),
};

}  // namespace

Shapes lennard_jones() { return {kShapes, int(sizeof kShapes / sizeof *kShapes)}; }

}  // namespace hand_written::NBCC_BENCH_ISA
