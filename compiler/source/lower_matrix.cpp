// Operations on matrices, and component by component on vectors -> nodes. Part of lowering (lower.h). A matrix is an
// array of rows.
#include <fmt/core.h>

#include "compiler/source/lower.h"
#include "compiler/source/vocabulary.h"

namespace nbcc::lowering {

namespace {

std::vector<NodeId> row(const Value& m, int k) {
  const auto first = m.parts.begin() + k * m.shape.width;
  return {first, first + m.shape.width};
}

std::vector<NodeId> column(const Value& m, int k) {
  std::vector<NodeId> parts;
  for (int r = 0; r < m.shape.length; ++r) parts.push_back(m.parts[std::size_t(r * m.shape.width + k)]);
  return parts;
}

Shape square(int n) { return {.scalar = Type::Real, .length = n, .width = n, .columns = 0, .is_matrix = true}; }

}  // namespace

NodeId Lowering::dot(const std::vector<NodeId>& a, const std::vector<NodeId>& b, clang::SourceLocation where) {
  NodeId sum = kNone;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const NodeId product = binary(Op::Mul, a[k], b[k], where);
    sum = sum == kNone ? product : binary(Op::Add, sum, product, where);
  }
  return sum;
}

// a and b have the same shape, or one of them is a number.
Value Lowering::component_wise(Op op, const Value& a, const Value& b, clang::SourceLocation where) {
  Value result = a.shape.is_scalar() ? b : a;
  for (std::size_t c = 0; c < result.parts.size(); ++c) {
    const auto part = [&](const Value& v) { return cast(v.part(int(c)), Type::Real, where); };
    result.parts[c] = binary(op, part(a), part(b), where);
  }
  return result;
}

// Comparison operators on vectors, and logical operators on the bool vectors that these give.
Value Lowering::compared(clang::OverloadedOperatorKind sign, const Value& a, const Value& b,
                         clang::SourceLocation where) {
  const auto of = [&](NodeId x, NodeId y) {
    switch (sign) {
      case clang::OO_AmpAmp:
        return binary(Op::And, x, y, where);
      case clang::OO_PipePipe:
        return binary(Op::Or, x, y, where);
      case clang::OO_Less:
        return binary(Op::Lt, x, y, where);
      case clang::OO_LessEqual:
        return binary(Op::Le, x, y, where);
      case clang::OO_Greater:
        return binary(Op::Lt, y, x, where);
      case clang::OO_GreaterEqual:
        return binary(Op::Le, y, x, where);
      case clang::OO_EqualEqual:
        return binary(Op::Eq, x, y, where);
      case clang::OO_ExclaimEqual:
        return unary(Op::Not, binary(Op::Eq, x, y, where), where);
      default:
        throw Rejected{where, refused_operator(clang::getOperatorSpelling(sign))};
    }
  };
  Value result{a.shape.is_scalar() ? b.shape : a.shape, {}};
  result.shape.scalar = Type::Bool;
  for (int c = 0; c < result.shape.components(); ++c) result.parts.push_back(of(a.part(c), b.part(c)));
  return result;
}

// mat3(a, b, c) from rows, mat3(s) with s on the diagonal, and copies.
Value Lowering::matrix_of(const clang::CXXConstructExpr* expression, Shape shape) {
  const clang::SourceLocation where = expression->getExprLoc();
  const unsigned count = expression->getNumArgs();
  if (count == 0) throw Rejected{where, fmt::format("mat{0}() has no value; write mat{0}(0)", shape.length)};
  const Value first = evaluate(expression->getArg(0));
  if (count == 1 && first.shape.is_matrix) return first;
  Value result{shape, {}};
  for (int r = 0; r < shape.length; ++r) {
    if (count == 1) {
      for (int c = 0; c < shape.width; ++c)
        result.parts.push_back(r == c ? cast(first.parts[0], Type::Real, where) : graph_->constant(0));
      continue;
    }
    const Value of_row = r == 0 ? first : evaluate(expression->getArg(unsigned(r)));
    result.parts.insert(result.parts.end(), of_row.parts.begin(), of_row.parts.end());
  }
  return result;
}

Value Lowering::matrix_arithmetic(Op op, const Value& a, const Value& b, clang::SourceLocation where) {
  if (op != Op::Mul || a.shape.is_scalar() || b.shape.is_scalar()) return component_wise(op, a, b, where);
  const int n = a.shape.width;
  Value result{a.shape.is_matrix && b.shape.is_matrix ? square(n) : Shape{Type::Real, 0, n}, {}};
  if (!a.shape.is_matrix) {
    for (int c = 0; c < n; ++c) result.parts.push_back(dot(a.parts, column(b, c), where));
    return result;
  }
  for (int r = 0; r < n; ++r) {
    if (!b.shape.is_matrix) {
      result.parts.push_back(dot(row(a, r), b.parts, where));
      continue;
    }
    for (int c = 0; c < n; ++c) result.parts.push_back(dot(row(a, r), column(b, c), where));
  }
  return result;
}

Value Lowering::matrix_function(const std::string& name, const std::vector<Value>& arguments,
                                clang::SourceLocation where) {
  const Value& m = arguments[0];
  const int n = m.shape.width;
  const auto scalar = [](Type type, NodeId node) { return Value{{type, 0, 1}, {node}}; };
  if (name == "any" || name == "all") {
    NodeId truth = m.parts[0];
    for (std::size_t c = 1; c < m.parts.size(); ++c)
      truth = binary(name == "any" ? Op::Or : Op::And, truth, m.parts[c], where);
    return scalar(Type::Bool, truth);
  }
  Value result{square(n), {}};
  if (name == "outer") {
    for (const NodeId a : m.parts)
      for (const NodeId b : arguments[1].parts) result.parts.push_back(binary(Op::Mul, a, b, where));
    return result;
  }
  if (name == "transpose") {
    for (int c = 0; c < n; ++c)
      for (const NodeId part : column(m, c)) result.parts.push_back(part);
    return result;
  }
  const auto at = [&](int r, int c) { return m.parts[std::size_t(r * n + c)]; };
  if (name == "trace") {
    NodeId sum = at(0, 0);
    for (int k = 1; k < n; ++k) sum = binary(Op::Add, sum, at(k, k), where);
    return scalar(Type::Real, sum);
  }
  const auto minor = [&](int r, int s, int c, int d) {
    return binary(Op::Sub, binary(Op::Mul, at(r, c), at(s, d), where), binary(Op::Mul, at(r, d), at(s, c), where),
                  where);
  };
  if (n == 2) return scalar(Type::Real, minor(0, 1, 0, 1));
  return scalar(Type::Real, dot(row(m, 0), {minor(1, 2, 1, 2), minor(1, 2, 2, 0), minor(1, 2, 0, 1)}, where));
}

}  // namespace nbcc::lowering
