// Bessel functions by series and integrals. Entry points: the header. Not used in kernels.
#include "compiler/ir/bessel.h"

#include <math.h>  // j0 and j1 are POSIX functions, not C++

#include <algorithm>
#include <cmath>
#include <limits>

namespace nbcc {
namespace {

using Extended = long double;
constexpr Extended kNegligible = 1e-22L;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The sum over k of (x / 2)^(2 k + order) / (k! (k + order)!). All terms have one sign, so that none cancel.
double modified_first_kind(int order, double x) {
  constexpr double kOverflows = 720;
  if (std::fabs(x) > kOverflows) return order == 0 ? kInfinity : std::copysign(kInfinity, x);
  const Extended half = Extended(x) / 2;
  Extended term = order == 0 ? 1 : half, sum = term;
  for (int k = 1; std::fabs(term) > kNegligible * std::fabs(sum); ++k) {
    term *= half * half / (Extended(k) * Extended(k + order));
    sum += term;
  }
  return double(sum);
}

// The integral over t > 0 of exp(-x cosh t) cosh(order t), with the factor exp(-x) taken out, by the trapezoidal rule.
// The rule is accurate to all digits, because the integrand is analytic for |Im t| < pi / 2 and vanishes at both ends
// (as an even function of t): with step h its error is about exp(-pi^2 / h), and exp(-2 pi^2 / (x h^2)) where x is
// large.
double modified_second_kind(int order, double x) {
  if (!(x >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return kInfinity;
  if (x == kInfinity) return 0;
  const Extended step = std::min(0.1875L, 0.625L / std::sqrt(Extended(x)));
  // sinh and cosh of half of t = k step, by their addition theorem.
  const Extended step_sinh = std::sinh(step / 2), step_cosh = std::cosh(step / 2);
  Extended sinh = 0, cosh = 1, term = 0.5L, sum = term;
  while (term > kNegligible * sum) {
    const Extended previous = sinh;
    sinh = previous * step_cosh + cosh * step_sinh;
    cosh = cosh * step_cosh + previous * step_sinh;
    const Extended square = 2 * sinh * sinh;  // cosh t - 1
    term = std::exp(-Extended(x) * square) * (order == 0 ? 1 : 1 + square);
    sum += term;
  }
  return double(std::exp(-Extended(x)) * step * sum);
}

}  // namespace

double bessel_j0(double x) { return ::j0(x); }
double bessel_j1(double x) { return ::j1(x); }
double bessel_k0(double x) { return modified_second_kind(0, x); }
double bessel_k1(double x) { return modified_second_kind(1, x); }
double bessel_i0(double x) { return modified_first_kind(0, x); }
double bessel_i1(double x) { return modified_first_kind(1, x); }

}  // namespace nbcc
