// One operation over columns of doubles, by evaluate(). The switch over the operation stands outside the loop over
// the columns, since the interpreter's time is spent here. It knows no graph.
#include "compiler/ir/evaluate.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace nbcc {
namespace {

bool is_integral(Type type) { return type == Type::Int || type == Type::Index; }

std::int64_t to_index(double x) {
  constexpr double limit = 9223372036854775808.0;
  if (std::isnan(x)) return 0;
  if (x >= limit) return std::numeric_limits<std::int64_t>::max();
  if (x < -limit) return std::numeric_limits<std::int64_t>::min();
  return std::int64_t(x);
}

double wrap(std::uint64_t bits, Type type) {
  return type == Type::Int ? double(std::int32_t(std::uint32_t(bits))) : double(std::int64_t(bits));
}

double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// Of the exact product pi*x: the argument is reduced before it is multiplied.
double sine_of_pi_times(double x) {
  double r = std::remainder(x, 2.0);
  if (std::fabs(r) > 0.5) r = std::copysign(1.0, r) - r;
  return std::sin(std::numbers::pi * r);
}

double cosine_of_pi_times(double x) {
  const double r = std::fabs(std::remainder(x, 2.0));
  if (r <= 0.25) return std::cos(std::numbers::pi * r);
  if (r <= 0.75) return std::sin(std::numbers::pi * (0.5 - r));
  return -std::cos(std::numbers::pi * (1.0 - r));
}

double convert(double x, Type to, Type from) {
  if (to == Type::Bool) return x != 0;
  if (!is_integral(to)) return x;
  if (from == Type::Index) return wrap(std::uint64_t(to_index(x)), to);
  const std::int64_t whole = to_index(x);
  if (to == Type::Index) return double(whole);
  constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  return double(whole < lowest ? lowest : whole > highest ? highest : whole);
}

double quotient(std::int64_t a, std::int64_t b, Type type) {
  if (b == 0) return 0;
  if (b == -1) return wrap(0 - std::uint64_t(a), type);
  const std::int64_t whole = a / b;
  return double(whole);
}

double remainder_of(std::int64_t a, std::int64_t b) { return b == 0 || b == -1 ? 0 : double(a % b); }

// Operations whose arguments and result are int or index, and which differ there from those on doubles.
// Returns false for the others.
bool evaluate_integers(Op op, Type type, const std::array<const double*, 3>& args, double* out, int count) {
  const auto each = [&](auto rule) {
    for (int k = 0; k < count; ++k) {
      out[k] = rule(to_index(args[0][k]), arity(op) > 1 ? to_index(args[1][k]) : 0);
    }
    return true;
  };
  using Whole = std::int64_t;
  const auto bits = [](Whole x) { return std::uint64_t(x); };
  switch (op) {
    case Op::Neg:
      return each([=](Whole a, Whole) { return wrap(0 - bits(a), type); });
    case Op::Abs:
      return each([=](Whole a, Whole) { return wrap(a < 0 ? 0 - bits(a) : bits(a), type); });
    case Op::Add:
      return each([=](Whole a, Whole b) { return wrap(bits(a) + bits(b), type); });
    case Op::Sub:
      return each([=](Whole a, Whole b) { return wrap(bits(a) - bits(b), type); });
    case Op::Mul:
      return each([=](Whole a, Whole b) { return wrap(bits(a) * bits(b), type); });
    case Op::Div:
      return each([=](Whole a, Whole b) { return quotient(a, b, type); });
    case Op::Rem:
      return each([=](Whole a, Whole b) { return remainder_of(a, b); });
    default:
      return false;
  }
}

// A table of functions of one double, in a switch so that each loop is over a known function.
template <class Each>
void evaluate_unary(Op op, const Each& each) {
  switch (op) {
    case Op::Neg:
      return each([](double a) { return -a; });
    case Op::Abs:
      return each([](double a) { return std::fabs(a); });
    case Op::Sqrt:
      return each([](double a) { return std::sqrt(a); });
    case Op::Rsqrt:
    case Op::RsqrtEstimate:
      return each([](double a) { return 1.0 / std::sqrt(a); });
    case Op::Cbrt:
      return each([](double a) { return std::cbrt(a); });
    case Op::Exp:
      return each([](double a) { return std::exp(a); });
    case Op::Exp2:
      return each([](double a) { return std::exp2(a); });
    case Op::Log:
      return each([](double a) { return std::log(a); });
    case Op::Log2:
      return each([](double a) { return std::log2(a); });
    case Op::Sin:
      return each([](double a) { return std::sin(a); });
    case Op::Cos:
      return each([](double a) { return std::cos(a); });
    case Op::SinPi:
      return each(sine_of_pi_times);
    case Op::CosPi:
      return each(cosine_of_pi_times);
    case Op::Tan:
      return each([](double a) { return std::tan(a); });
    case Op::Asin:
      return each([](double a) { return std::asin(a); });
    case Op::Acos:
      return each([](double a) { return std::acos(a); });
    case Op::Atan:
      return each([](double a) { return std::atan(a); });
    case Op::Sinh:
      return each([](double a) { return std::sinh(a); });
    case Op::Cosh:
      return each([](double a) { return std::cosh(a); });
    case Op::Tanh:
      return each([](double a) { return std::tanh(a); });
    case Op::Erf:
      return each([](double a) { return std::erf(a); });
    case Op::Erfc:
      return each([](double a) { return std::erfc(a); });
    case Op::Floor:
      return each([](double a) { return std::floor(a); });
    case Op::Ceil:
      return each([](double a) { return std::ceil(a); });
    case Op::Round:
      return each([](double a) { return std::round(a); });
    case Op::Rint:
      return each([](double a) { return std::nearbyint(a); });
    case Op::Trunc:
      return each([](double a) { return std::trunc(a); });
    case Op::Not:
      return each([](double a) { return double(a == 0); });
    default:
      return;
  }
}

template <class Each>
void evaluate_binary(Op op, const Each& each) {
  switch (op) {
    case Op::Add:
      return each([](double a, double b) { return a + b; });
    case Op::Sub:
      return each([](double a, double b) { return a - b; });
    case Op::Mul:
      return each([](double a, double b) { return a * b; });
    case Op::Div:
      return each([](double a, double b) { return a / b; });
    case Op::Min:
      return each(smaller);
    case Op::Max:
      return each(larger);
    case Op::Pow:
      return each([](double a, double b) { return std::pow(a, b); });
    case Op::Atan2:
      return each([](double a, double b) { return std::atan2(a, b); });
    case Op::CopySign:
      return each([](double a, double b) { return std::copysign(a, b); });
    case Op::And:
      return each([](double a, double b) { return double(a != 0 && b != 0); });
    case Op::Or:
      return each([](double a, double b) { return double(a != 0 || b != 0); });
    case Op::Lt:
      return each([](double a, double b) { return double(a < b); });
    case Op::Le:
      return each([](double a, double b) { return double(a <= b); });
    case Op::Eq:
      return each([](double a, double b) { return double(a == b); });
    default:
      return;
  }
}

}  // namespace

void evaluate(Op op, Type type, Type argument, const std::array<const double*, 3>& args, double* out, int count) {
  if (op == Op::Cast) {
    for (int k = 0; k < count; ++k) out[k] = convert(args[0][k], type, argument);
  } else if (op == Op::Fma) {
    for (int k = 0; k < count; ++k) out[k] = std::fma(args[0][k], args[1][k], args[2][k]);
  } else if (op == Op::Select) {
    for (int k = 0; k < count; ++k) out[k] = args[0][k] != 0 ? args[1][k] : args[2][k];
  } else if (is_integral(type) && evaluate_integers(op, type, args, out, count)) {
    return;
  } else if (arity(op) == 1) {
    evaluate_unary(op, [&](auto rule) {
      for (int k = 0; k < count; ++k) out[k] = rule(args[0][k]);
    });
  } else {
    evaluate_binary(op, [&](auto rule) {
      for (int k = 0; k < count; ++k) out[k] = rule(args[0][k], args[1][k]);
    });
  }
}

}  // namespace nbcc
