// Statements that change an output -> contributions. Part of lowering (lower.h); one door: reduce().
#include <fmt/core.h>

#include "compiler/source/lower.h"

namespace nbcc::lowering {

const Field* Lowering::output_of(const clang::VarDecl* variable) const {
  const auto found = fields_.find(variable);
  if (found == fields_.end()) return nullptr;
  const Field& field = pipeline_.fields[std::size_t(found->second)];
  return field.role == Role::Output ? &field : nullptr;
}

// `acc += e`, `acc -= e`, `m = max(m, e)`, `near = argmin(near, e)`. False if the expression changes no output.
bool Lowering::reduce(const clang::Expr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(expression); u && u->isIncrementDecrementOp()) {
    const LValue lvalue = lvalue_of(u->getSubExpr());
    if (!output_of(lvalue.variable)) return false;
    const Value one{{Type::Int, 0, 1}, {graph_->constant(u->isIncrementOp() ? 1 : -1, Type::Int)}};
    contribute(lvalue, one, Reduction::Sum, where);
    return true;
  }
  const auto assignment = assignment_in(expression);
  if (!assignment) return false;
  const auto& [left, right, sign] = *assignment;
  const LValue lvalue = lvalue_of(left);
  const Field* field = output_of(lvalue.variable);
  if (!field) return false;
  if (sign == "+=" || sign == "-=") {
    Value term = evaluate(right);
    if (sign == "-=")
      for (NodeId& part : term.parts) part = unary(Op::Neg, part, where);
    contribute(lvalue, term, Reduction::Sum, where);
  } else if (sign != "=" || !reduce_by_call(lvalue, right, where)) {
    throw Rejected{where, how_to_change(*field)};
  }
  return true;
}

std::string Lowering::how_to_change(const Field& output) const {
  if (pipeline_.dialect == Dialect::Cunbody)
    return "OUTPUT is a sum: it is changed by 'OUTPUT[k] += ...' or 'OUTPUT[k] -= ...' only";
  if (output.reduction == Reduction::At)
    return fmt::format("output(at) '{0}' is changed by '{0} = at(near, ...)' only", output.name);
  if (output.reduction == Reduction::Sum)
    return fmt::format("output(sum) '{0}' is changed by '{0} += ...' or '{0} -= ...' only", output.name);
  return fmt::format("output({0}) '{1}' is changed by '{1} = {0}({1}, ...)' only", name(output.reduction), output.name);
}

namespace {
// Without what Clang writes around the copy of a vector. Null if it is more than a copy.
const clang::Expr* plain(const clang::Expr* expression) {
  const clang::Expr* result = expression->IgnoreImplicit()->IgnoreParenImpCasts();
  while (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(result)) {
    if (construct->getNumArgs() != 1) return nullptr;
    result = construct->getArg(0)->IgnoreImplicit()->IgnoreParenImpCasts();
  }
  return result->IgnoreImplicit()->IgnoreParenImpCasts();
}
}  // namespace

bool Lowering::refers_to(const clang::Expr* expression, const LValue& lvalue) {
  const clang::Expr* p = plain(expression);
  if (!p || !llvm::isa<clang::DeclRefExpr, clang::MemberExpr, clang::ArraySubscriptExpr, clang::CXXOperatorCallExpr>(p))
    return false;
  if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(p); m && !m->getBase()->isLValue()) return false;
  if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(p);
      o && (o->getOperator() != clang::OO_Subscript || !o->getArg(0)->isLValue()))
    return false;
  const LValue other = lvalue_of(p);
  return other.variable == lvalue.variable && other.first == lvalue.first &&
         other.shape.components() == lvalue.shape.components();
}

bool Lowering::reduce_by_call(const LValue& lvalue, const clang::Expr* right, clang::SourceLocation where) {
  const clang::Expr* bare = plain(right);
  const auto* call = bare ? llvm::dyn_cast<clang::CallExpr>(bare) : nullptr;
  if (!call || !call->getDirectCallee() || !call->getDirectCallee()->getIdentifier() || call->getNumArgs() != 2)
    return false;
  const std::string callee = call->getDirectCallee()->getName().str();
  if (callee == "at" && in_prelude(call->getDirectCallee())) return carry(lvalue, call, where), true;
  static const std::map<std::string, Reduction> reductions{
      {"min", Reduction::Min}, {"max", Reduction::Max}, {"argmin", Reduction::ArgMin}, {"argmax", Reduction::ArgMax}};
  const auto reduction = reductions.find(callee);
  if (reduction == reductions.end()) return false;
  const clang::Expr* term = nullptr;
  if (refers_to(call->getArg(0), lvalue))
    term = call->getArg(1);
  else if (!keeps_index(reduction->second) && refers_to(call->getArg(1), lvalue))
    term = call->getArg(0);
  else
    return false;
  const bool several = keeps_index(reduction->second) && lvalue.shape.length > 0;
  contribute(lvalue, several ? in_each_place(evaluate(term), lvalue.shape.length) : evaluate(term), reduction->second,
             where);
  return true;
}

void Lowering::contribute(const LValue& lvalue, const Value& value, Reduction reduction, clang::SourceLocation where) {
  const Field& field = *output_of(lvalue.variable);
  if (!frames_.empty())
    throw Rejected{where,
                   fmt::format("output '{}' can only be changed at the top level, not in a function", field.name)};
  if (field.reduction != reduction) {
    if (pipeline_.dialect == Dialect::Cunbody) throw Rejected{where, how_to_change(field)};
    throw Rejected{where, fmt::format("output '{}' is declared output({}) and cannot be an output({}) too", field.name,
                                      name(field.reduction), name(reduction))};
  }
  if (keeps_index(reduction)) check_choice(field, lvalue, where);
  if (lvalue.shape.components() != int(value.parts.size()) || lvalue.shape.width != value.shape.width)
    throw Rejected{where, fmt::format("output '{}' has {} components here, the value {}", field.name,
                                      lvalue.shape.components(), value.parts.size())};
  for (int c = 0; c < lvalue.shape.components(); ++c) {
    NodeId part = value.parts[std::size_t(c)];
    // Whole numbers are summed in double, where they stay exact to 2^53, and compared in 64 bits; what else is compared
    // keeps its own precision.
    const Type type = (*graph_)[part].type;
    const bool whole = field.type == Type::Int || field.type == Type::Index;
    const bool arg = keeps_index(reduction);
    if (whole && !arg && type >= Type::Float)
      throw Rejected{where, fmt::format("output '{0}' is {1} and the value is not; write {1}(...) to drop its fraction",
                                        field.name, name(field.type))};
    if (whole && reduction == Reduction::Sum)
      part = cast(cast(part, field.type, where), Type::Double, where);
    else if (whole && (!arg || type < Type::Float))
      part = cast(arg ? part : cast(part, field.type, where), Type::Index, where);
    else if (field.type == Type::Double && !arg)
      part = cast(part, Type::Double, where);
    else if (type != Type::Double || field.type == Type::Real)
      part = cast(part, Type::Real, where);
    contributed_[std::size_t(field.first + lvalue.first + c)].push_back({path_, part});
  }
}

}  // namespace nbcc::lowering
