// Bitwise operators, unsigned and random numbers -> nodes. Part of lowering (lower.h). An unsigned number is an Int
// with the same bits. Clang's type says that it is unsigned; the few operations that differ are done in 64 bits.
#include <fmt/core.h>

#include <algorithm>

#include "clang/AST/ExprCXX.h"
#include "compiler/source/lower.h"
#include "compiler/source/vocabulary.h"

namespace nbcc::lowering {

namespace {

constexpr double kMaxUnsigned = 4294967295.0;  // 2^32 - 1

bool is_bit_operation(Op op) { return op >= Op::BitAnd && op <= Op::Shr; }

bool is_bool(const clang::Expr* expression) { return expression->IgnoreParenImpCasts()->getType()->isBooleanType(); }

}  // namespace

bool Lowering::is_unsigned(clang::QualType type) const {
  return type.getNonReferenceType().getCanonicalType().getUnqualifiedType() == context_.UnsignedIntTy;
}

// The value of an unsigned number as an Index.
Value Lowering::widened(Value value, clang::SourceLocation where) {
  for (NodeId& part : value.parts)
    part = binary(Op::BitAnd, cast(part, Type::Index, where), graph_->constant(kMaxUnsigned, Type::Index), where);
  value.shape.scalar = Type::Index;
  return value;
}

// An argument of a built-in function, or an array index: an unsigned number is converted to Index.
Value Lowering::evaluate_argument(const clang::Expr* expression) {
  Value value = evaluate(expression);
  const bool narrow = value.shape.is_scalar() && (*graph_)[value.parts[0]].type == Type::Int;
  if (!narrow || !is_unsigned(expression->IgnoreParenImpCasts()->getType())) return value;
  return widened(std::move(value), expression->getExprLoc());
}

// Conversion to unsigned: a real number is truncated and clamped to the range, an integer keeps its lowest 32 bits.
Value Lowering::become_unsigned(const Value& value, clang::SourceLocation where) {
  if (!value.shape.is_scalar()) throw Rejected{where, "only a single number becomes unsigned"};
  NodeId part = value.parts[0];
  if (is_floating((*graph_)[part].type))
    part = binary(Op::Min, binary(Op::Max, cast(part, Type::Index, where), graph_->constant(0, Type::Index), where),
                  graph_->constant(kMaxUnsigned, Type::Index), where);
  return {{Type::Int, 0, 1}, {cast(part, Type::Int, where)}};
}

Value Lowering::cast_as_written(const clang::ExplicitCastExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const clang::QualType from = expression->getSubExpr()->IgnoreParenImpCasts()->getType(),
                        to = expression->getTypeAsWritten();
  Value value = evaluate(expression->getSubExpr());
  if (llvm::isa<clang::CXXMemberCallExpr>(expression->getSubExpr()->IgnoreImplicit()) &&
      shape_of(to, where).scalar != Type::Real)
    throw Rejected{where, "a complex number cannot become a real one; write real(z), imag(z) or abs(z)"};
  if (is_unsigned(to)) return is_unsigned(from) ? value : become_unsigned(value, where);
  const Shape shape = shape_of(to, where);
  if (is_unsigned(from) && shape.scalar > Type::Int && (*graph_)[value.parts[0]].type == Type::Int)
    value = widened(std::move(value), where);
  return convert_as_asked(value, shape, where);
}

// `left sign right`; a and b are the values of left and right.
Value Lowering::combine(const std::string& sign, const clang::Expr* left, const Value& a, const clang::Expr* right,
                        const Value& b, clang::SourceLocation where) {
  const auto op = arithmetic_operation(sign);
  if (!op || (is_bit_operation(*op) && (is_bool(left) || is_bool(right))))
    throw Rejected{where, refused_operator(sign)};
  // If one operand is wider than 32 bits, or no integer, an unsigned operand is widened as well.
  const auto narrow = [&](const Value& value) { return (*graph_)[value.parts[0]].type <= Type::Int; };
  const bool of_left = is_unsigned(left->IgnoreParenImpCasts()->getType()) && narrow(a);
  const bool of_right = is_unsigned(right->IgnoreParenImpCasts()->getType()) && narrow(b);
  if (is_bit_operation(*op)) return bit_operation(*op, a, b, of_left, where);
  if (!of_left && !of_right) return arithmetic(*op, a, b, where);
  const bool both_narrow = narrow(a) && narrow(b);
  if (both_narrow && *op != Op::Div && *op != Op::Rem) return arithmetic(*op, a, b, where);
  const auto wide = [&](const Value& value) { return narrow(value) ? widened(value, where) : value; };
  const Value result =
      arithmetic(*op, both_narrow || of_left ? wide(a) : a, both_narrow || of_right ? wide(b) : b, where);
  return both_narrow ? convert(result, {Type::Int, 0, 1}, where) : result;
}

// The shift count is taken modulo the width of the left operand, and converted to its type.
Value Lowering::bit_operation(Op op, const Value& a, Value b, bool is_unsigned, clang::SourceLocation where) {
  const Type type = std::max((*graph_)[a.parts[0]].type, Type::Int);
  if (type > Type::Index || (*graph_)[b.parts[0]].type > Type::Index)
    throw Rejected{where, "bitwise operators need whole numbers"};
  if (op != Op::Shl && op != Op::Shr) return arithmetic(op, a, b, where);
  const NodeId count =
      binary(Op::BitAnd, cast(b.parts[0], type, where), graph_->constant(type == Type::Int ? 31 : 63, type), where);
  b = {{type, 0, 1}, {count}};
  if (op == Op::Shl || !is_unsigned) return arithmetic(op, {{type, 0, 1}, {cast(a.parts[0], type, where)}}, b, where);
  return convert(arithmetic(op, widened(a, where), b, where), {Type::Int, 0, 1}, where);
}

Value Lowering::complement(const clang::Expr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const Value value = evaluate(expression);
  if (is_bool(expression) || !value.shape.is_scalar() || (*graph_)[value.parts[0]].type > Type::Index)
    throw Rejected{where, refused_operator("~")};
  return arithmetic(Op::BitXor, value, {{Type::Int, 0, 1}, {graph_->constant(-1, Type::Int)}}, where);
}

// philox(a, b, c): 32 bits, as an index. random(a, b, c): these bits as a real number in the open interval (0, 1); the
// Min below excludes 1, which rounding could give.
Value Lowering::random(const clang::CallExpr* expression, const std::vector<Value>& arguments, bool real) {
  const clang::SourceLocation where = expression->getExprLoc();
  std::array<NodeId, 3> numbers{};
  for (unsigned k = 0; k < 3; ++k) {
    const NodeId part = arguments[k].parts[0];
    if ((*graph_)[part].type > Type::Index)
      throw Rejected{expression->getArg(k)->getExprLoc(),
                     "the counters of random numbers are whole numbers: write index(...)"};
    numbers[k] = cast(part, Type::Index, where);
  }
  const NodeId bits = make(Op::Philox, Type::Index, numbers, where);
  if (!real) return {{Type::Index, 0, 1}, {bits}};
  const auto number = [&](double x) { return graph_->constant(x, Type::Real); };
  const NodeId middle = binary(Op::Add, cast(bits, Type::Real, where), number(0.5), where);
  const NodeId below_one = binary(Op::Min, binary(Op::Mul, middle, number(0x1p-32), where), number(1 - 0x1p-24), where);
  return {{Type::Real, 0, 1}, {below_one}};
}

}  // namespace nbcc::lowering
