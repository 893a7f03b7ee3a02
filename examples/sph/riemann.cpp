// Two states to the solution of Riemann's problem, by Newton's iteration for the pressure between the waves.
//
// The velocity behind a wave is a function of the pressure behind it: by the conditions of Rankine and Hugoniot for a
// shock, by the invariants of Riemann for a rarefaction. At the right pressure both sides have one velocity. See
// E. F. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, 3rd edition (2009), chapter 4. The entry point
// is Riemann. Vacuum is refused.
#include "examples/sph/riemann.h"

#include <cmath>

#include "examples/support/failure.h"

namespace examples {
namespace {

double sound(const GasState& s, double gamma) { return std::sqrt(gamma * s.p / s.rho); }

// How much a wave to pressure p changes the velocity, and the derivative of that.
struct Jump {
  double velocity, slope;
};

Jump jump(const GasState& s, double p, double gamma) {
  if (p > s.p) {
    const double a = 2 / ((gamma + 1) * s.rho), b = (gamma - 1) / (gamma + 1) * s.p, root = std::sqrt(a / (p + b));
    return {(p - s.p) * root, root * (1 - (p - s.p) / (2 * (p + b)))};
  }
  const double c = sound(s, gamma), power = (gamma - 1) / (2 * gamma), ratio = p / s.p;
  return {2 * c / (gamma - 1) * (std::pow(ratio, power) - 1), std::pow(ratio, power - 1) / (gamma * s.p) * c};
}

double pressure_between(const GasState& left, const GasState& right, double gamma) {
  // Both jumps rise with p and bend down: from a pressure that is too low, Newton's iteration rises to the root. That
  // between two rarefactions is a closed form, and never too low; a step from there may lead below 0.
  const double power = (gamma - 1) / (2 * gamma), cl = sound(left, gamma), cr = sound(right, gamma);
  const double parting = right.v - left.v;
  double p =
      std::pow((cl + cr - (gamma - 1) / 2 * parting) / (cl / std::pow(left.p, power) + cr / std::pow(right.p, power)),
               1 / power);
  for (int round = 0; round < 200; ++round) {
    const Jump l = jump(left, p, gamma), r = jump(right, p, gamma);
    const double next = std::fmax(p - (l.velocity + r.velocity + parting) / (l.slope + r.slope), p / 100);
    const double change = std::fabs(next - p);
    p = next;
    if (change <= 1e-15 * p) break;
  }
  return p;
}

// `side` is -1 for the wave that goes left, 1 for the other.
Riemann::Wave wave(const GasState& ahead, double p, double v, double gamma, double side) {
  const double c = sound(ahead, gamma), ratio = p / ahead.p, share = (gamma - 1) / (gamma + 1);
  Riemann::Wave w;
  w.is_shock = ratio > 1;
  if (w.is_shock) {
    w.rho = ahead.rho * (ratio + share) / (share * ratio + 1);
    w.head = w.tail = ahead.v + side * c * std::sqrt((gamma + 1) / (2 * gamma) * ratio + (gamma - 1) / (2 * gamma));
  } else {
    w.rho = ahead.rho * std::pow(ratio, 1 / gamma);
    w.head = ahead.v + side * c;
    w.tail = v + side * c * std::pow(ratio, (gamma - 1) / (2 * gamma));
  }
  return w;
}

}  // namespace

Riemann::Riemann(const GasState& left, const GasState& right, double gamma)
    : ahead_left_(left), ahead_right_(right), gamma_(gamma) {
  if (!(gamma > 1)) throw UsageError("gamma must be more than 1");
  for (const GasState* s : {&left, &right})
    if (!(s->rho > 0 && s->p > 0)) throw UsageError("density and pressure must be more than 0");
  if (right.v - left.v >= 2 / (gamma - 1) * (sound(left, gamma) + sound(right, gamma)))
    throw UsageError("the states part so fast that a vacuum opens between them");
  p_ = pressure_between(left, right, gamma);
  v_ = (left.v + right.v + jump(right, p_, gamma).velocity - jump(left, p_, gamma).velocity) / 2;
  left_ = wave(left, p_, v_, gamma, -1);
  right_ = wave(right, p_, v_, gamma, 1);
}

GasState Riemann::at(double x_over_t) const {
  return x_over_t < v_ ? behind(ahead_left_, left_, -1, x_over_t) : behind(ahead_right_, right_, 1, x_over_t);
}

GasState Riemann::behind(const GasState& ahead, const Wave& wave, double side, double s) const {
  if (side * (s - wave.head) >= 0) return ahead;
  if (side * (s - wave.tail) <= 0) return {wave.rho, v_, p_};
  // In the fan one family of characteristics is straight: v + side c = s, and c - side (gamma - 1)/2 v is what it is
  // ahead.
  const double c0 = sound(ahead, gamma_), share = (gamma_ - 1) / (gamma_ + 1);
  const double c = 2 / (gamma_ + 1) * c0 + share * side * (s - ahead.v);
  const double ratio = std::pow(c / c0, 2 / (gamma_ - 1));
  return {ahead.rho * ratio, s - side * c, ahead.p * std::pow(ratio, gamma_)};
}

}  // namespace examples
