// Expressions -> Values. Part of lowering (lower.h). Entry point: evaluate(). Variables, elements and components are in
// lower_lvalue.cpp. Clang has checked the types. Its implicit numeric conversions are ignored, because to Clang `real`
// is float; lowering converts operands to the larger of their types (ir.h).
#include <fmt/core.h>

#include <algorithm>

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "compiler/passes/passes.h"
#include "compiler/source/lower.h"
#include "compiler/source/vocabulary.h"

namespace nbcc::lowering {

namespace {
// Far more expressions than a pipeline has; evaluating this many takes well below a second.
constexpr int kMaxExpressions = 1'000'000;
}  // namespace

bool is_part_of_variable(const clang::Expr* expression) {
  expression = expression->IgnoreParenImpCasts();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) return is_part_of_variable(member->getBase());
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression))
    return call->getOperator() == clang::OO_Subscript && is_part_of_variable(call->getArg(0));
  return llvm::isa<clang::DeclRefExpr, clang::ArraySubscriptExpr>(expression);
}
std::optional<Op> arithmetic_operation(llvm::StringRef sign) {
  static const std::map<llvm::StringRef, Op> operations{
      {"+", Op::Add},    {"-", Op::Sub},   {"*", Op::Mul},    {"/", Op::Div},  {"%", Op::Rem},
      {"&", Op::BitAnd}, {"|", Op::BitOr}, {"^", Op::BitXor}, {"<<", Op::Shl}, {">>", Op::Shr}};
  const auto found = operations.find(sign.size() > 1 && sign.ends_with("=") ? sign.drop_back() : sign);
  return found == operations.end() ? std::nullopt : std::optional(found->second);
}

NodeId Lowering::make(Op op, Type type, std::array<NodeId, 3> args, clang::SourceLocation where) {
  Node node;
  node.op = op;
  node.type = type;
  node.args = args;
  node.where = location(where);
  return fold_node(*graph_, node, args);
}

NodeId Lowering::unary(Op op, NodeId a, clang::SourceLocation where) {
  return make(op, op == Op::Not ? Type::Bool : (*graph_)[a].type, {a, kNone, kNone}, where);
}

NodeId Lowering::binary(Op op, NodeId a, NodeId b, clang::SourceLocation where) {
  const bool logic = op == Op::And || op == Op::Or;
  Type type = logic ? Type::Bool : std::max((*graph_)[a].type, (*graph_)[b].type);
  const bool comparison = op == Op::Lt || op == Op::Le || op == Op::Eq;
  if (!logic && !comparison) type = std::max(type, Type::Int);
  if (!logic) {
    a = cast(a, type, where);
    b = cast(b, type, where);
  }
  return make(op, comparison ? Type::Bool : type, {a, b, kNone}, where);
}

NodeId Lowering::select(NodeId condition, NodeId yes, NodeId no, clang::SourceLocation where) {
  const Type type = std::max((*graph_)[yes].type, (*graph_)[no].type);
  return make(Op::Select, type, {condition, cast(yes, type, where), cast(no, type, where)}, where);
}

NodeId Lowering::cast(NodeId a, Type type, clang::SourceLocation where) {
  const Type from = (*graph_)[a].type;
  if (from == type) return a;
  if (type == Type::Bool) return unary(Op::Not, binary(Op::Eq, a, graph_->constant(0, from), where), where);
  return make(Op::Cast, type, {a, kNone, kNone}, where);
}

// Conversion to a declared shape: numbers to numbers, vectors and arrays to the same shape only. A conversion that
// drops a fraction needs an explicit cast.
Value Lowering::convert(const Value& value, Shape shape, clang::SourceLocation where) {
  if (shape.scalar == Type::Int || shape.scalar == Type::Index)
    for (NodeId part : value.parts)
      if (part >= 0 && (*graph_)[part].type >= Type::Float)
        throw Rejected{where, fmt::format("a {0} becomes an {1} by a cast only, which drops its fraction: {1}(...)",
                                          name((*graph_)[part].type), name(shape.scalar))};
  return convert_as_asked(value, shape, where);
}

Value Lowering::convert_as_asked(const Value& value, Shape shape, clang::SourceLocation where) {
  if (value.shape.width != shape.width || value.shape.length != shape.length)
    throw Rejected{where, fmt::format("a value with {} components cannot become one with {}", value.parts.size(),
                                      shape.components())};
  Value result{shape, value.parts};
  for (NodeId& part : result.parts)
    if (part >= 0) part = cast(part, shape.scalar, where);
  return result;
}

NodeId Lowering::condition(const clang::Expr* expression) {
  const Value value = evaluate(expression);
  if (!value.shape.is_scalar()) throw Rejected{expression->getExprLoc(), "a condition must be a single value"};
  return cast(value.parts[0], Type::Bool, expression->getExprLoc());
}

Value Lowering::arithmetic(Op op, const Value& a, const Value& b, clang::SourceLocation where) {
  if (a.shape.is_matrix || b.shape.is_matrix) return matrix_arithmetic(op, a, b, where);
  if (a.shape.is_complex || b.shape.is_complex) return complex_arithmetic(op, a, b, where);
  Value result{a.shape.is_scalar() ? b.shape : a.shape, {}};
  for (int c = 0; c < result.shape.components(); ++c) {
    NodeId pa = a.part(c), pb = b.part(c);
    // Components of vectors are of type Real, whatever the other operand is.
    if (result.shape.width > 1) pa = cast(pa, Type::Real, where), pb = cast(pb, Type::Real, where);
    const bool whole = std::max((*graph_)[pa].type, (*graph_)[pb].type) < Type::Float;
    if (whole && (op == Op::Div || op == Op::Rem) && graph_->is_constant(pb, 0))
      throw Rejected{where, "integer division by zero"};
    if (whole && op == Op::Div)
      report(Severity::Warning, where,
             "this is an integer division, which drops the fraction; write 1.0 for 1, or real(...)");
    result.parts.push_back(binary(op, pa, pb, where));
  }
  result.shape.scalar = (*graph_)[result.parts[0]].type;
  return result;
}

Value Lowering::evaluate_unary(const clang::UnaryOperator* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  switch (expression->getOpcode()) {
    case clang::UO_Plus:
      return evaluate(expression->getSubExpr());
    case clang::UO_Minus: {
      Value value = evaluate(expression->getSubExpr());
      for (NodeId& part : value.parts)
        part = unary(Op::Neg, cast(part, std::max((*graph_)[part].type, Type::Int), where), where);
      value.shape.scalar = (*graph_)[value.parts[0]].type;
      return value;
    }
    case clang::UO_LNot:
      return {{Type::Bool, 0, 1}, {unary(Op::Not, condition(expression->getSubExpr()), where)}};
    case clang::UO_AddrOf:
    case clang::UO_Deref:
      throw Rejected{where, "a pointer is not in the language; use an array and a constant index"};
    case clang::UO_PreInc:
    case clang::UO_PreDec:
    case clang::UO_PostInc:
    case clang::UO_PostDec:
      throw Rejected{where, "++ and -- must stand alone as a statement, or in the head of a for"};
    case clang::UO_Not:
      return complement(expression->getSubExpr());
    default:
      throw Rejected{where, refused_operator(clang::UnaryOperator::getOpcodeStr(expression->getOpcode()).str())};
  }
}

Value Lowering::evaluate_binary(const clang::BinaryOperator* expression) {
  const clang::SourceLocation where = expression->getOperatorLoc();
  if (expression->isAssignmentOp()) throw Rejected{where, "an assignment must stand alone as a statement"};
  const auto opcode = expression->getOpcode();
  if (opcode == clang::BO_LAnd || opcode == clang::BO_LOr) {
    const NodeId a = condition(expression->getLHS()), b = condition(expression->getRHS());
    return {{Type::Bool, 0, 1}, {binary(opcode == clang::BO_LAnd ? Op::And : Op::Or, a, b, where)}};
  }
  if (expression->isComparisonOp()) return evaluate_comparison(expression);
  if (opcode == clang::BO_Comma)
    throw Rejected{where, "a comma between values is not in the language; write one statement for each"};
  const Value a = evaluate(expression->getLHS()), b = evaluate(expression->getRHS());
  return combine(expression->getOpcodeStr().str(), expression->getLHS(), a, expression->getRHS(), b, where);
}

Value Lowering::evaluate_comparison(const clang::BinaryOperator* expression) {
  const clang::SourceLocation where = expression->getOperatorLoc();
  for (const clang::Expr* side : {expression->getLHS(), expression->getRHS()}) {
    const auto* inner = llvm::dyn_cast<clang::BinaryOperator>(side->IgnoreImpCasts());
    if (inner && inner->isComparisonOp())
      throw Rejected{where, "a comparison of a comparison; write a < b && b < c for a < b < c"};
  }
  Value a = evaluate(expression->getLHS()), b = evaluate(expression->getRHS());
  if (!a.shape.is_scalar() || !b.shape.is_scalar()) throw Rejected{where, "only single values can be compared"};
  if (is_unsigned(expression->getLHS()->getType())) a = widened(a, where), b = widened(b, where);
  const auto opcode = expression->getOpcode();
  if (opcode == clang::BO_Cmp) throw Rejected{where, refused_operator("<=>")};
  const bool turned = opcode == clang::BO_GT || opcode == clang::BO_GE;
  const bool strict = opcode == clang::BO_GT || opcode == clang::BO_LT;
  const Op op = expression->isEqualityOp() ? Op::Eq : strict ? Op::Lt : Op::Le;
  const NodeId truth = binary(op, (turned ? b : a).parts[0], (turned ? a : b).parts[0], where);
  return {{Type::Bool, 0, 1}, {opcode == clang::BO_NE ? unary(Op::Not, truth, where) : truth}};
}

Value Lowering::evaluate_conditional(const clang::ConditionalOperator* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const NodeId choose = condition(expression->getCond());
  const Value yes = evaluate(expression->getTrueExpr()), no = evaluate(expression->getFalseExpr());
  if (yes.parts.size() != no.parts.size()) throw Rejected{where, "the two values of ?: have different shapes"};
  Value result = yes;
  for (std::size_t c = 0; c < yes.parts.size(); ++c) result.parts[c] = select(choose, yes.parts[c], no.parts[c], where);
  result.shape.scalar = (*graph_)[result.parts[0]].type;
  return result;
}

// vec3(x, y, z), vec3(all), and the copies of vectors that Clang inserts.
Value Lowering::evaluate_construct(const clang::CXXConstructExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const Shape shape = shape_of(expression->getType(), where);
  if (shape.is_matrix) return matrix_of(expression, shape);
  if (shape.is_complex) return complex_of(expression);
  const unsigned count = expression->getNumArgs();
  if (count == 0) throw Rejected{where, fmt::format("vec{0}() has no value; write vec{0}(0)", shape.width)};
  const Value first = evaluate(expression->getArg(0));
  if (count == 1 && (first.shape.width == shape.width || shape.length > 0)) return first;
  Value result{shape, {}};
  for (int c = 0; c < shape.width; ++c) {
    const Value part = count == 1 || c == 0 ? first : evaluate(expression->getArg(unsigned(c)));
    result.parts.push_back(cast(part.parts[0], Type::Real, where));
  }
  return result;
}

Value Lowering::evaluate_operator_call(const clang::CXXOperatorCallExpr* expression) {
  const clang::SourceLocation where = expression->getOperatorLoc();
  if (expression->getOperator() == clang::OO_Subscript) {
    if (is_part_of_variable(expression)) return read(lvalue_of(expression), expression->getArg(0)->getExprLoc());
    const Value vector = evaluate(expression->getArg(0));
    const clang::Expr* const index = expression->getArg(1);
    const bool is_array = vector.shape.length > 0 && !vector.shape.is_matrix;
    const std::int64_t k = constant_index(evaluate(index), is_array ? vector.shape.length : vector.shape.width,
                                          is_array                 ? "this array"
                                          : vector.shape.is_matrix ? "this matrix"
                                                                   : "this vector",
                                          index->getExprLoc());
    if (vector.shape.is_matrix) {
      const auto row = vector.parts.begin() + k * vector.shape.width;
      return {{vector.shape.scalar, 0, vector.shape.width}, {row, row + vector.shape.width}};
    }
    return {{vector.shape.scalar, 0, 1}, {vector.parts[std::size_t(k)]}};
  }
  if (expression->isAssignmentOp()) throw Rejected{where, "an assignment must stand alone as a statement"};
  const Value a = evaluate(expression->getArg(0));
  if (expression->getNumArgs() == 1) {
    Value result = a;
    if (expression->getOperator() == clang::OO_Minus || expression->getOperator() == clang::OO_Exclaim)
      for (NodeId& part : result.parts)
        part = unary(expression->getOperator() == clang::OO_Minus ? Op::Neg : Op::Not, part, where);
    return result;
  }
  const Value b = evaluate(expression->getArg(1));
  if (expression->isComparisonOp() || expression->getOperator() == clang::OO_AmpAmp ||
      expression->getOperator() == clang::OO_PipePipe)
    return compared(expression->getOperator(), a, b, where);
  const char* const sign = clang::getOperatorSpelling(expression->getOperator());
  const auto op = arithmetic_operation(sign);
  if (!op || *op == Op::Rem) throw Rejected{where, refused_operator(sign)};
  return arithmetic(*op, a, b, where);
}

// The source text of a literal.
llvm::StringRef Lowering::text_of(const clang::Expr* literal) const {
  const clang::SourceManager& manager = context_.getSourceManager();
  const clang::SourceLocation spelt = manager.getSpellingLoc(literal->getExprLoc());
  return clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(spelt, spelt), manager,
                                     context_.getLangOpts());
}

// Warns of a literal that is outside the range of its type, and thus infinite or 0.
void Lowering::warn_of_range(const llvm::APFloat& value, llvm::StringRef text, clang::SourceLocation where) {
  if (!value.isInfinity() && !value.isZero()) return;
  const bool is_float = &value.getSemantics() == &llvm::APFloat::IEEEsingle();
  const std::string shown = text.size() > 40 ? text.take_front(40).str() + "..." : text.str();
  if (value.isInfinity())
    report(Severity::Warning, where,
           fmt::format("{} is infinite: the largest {} is {}", shown, is_float ? "float" : "number",
                       is_float ? "3.4e38" : "1.8e308"));
  else if (text.take_until([](char c) { return c == 'e' || c == 'E'; }).find_first_of("123456789") != text.npos)
    report(Severity::Warning, where,
           fmt::format("{} is 0: the smallest {} is {}", shown, is_float ? "float" : "number",
                       is_float ? "1.4e-45" : "4.9e-324"));
}

// A literal, or the zero of int() and {}.
Value Lowering::literal(const clang::Expr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const auto scalar = [&](double value, Type type) {
    return Value{{type, 0, 1}, {graph_->constant(value, type, location(where))}};
  };
  if (const auto* integer = llvm::dyn_cast<clang::IntegerLiteral>(expression)) {
    const llvm::APInt value = integer->getValue();
    const double nearest = value.roundToDouble();
    if (nearest >= 0x1p63) throw Rejected{where, "this whole number is too large; write it with a decimal point"};
    if (is_unsigned(expression->getType())) return scalar(std::int32_t(value.getZExtValue()), Type::Int);
    if (expression->getType()->isUnsignedIntegerType())
      throw Rejected{where, fmt::format("{} does not fit: an unsigned number is 4294967295 at most; without the u it "
                                        "is an index",
                                        value.getZExtValue())};
    if (std::uint64_t(nearest) != value.getZExtValue())
      report(Severity::Warning, where,
             fmt::format("{} is not kept exactly: beyond 2^53 a constant is the nearest double, here {}",
                         value.getZExtValue(), std::uint64_t(nearest)));
    return scalar(nearest, value.getActiveBits() > 31 ? Type::Index : Type::Int);
  }
  if (const auto* number = llvm::dyn_cast<clang::FloatingLiteral>(expression)) {
    const bool is_float =
        number->getType().getCanonicalType() == context_.FloatTy && pipeline_.dialect == Dialect::Named;
    warn_of_range(number->getValue(), text_of(number), where);
    return scalar(number->getValueAsApproximateDouble(), is_float ? Type::Float : Type::Real);
  }
  if (const auto* truth = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(expression))
    return scalar(truth->getValue() ? 1 : 0, Type::Bool);
  const Shape shape = shape_of(expression->getType(), where);
  if (!shape.is_scalar()) throw Rejected{where, "this has no value"};
  return scalar(0, shape.scalar);
}

Value Lowering::evaluate_member(const clang::MemberExpr* expression) {
  const clang::Expr* base = expression->getBase()->IgnoreParenImpCasts();
  if (llvm::isa<clang::DeclRefExpr, clang::ArraySubscriptExpr>(base))
    return read(lvalue_of(expression), expression->getExprLoc());
  const Value vector = evaluate(expression->getBase());
  const auto k = llvm::StringRef("xyzw").find(expression->getMemberDecl()->getName());
  return {{vector.shape.scalar, 0, 1}, {vector.parts.at(k)}};
}

// Implicit conversions of unsigned numbers to wider types are made here, all others where the values are used.
Value Lowering::evaluate(const clang::Expr* expression) {
  const clang::QualType wanted = expression->getType();
  for (const clang::Expr* outer = nullptr; outer != expression;) {
    outer = expression;
    expression = expression->IgnoreParens()->IgnoreImplicit();
  }
  const Value value = evaluate_plain(expression);
  const bool wider = wanted->isFloatingType() || (wanted->isIntegerType() && context_.getIntWidth(wanted) == 64);
  return wider && is_unsigned(expression->getType()) ? widened(value, expression->getExprLoc()) : value;
}

Value Lowering::evaluate_plain(const clang::Expr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (++evaluated_ > kMaxExpressions)
    throw Rejected{where, fmt::format("the pipeline unrolls to more than {} expressions", kMaxExpressions)};
  switch (expression->getStmtClass()) {
    case clang::Stmt::CXXDefaultArgExprClass:
      return evaluate(llvm::cast<clang::CXXDefaultArgExpr>(expression)->getExpr());
    case clang::Stmt::IntegerLiteralClass:
    case clang::Stmt::FloatingLiteralClass:
    case clang::Stmt::CXXBoolLiteralExprClass:
    case clang::Stmt::ImplicitValueInitExprClass:
    case clang::Stmt::CXXScalarValueInitExprClass:
      return literal(expression);
    case clang::Stmt::DeclRefExprClass:
    case clang::Stmt::ArraySubscriptExprClass:
      return read(lvalue_of(expression), where);
    case clang::Stmt::MemberExprClass:
      return evaluate_member(llvm::cast<clang::MemberExpr>(expression));
    case clang::Stmt::UnaryOperatorClass:
      return evaluate_unary(llvm::cast<clang::UnaryOperator>(expression));
    case clang::Stmt::CompoundAssignOperatorClass:
    case clang::Stmt::BinaryOperatorClass:
      return evaluate_binary(llvm::cast<clang::BinaryOperator>(expression));
    case clang::Stmt::ConditionalOperatorClass:
      return evaluate_conditional(llvm::cast<clang::ConditionalOperator>(expression));
    case clang::Stmt::CXXTemporaryObjectExprClass:
    case clang::Stmt::CXXConstructExprClass:
      return evaluate_construct(llvm::cast<clang::CXXConstructExpr>(expression));
    case clang::Stmt::UserDefinedLiteralClass:
      return imaginary_literal(llvm::cast<clang::UserDefinedLiteral>(expression));
    case clang::Stmt::CXXMemberCallExprClass:
      return converted(llvm::cast<clang::CXXMemberCallExpr>(expression));
    case clang::Stmt::CXXOperatorCallExprClass:
      return evaluate_operator_call(llvm::cast<clang::CXXOperatorCallExpr>(expression));
    case clang::Stmt::CallExprClass:
      return call(llvm::cast<clang::CallExpr>(expression));
    case clang::Stmt::CStyleCastExprClass:
    case clang::Stmt::CXXFunctionalCastExprClass:
    case clang::Stmt::CXXStaticCastExprClass: {
      return cast_as_written(llvm::cast<clang::ExplicitCastExpr>(expression));
    }
    case clang::Stmt::InitListExprClass: {
      const auto* list = llvm::cast<clang::InitListExpr>(expression);
      if (list->getNumInits() == 0) return literal(list);
      if (list->getNumInits() == 1) return evaluate(list->getInit(0));
      throw Rejected{where, "a list in braces is only for initialising an array"};
    }
    // An assignment to an array, which Clang refused: lowering sees no other RecoveryExpr.
    case clang::Stmt::RecoveryExprClass:
      accept_array_assignments(expression);
      throw Rejected{where, "an assignment must stand alone as a statement"};
    case clang::Stmt::CXXParenListInitExprClass:
      throw Rejected{where, fmt::format("a {} is made by comparing two vectors only",
                                        expression->getType().getUnqualifiedType().getAsString())};
    case clang::Stmt::LambdaExprClass:
      throw Rejected{where, "a lambda is not in the language; write a function"};
    default:
      throw Rejected{where, fmt::format("this expression ({}) is not in the language", expression->getStmtClassName())};
  }
}

}  // namespace nbcc::lowering
