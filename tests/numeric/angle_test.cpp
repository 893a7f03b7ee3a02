// angle(u, v) in kernels of every instruction set and of CUDA, in every precision and both kinds of mathematics,
// against long double: of vectors of 2 to 4 components, parallel and nearly parallel ones among them, and of lengths in
// metres between atoms and between planets; and its gradient.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_text_run.h"

namespace nbcc::test {
namespace {

using Real = long double;
using Vector = std::vector<double>;

// Kahan's formula in long double.
Real exact_angle(const Vector& u, const Vector& v) {
  Real uu = 0, vv = 0, apart = 0, together = 0;
  for (std::size_t k = 0; k < u.size(); ++k) {
    uu += Real(u[k]) * u[k];
    vv += Real(v[k]) * v[k];
  }
  for (std::size_t k = 0; k < u.size(); ++k) {
    const Real a = u[k] / std::sqrt(uu), b = v[k] / std::sqrt(vv);
    apart += (a - b) * (a - b);
    together += (a + b) * (a + b);
  }
  return 2 * std::atan2(std::sqrt(apart), std::sqrt(together));
}

// Sums over one j, whose input is 1: what depends on i alone would be computed in double precision. The length of the
// gradient times that of the vector is 1.
std::string text_of(int width) {
  return fmt::format(
      "input_i vec{0} ui; input_i vec{0} vi; input_j real one; output(sum) real a; output(sum) real slope;\n"
      "vec{0} u = one * ui; vec{0} v = one * vi; real t = angle(u, v);\n"
      "a += t; slope += length(grad(t, u)) * length(u);\n",
      width);
}

struct Cases {
  OracleInput input;
  std::vector<Real> angles;
  std::vector<bool> parallel;
};

Cases cases(int width) {
  Cases all;
  all.input.nj = 1;
  all.input.j = {{1}};
  all.input.i.resize(std::size_t(2 * width));
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 600; ++k) {
    const double size = k % 3 == 0 ? 1 : k % 3 == 1 ? 1e-10 : 1e11;
    // A third is parallel, a third nearly so, in the same direction and in the opposite.
    const double part = k % 9 < 3 ? 0 : k % 9 < 6 ? 1e-2 : 1, sign = k % 2 == 0 ? 1 : -1;
    Vector u, v;
    for (int c = 0; c < width; ++c) {
      u.push_back(double(float(size * normal(random))));
      // A power of 2 keeps exactly parallel vectors parallel.
      v.push_back(double(float(sign * 0.5 * u.back() + part * size * normal(random))));
      all.input.i[std::size_t(c)].push_back(u.back());
      all.input.i[std::size_t(width + c)].push_back(v.back());
    }
    all.angles.push_back(exact_angle(u, v));
    all.parallel.push_back(part == 0);
  }
  all.input.ni = std::int64_t(all.angles.size());
  return all;
}

// The directions of u and v are right to a few roundings, and so is the angle. Beside parallel vectors the direction of
// the gradient is as uncertain as that of the difference of the unit vectors, and its length with it.
void expect_right(const Columns& got, const Cases& all, double epsilon, const std::string& what) {
  for (std::size_t k = 0; k < all.angles.size(); ++k) {
    EXPECT_NEAR(got[0][k], double(all.angles[k]), 8 * epsilon) << what << ", case " << k;
    const double off = std::min(std::fabs(std::sin(double(all.angles[k]))), 1.0);
    ASSERT_TRUE(std::isfinite(got[1][k])) << what << ", case " << k;
    if (all.parallel[k]) continue;
    EXPECT_NEAR(got[1][k], 1, 16 * epsilon / off) << what << ", case " << k << ", angle " << double(all.angles[k]);
  }
}

TEST(Angle, IsRightOnEveryInstructionSet) {
  for (int width = 2; width <= 4; ++width) {
    const Cases all = cases(width);
    const Pipeline pipeline = parse({"angle.pipe", text_of(width)});
    for (const Isa isa : runnable_isas())
      for (const Options& options : {Options{Precision::Single, Math::Fast}, Options{Precision::Single, Math::Precise},
                                     Options{Precision::Mixed, Math::Fast}, Options{Precision::Double, Math::Fast}}) {
        const double epsilon = options.precision == Precision::Double ? 0x1p-52 : 0x1p-23;
        expect_right(CpuRun(pipeline, options, isa)(all.input), all, epsilon,
                     fmt::format("vec{}, {}", width, describe(options, isa)));
      }
  }
}

TEST(AngleShim, IsRightInCudaKernels) {
  const Cases all = cases(3);
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    CudaShim shim;
    const Options options{precision};
    const Pipeline optimized = optimize(parse({"angle.pipe", text_of(3)}), options, cuda_target());
    CudaTextRun run(shim, emit_cuda(optimized, options), {.threads = 8, .i_per_thread = 2, .j_tile = 16, .unroll = 2});
    expect_right(run(all.input), all, precision == Precision::Double ? 0x1p-52 : 0x1p-23,
                 std::string("cuda, ") + std::string(name(precision)));
  }
}

}  // namespace
}  // namespace nbcc::test
