// Partial derivatives of operations: each function gets a node y = op(a, b, c) and returns dy/da (argument 0), dy/db or
// dy/dc. Entry points: namespace partials in ops.h, to which the table of operations points. If the derivative contains
// y, the node y is used, so that no function is computed twice.
#include <cmath>
#include <numbers>

#include "compiler/ir/ops.h"

namespace nbcc::partials {
namespace {

// A node and its builder, with overloaded operators.
struct Value {
  Arithmetic* with;
  NodeId id;
  operator NodeId() const { return id; }
};
Value number(Value like, double x) { return {like.with, like.with->number(x)}; }
Value make(Op op, Value a, Value b) { return {a.with, a.with->make(op, a, b)}; }
Value make(Op op, Value a) { return {a.with, a.with->make(op, a)}; }
Value operator+(Value a, Value b) { return make(Op::Add, a, b); }
Value operator-(Value a, Value b) { return make(Op::Sub, a, b); }
Value operator*(Value a, Value b) { return make(Op::Mul, a, b); }
Value operator/(Value a, Value b) { return make(Op::Div, a, b); }
Value operator-(Value a) { return make(Op::Neg, a); }
Value operator+(double a, Value b) { return number(b, a) + b; }
Value operator-(double a, Value b) { return number(b, a) - b; }
Value operator*(double a, Value b) { return number(b, a) * b; }
Value operator/(double a, Value b) { return number(b, a) / b; }
Value select(Value condition, Value yes, Value no) { return {yes.with, yes.with->select(condition, yes, no)}; }

// y and its arguments
struct Parts {
  Value y, a, b, c;
};
Parts parts(Arithmetic& with, const OpNodes& n) {
  return {{&with, n.y}, {&with, n.args[0]}, {&with, n.args[1]}, {&with, n.args[2]}};
}

Value sign(Value x) { return select(make(Op::Lt, x, number(x, 0)), number(x, -1), number(x, 1)); }

}  // namespace

NodeId none(Arithmetic&, const OpNodes&, int) { return kNone; }

NodeId neg(Arithmetic& with, const OpNodes&, int) { return with.number(-1); }

// At 0 the derivative is 1.
NodeId abs(Arithmetic& with, const OpNodes& nodes, int) { return sign(parts(with, nodes).a); }

NodeId sqrt(Arithmetic& with, const OpNodes& nodes, int) { return 0.5 / parts(with, nodes).y; }

NodeId rsqrt(Arithmetic& with, const OpNodes& nodes, int) {
  const auto [y, a, b, c] = parts(with, nodes);
  return -0.5 * y / a;
}

NodeId cbrt(Arithmetic& with, const OpNodes& nodes, int) {
  const auto [y, a, b, c] = parts(with, nodes);
  return (1.0 / 3.0) / (y * y);
}

NodeId exp(Arithmetic&, const OpNodes& nodes, int) { return nodes.y; }
NodeId exp2(Arithmetic& with, const OpNodes& nodes, int) { return std::numbers::ln2 * parts(with, nodes).y; }
NodeId log(Arithmetic& with, const OpNodes& nodes, int) { return 1.0 / parts(with, nodes).a; }
NodeId log2(Arithmetic& with, const OpNodes& nodes, int) { return std::numbers::log2e / parts(with, nodes).a; }
// Not y + 1: for large negative arguments y rounds to -1, and the sum to 0.
NodeId expm1(Arithmetic& with, const OpNodes& nodes, int) { return make(Op::Exp, parts(with, nodes).a); }
NodeId log1p(Arithmetic& with, const OpNodes& nodes, int) { return 1.0 / (1.0 + parts(with, nodes).a); }
NodeId log10(Arithmetic& with, const OpNodes& nodes, int) { return std::numbers::log10e / parts(with, nodes).a; }

NodeId sin(Arithmetic& with, const OpNodes& nodes, int) { return make(Op::Cos, parts(with, nodes).a); }
NodeId cos(Arithmetic& with, const OpNodes& nodes, int) { return -make(Op::Sin, parts(with, nodes).a); }
NodeId sinpi(Arithmetic& with, const OpNodes& nodes, int) {
  return std::numbers::pi * make(Op::CosPi, parts(with, nodes).a);
}
NodeId cospi(Arithmetic& with, const OpNodes& nodes, int) {
  return -std::numbers::pi * make(Op::SinPi, parts(with, nodes).a);
}

NodeId tan(Arithmetic& with, const OpNodes& nodes, int) {
  const Value y = parts(with, nodes).y;
  return 1.0 + y * y;
}

NodeId asin(Arithmetic& with, const OpNodes& nodes, int) {
  const Value a = parts(with, nodes).a;
  return make(Op::Rsqrt, (1.0 - a) * (1.0 + a));
}
NodeId acos(Arithmetic& with, const OpNodes& nodes, int) {
  const Value a = parts(with, nodes).a;
  return -make(Op::Rsqrt, (1.0 - a) * (1.0 + a));
}
NodeId atan(Arithmetic& with, const OpNodes& nodes, int) {
  const Value a = parts(with, nodes).a;
  return 1.0 / (1.0 + a * a);
}

NodeId sinh(Arithmetic& with, const OpNodes& nodes, int) { return make(Op::Cosh, parts(with, nodes).a); }
NodeId cosh(Arithmetic& with, const OpNodes& nodes, int) { return make(Op::Sinh, parts(with, nodes).a); }
// 1/cosh^2 as 4 q / (1 + q)^2 with q = exp(-2|a|). 1 - y^2 would be 0 for y near 1, and cosh overflows, so that the
// second derivative would be 0 times infinity.
NodeId tanh(Arithmetic& with, const OpNodes& nodes, int) {
  const Value q = make(Op::Exp, -2.0 * make(Op::Abs, parts(with, nodes).a)), sum = 1.0 + q;
  return 4.0 * q / sum / sum;
}
// Hypot, because the square of a large number overflows.
NodeId asinh(Arithmetic& with, const OpNodes& nodes, int) {
  const Value a = parts(with, nodes).a;
  return 1.0 / make(Op::Hypot, number(a, 1), a);
}
NodeId acosh(Arithmetic& with, const OpNodes& nodes, int) {
  const Value a = parts(with, nodes).a;
  return make(Op::Rsqrt, a - number(a, 1)) * make(Op::Rsqrt, a + number(a, 1));
}
NodeId atanh(Arithmetic& with, const OpNodes& nodes, int) {
  const Value a = parts(with, nodes).a;
  return 1.0 / ((1.0 - a) * (1.0 + a));
}

NodeId erf(Arithmetic& with, const OpNodes& nodes, int) {
  const Value a = parts(with, nodes).a;
  return 2 * std::numbers::inv_sqrtpi * make(Op::Exp, -(a * a));
}
NodeId erfc(Arithmetic& with, const OpNodes& nodes, int) {
  const Value a = parts(with, nodes).a;
  return -2 * std::numbers::inv_sqrtpi * make(Op::Exp, -(a * a));
}

namespace {
// J1(x) / x or I1(x) / x; the limit at 0 is 1/2.
Value first_over(Value first, Value x) { return select(make(Op::Eq, x, number(x, 0)), number(x, 0.5), first / x); }
}  // namespace

NodeId bessel_j0(Arithmetic& with, const OpNodes& nodes, int) { return -make(Op::BesselJ1, parts(with, nodes).a); }
NodeId bessel_j1(Arithmetic& with, const OpNodes& nodes, int) {
  const auto [y, a, b, c] = parts(with, nodes);
  return make(Op::BesselJ0, a) - first_over(y, a);
}
NodeId bessel_k0(Arithmetic& with, const OpNodes& nodes, int) { return -make(Op::BesselK1, parts(with, nodes).a); }
NodeId bessel_k1(Arithmetic& with, const OpNodes& nodes, int) {
  const auto [y, a, b, c] = parts(with, nodes);
  return -make(Op::BesselK0, a) - y / a;
}
NodeId bessel_i0(Arithmetic& with, const OpNodes& nodes, int) { return make(Op::BesselI1, parts(with, nodes).a); }
NodeId bessel_i1(Arithmetic& with, const OpNodes& nodes, int) {
  const auto [y, a, b, c] = parts(with, nodes);
  return make(Op::BesselI0, a) - first_over(y, a);
}

NodeId cast(Arithmetic& with, const OpNodes&, int) { return with.number(1); }

NodeId add(Arithmetic& with, const OpNodes&, int) { return with.number(1); }
NodeId sub(Arithmetic& with, const OpNodes&, int k) { return with.number(k == 0 ? 1 : -1); }
NodeId mul(Arithmetic&, const OpNodes& nodes, int k) { return nodes.args[k == 0 ? 1 : 0]; }

NodeId div(Arithmetic& with, const OpNodes& nodes, int k) {
  const auto [y, a, b, c] = parts(with, nodes);
  return k == 0 ? 1.0 / b : -y / b;
}

// The derivative with respect to the exponent is 0 if the power is 0, where log(a) may be infinite.
NodeId pow(Arithmetic& with, const OpNodes& nodes, int k) {
  const auto [y, a, b, c] = parts(with, nodes);
  if (k == 0) {  // x^0 is 1 at 0, too
    const Value zero = number(y, 0), slope = b * make(Op::Pow, a, b - number(b, 1));
    return select(make(Op::Eq, a, zero), select(make(Op::Eq, b, zero), zero, slope), slope);
  }
  return select(make(Op::Eq, y, number(y, 0)), number(y, 0), y * make(Op::Log, a));
}

NodeId atan2(Arithmetic& with, const OpNodes& nodes, int k) {
  const auto [y, a, b, c] = parts(with, nodes);
  const Value r = make(Op::Hypot, a, b);
  return (k == 0 ? b : -a) / r / r;
}

NodeId hypot(Arithmetic& with, const OpNodes& nodes, int k) {
  const auto [y, a, b, c] = parts(with, nodes);
  return (k == 0 ? a : b) / y;
}

NodeId fmod(Arithmetic& with, const OpNodes& nodes, int k) {
  const auto [y, a, b, c] = parts(with, nodes);
  return k == 0 ? number(y, 1) : -make(Op::Trunc, a / b);
}

NodeId copysign(Arithmetic& with, const OpNodes& nodes, int k) {
  const auto [y, a, b, c] = parts(with, nodes);
  if (k == 1) return kNone;
  const Value one = number(a, 1);
  return make(Op::CopySign, one, a) * make(Op::CopySign, one, b);
}

NodeId fma(Arithmetic& with, const OpNodes& nodes, int k) {
  const auto [y, a, b, c] = parts(with, nodes);
  return k == 0 ? b.id : k == 1 ? a.id : number(y, 1).id;
}

}  // namespace nbcc::partials
