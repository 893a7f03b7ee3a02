// Complex numbers -> nodes. Part of lowering (lower.h). Entry points: complex_arithmetic(), complex_function(). A
// complex number has two components of type Real. A part that is the constant 0, as in a real number or in 2.0i, takes
// no part in arithmetic: 2.0i * z costs two products, not four.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "compiler/source/lower.h"
#include "llvm/Support/Error.h"

namespace nbcc::lowering {

namespace {

constexpr Shape kComplex{.scalar = Type::Real, .length = 0, .width = 2, .columns = 0, .is_complex = true};

// Powers with whole exponents up to this are products. Others are computed from the modulus and the argument.
constexpr int kMaxProducts = 16;

}  // namespace

// Builds the nodes of complex numbers at one place of the text.
class ComplexNodes {
 public:
  ComplexNodes(Lowering& lowering, clang::SourceLocation where) : lowering_(lowering), where_(where) {}

  // A part that is kNone is 0.
  struct Complex {
    NodeId re = kNone, im = kNone;
    bool is_real() const { return im == kNone; }
    bool is_imaginary() const { return re == kNone; }
  };

  // 0 itself has a real part.
  Complex parts(const Value& value) const {
    const auto part = [&](std::size_t c) { return lowering_.cast(value.parts[c], Type::Real, where_); };
    if (!value.shape.is_complex) return {part(0), kNone};
    const Complex z{part(0), part(1)};
    if (is(z.im, 0)) return {z.re, kNone};
    return is(z.re, 0) ? Complex{kNone, z.im} : z;
  }
  Value value(Complex z) const { return {kComplex, {or_zero(z.re), or_zero(z.im)}}; }

  Complex sum(Complex a, Complex b) const { return {add(a.re, b.re), add(a.im, b.im)}; }
  Complex difference(Complex a, Complex b) const { return {subtract(a.re, b.re), subtract(a.im, b.im)}; }
  Complex product(Complex a, Complex b) const {
    return {subtract(multiply(a.re, b.re), multiply(a.im, b.im)), add(multiply(a.re, b.im), multiply(a.im, b.re))};
  }
  Complex quotient(Complex a, Complex b) const;
  Complex exponential(Complex z) const;
  Complex logarithm(Complex z) const;
  Complex root(Complex z) const;
  Complex power(Complex z, Complex exponent) const;
  Complex polar(NodeId modulus, NodeId argument) const {
    return {multiply(modulus, unary(Op::Cos, argument)), multiply(modulus, unary(Op::Sin, argument))};
  }
  NodeId modulus(Complex z) const {
    if (z.is_real() || z.is_imaginary()) return unary(Op::Abs, z.is_real() ? z.re : z.im);
    return binary(Op::Hypot, z.re, z.im);
  }
  NodeId norm(Complex z) const { return add(multiply(z.re, z.re), multiply(z.im, z.im)); }
  NodeId argument(Complex z) const { return binary(Op::Atan2, or_zero(z.im), or_zero(z.re)); }
  NodeId negative(NodeId x) const { return x == kNone ? kNone : unary(Op::Neg, x); }
  NodeId or_zero(NodeId x) const { return x == kNone ? number(0) : x; }

 private:
  NodeId number(double x) const { return lowering_.graph_->constant(x); }
  bool is(NodeId x, double value) const { return x != kNone && lowering_.graph_->is_constant(x, value); }
  NodeId unary(Op op, NodeId x) const { return lowering_.unary(op, x, where_); }
  NodeId binary(Op op, NodeId x, NodeId y) const { return lowering_.binary(op, x, y, where_); }
  NodeId select(NodeId condition, NodeId yes, NodeId no) const { return lowering_.select(condition, yes, no, where_); }
  NodeId add(NodeId x, NodeId y) const { return x == kNone ? y : y == kNone ? x : binary(Op::Add, x, y); }
  NodeId subtract(NodeId x, NodeId y) const {
    return x == kNone ? negative(y) : y == kNone ? x : binary(Op::Sub, x, y);
  }
  NodeId multiply(NodeId x, NodeId y) const { return x == kNone || y == kNone ? kNone : binary(Op::Mul, x, y); }
  NodeId divide(NodeId x, NodeId y) const { return x == kNone ? kNone : binary(Op::Div, x, y); }
  // True also if x is NaN, which then is the larger part.
  NodeId not_less(NodeId x, NodeId y) const { return unary(Op::Not, binary(Op::Lt, x, y)); }
  // smaller / larger; of zeros 0, and NaN if `smaller` is.
  NodeId ratio_of(NodeId smaller, NodeId larger) const {
    return select(binary(Op::Eq, larger, number(0)), smaller, binary(Op::Div, smaller, larger));
  }
  std::optional<int> whole_exponent(Complex exponent) const;

  Lowering& lowering_;
  clang::SourceLocation where_;
};

// Smith's algorithm (Comm. ACM 5 (1962) 435): no square of the divisor, which could overflow or vanish. With m, the
// part of b that is larger, and n, the other, |b|^2 / m is m + n (n / m). The Selects keep passes from making squares
// of the parts, as would scaling both parts.
ComplexNodes::Complex ComplexNodes::quotient(Complex a, Complex b) const {
  if (b.is_real()) return {divide(a.re, b.re), divide(a.im, b.re)};
  if (b.is_imaginary()) return {divide(a.im, b.im), negative(divide(a.re, b.im))};
  const NodeId re_is_larger = not_less(unary(Op::Abs, b.re), unary(Op::Abs, b.im));
  const NodeId larger = select(re_is_larger, b.re, b.im), smaller = select(re_is_larger, b.im, b.re);
  const NodeId ratio = ratio_of(smaller, larger);
  const NodeId divisor = binary(Op::Add, larger, binary(Op::Mul, smaller, ratio));
  // a times the conjugate of b / m, which is 1 - i ratio or ratio - i.
  const NodeId re = or_zero(a.re), im = or_zero(a.im);
  const NodeId first = select(re_is_larger, re, im), second = select(re_is_larger, im, re);
  const NodeId turned = binary(Op::Sub, second, binary(Op::Mul, first, ratio));
  return {binary(Op::Div, binary(Op::Add, first, binary(Op::Mul, second, ratio)), divisor),
          binary(Op::Div, select(re_is_larger, turned, negative(turned)), divisor)};
}

ComplexNodes::Complex ComplexNodes::exponential(Complex z) const {
  if (z.is_real()) return {unary(Op::Exp, z.re), kNone};
  if (z.is_imaginary()) return {unary(Op::Cos, z.im), unary(Op::Sin, z.im)};
  return polar(unary(Op::Exp, z.re), z.im);
}

// log|z| is log(m) + log(1 + (n/m)^2) / 2 with the larger part m and the smaller part n, for any |z|. Near |z| = 1 the
// two terms may cancel; the error then is small against the argument. Select, not Max and Min: where the parts are
// equal, the derivatives of m and n must be of different ones.
ComplexNodes::Complex ComplexNodes::logarithm(Complex z) const {
  if (z.is_real() || z.is_imaginary()) return {unary(Op::Log, modulus(z)), argument(z)};
  const NodeId re = unary(Op::Abs, z.re), im = unary(Op::Abs, z.im);
  const NodeId re_is_larger = not_less(re, im);
  const NodeId larger = select(re_is_larger, re, im), smaller = select(re_is_larger, im, re);
  const NodeId ratio = ratio_of(smaller, larger);
  const NodeId rest = unary(Op::Log1p, binary(Op::Mul, ratio, ratio));
  return {binary(Op::Add, unary(Op::Log, larger), binary(Op::Mul, number(0.5), rest)), argument(z)};
}

// The root whose real part is not negative. The imaginary parts of z and of the root have the same sign.
ComplexNodes::Complex ComplexNodes::root(Complex z) const {
  const NodeId re = or_zero(z.re), im = or_zero(z.im);
  const auto half = [&](NodeId x) { return binary(Op::Mul, number(0.5), x); };
  // The larger part of the root, without cancellation; the other part follows from it, as 2 * re * im is the im of z.
  const NodeId larger = unary(Op::Sqrt, binary(Op::Add, half(unary(Op::Abs, re)), half(modulus(z))));
  const NodeId other =
      select(binary(Op::Eq, larger, number(0)), number(0), binary(Op::Div, half(unary(Op::Abs, im)), larger));
  const NodeId in_right_half = binary(Op::Le, number(0), re);
  return {select(in_right_half, larger, other), binary(Op::CopySign, select(in_right_half, other, larger), im)};
}

std::optional<int> ComplexNodes::whole_exponent(Complex exponent) const {
  if (!exponent.is_real() || !lowering_.graph_->is_constant(exponent.re)) return std::nullopt;
  const double n = lowering_.graph_->constant_value(exponent.re);
  if (std::abs(n) > kMaxProducts || n != std::trunc(n)) return std::nullopt;
  return int(n);
}

ComplexNodes::Complex ComplexNodes::power(Complex z, Complex exponent) const {
  if (const std::optional<int> n = whole_exponent(exponent)) {
    Complex result{number(1), kNone}, square = z;
    for (int bits = std::abs(*n); bits > 0; bits /= 2) {
      if (bits % 2 == 1) result = product(result, square);
      if (bits > 1) square = product(square, square);
    }
    return *n < 0 ? quotient({number(1), kNone}, result) : result;
  }
  if (exponent.is_real())
    return polar(binary(Op::Pow, modulus(z), exponent.re), binary(Op::Mul, exponent.re, argument(z)));
  return exponential(product(exponent, logarithm(z)));
}

Value Lowering::complex_arithmetic(Op op, const Value& a, const Value& b, clang::SourceLocation where) {
  const ComplexNodes nodes(*this, where);
  const auto x = nodes.parts(a), y = nodes.parts(b);
  switch (op) {
    case Op::Add:
      return nodes.value(nodes.sum(x, y));
    case Op::Sub:
      return nodes.value(nodes.difference(x, y));
    case Op::Mul:
      return nodes.value(nodes.product(x, y));
    default:
      return nodes.value(nodes.quotient(x, y));
  }
}

// A built-in function with a complex argument.
Value Lowering::complex_function(const std::string& name, const std::vector<Value>& arguments,
                                 clang::SourceLocation where) {
  const ComplexNodes nodes(*this, where);
  if (name == "select") {
    Value result{kComplex, {}};
    for (std::size_t c = 0; c < 2; ++c)
      result.parts.push_back(
          select(cast(arguments[0].parts[0], Type::Bool, where), arguments[1].parts[c], arguments[2].parts[c], where));
    return result;
  }
  const auto z = nodes.parts(arguments[0]);
  const auto real = [](NodeId node) { return Value{{Type::Real, 0, 1}, {node}}; };
  if (name == "imag") return real(nodes.or_zero(z.im));
  if (name == "abs") return real(nodes.modulus(z));
  if (name == "norm") return real(nodes.norm(z));
  if (name == "arg") return real(nodes.argument(z));
  if (name == "conj") return nodes.value({z.re, nodes.negative(z.im)});
  if (name == "exp") return nodes.value(nodes.exponential(z));
  if (name == "log") return nodes.value(nodes.logarithm(z));
  if (name == "sqrt") return nodes.value(nodes.root(z));
  if (name == "pow") return nodes.value(nodes.power(z, nodes.parts(arguments[1])));
  throw Rejected{where, fmt::format("'{}' of a complex number is not in the language", name)};
}

// complex(re, im), and the conversions and copies that Clang inserts.
Value Lowering::complex_of(const clang::CXXConstructExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (expression->getNumArgs() == 0) throw Rejected{where, "complex() has no value; write complex(0)"};
  Value value = evaluate(expression->getArg(0));
  if (value.shape.is_complex) return value;
  value = {kComplex, {cast(value.parts[0], Type::Real, where), graph_->constant(0)}};
  if (expression->getNumArgs() > 1) value.parts[1] = cast(evaluate(expression->getArg(1)).parts[0], Type::Real, where);
  return value;
}

// 2.0i
Value Lowering::imaginary_literal(const clang::UserDefinedLiteral* literal) {
  const clang::SourceLocation where = literal->getExprLoc();
  const std::string text = text_of(literal).drop_back().str();
  // Clang has the number as a long double or an integer, which would be rounded twice.
  llvm::APFloat number(llvm::APFloat::IEEEdouble());
  auto status = number.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
  if (!status) throw Rejected{where, llvm::toString(status.takeError())};
  warn_of_range(number, text, where);
  const bool is_whole = text.find_first_not_of("0123456789") == std::string::npos;
  if (is_whole && (*status & llvm::APFloat::opInexact))
    report(Severity::Warning, where,
           fmt::format("{} is not kept exactly: beyond 2^53 a constant is the nearest double, here {:.0f}", text,
                       number.convertToDouble()));
  return {kComplex, {graph_->constant(0), graph_->constant(number.convertToDouble(), Type::Real, location(where))}};
}

// real(z), which to Clang is a conversion.
Value Lowering::converted(const clang::CXXMemberCallExpr* expression) {
  if (!llvm::isa<clang::CXXConversionDecl>(expression->getMethodDecl()))
    throw Rejected{expression->getExprLoc(), "member functions are not in the language"};
  const Value value = evaluate(expression->getImplicitObjectArgument());
  // An array gets its elements' type where the result is used.
  return value.shape.is_complex ? Value{{Type::Real, 0, 1}, {value.parts[0]}} : value;
}

// Converts a scalar that a statement adds to a complex output to a complex number; returns other values unchanged.
Value Lowering::as_complex(const Value& value, const Shape& wanted, clang::SourceLocation where) {
  if (!wanted.is_complex || value.shape.is_complex || value.shape.width != 1) return value;
  Value result{kComplex, {}};
  result.shape.length = value.shape.length;
  for (const NodeId part : value.parts) {
    result.parts.push_back(cast(part, Type::Real, where));
    result.parts.push_back(graph_->constant(0));
  }
  return result;
}

}  // namespace nbcc::lowering
