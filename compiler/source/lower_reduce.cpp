// Statements that change an output -> contributions. Part of lowering (lower.h). Entry point: reduce().
#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "compiler/source/lower.h"

namespace nbcc::lowering {

const Field* Lowering::output_of(const clang::VarDecl* variable) const {
  const auto found = fields_.find(variable);
  if (found == fields_.end()) return nullptr;
  const Field& field = pipeline_.fields[std::size_t(found->second)];
  return field.role == Role::Output ? &field : nullptr;
}

// The output that a statement changes by its reduction. In finish() these are the totals; other outputs are assigned.
const Field* Lowering::reduced_by_statement(const clang::VarDecl* variable) const {
  const Field* const output = output_of(variable);
  return output && (output->is_total() || !finishing_) ? output : nullptr;
}

// `acc += e`, `acc -= e`, `m = max(m, e)`, `near = argmin(near, e)` and other reductions. False if the expression
// changes no output.
bool Lowering::reduce(const clang::Expr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(expression); u && u->isIncrementDecrementOp()) {
    const LValue lvalue = lvalue_of(u->getSubExpr());
    const Field* const field = reduced_by_statement(lvalue.variable);
    if (!field) return false;
    if (field->reduction == Reduction::Count) throw Rejected{where, how_to_change(*field)};
    const Value one{{Type::Int, 0, 1}, {graph_->constant(u->isIncrementOp() ? 1 : -1, Type::Int)}};
    contribute(lvalue, one, Reduction::Sum, where);
    return true;
  }
  const auto assignment = assignment_in(expression);
  if (!assignment) return false;
  const auto& [left, right, sign] = *assignment;
  const LValue lvalue = lvalue_of(left);
  const Field* field = reduced_by_statement(lvalue.variable);
  if (!field) return false;
  if (field->reduction == Reduction::Count) {
    if (sign != "+=") throw Rejected{where, how_to_change(*field)};
    count(lvalue, right, where);
  } else if (sign == "*=" && field->reduction == Reduction::Product) {
    contribute(lvalue, evaluate(right), Reduction::Product, where);
  } else if (sign == "+=" || sign == "-=") {
    Value term = evaluate(right);
    if (sign == "-=")
      for (NodeId& part : term.parts) part = unary(Op::Neg, part, where);
    contribute(lvalue, term, Reduction::Sum, where);
  } else if (sign == "=" && field->is_of_pair()) {
    for (int c = lvalue.first; c < lvalue.first + lvalue.shape.components(); ++c)
      if (const auto at = std::size_t(field->first + c); at < contributed_.size() && !contributed_[at].empty())
        throw Rejected{where, fmt::format("output(pair) '{}' is assigned once; compute its value in a variable, and "
                                          "assign that",
                                          field->name)};
    contribute(lvalue, evaluate(right), Reduction::Sum, where);
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
  if (output.is_of_pair()) return fmt::format("output(pair) '{0}' is changed by '{0} = ...' only", output.name);
  const std::string declared = fmt::format("output({}) '{}'", reduction_text(output), output.name);
  if (output.reduction == Reduction::Sum)
    return fmt::format("{0} is changed by '{1} += ...' or '{1} -= ...' only", declared, output.name);
  if (output.reduction == Reduction::Product)
    return fmt::format("{0} is changed by '{1} *= ...' only", declared, output.name);
  if (output.reduction == Reduction::Count)
    return fmt::format("{0} is changed by '{1} += condition' only", declared, output.name);
  return fmt::format("{0} is changed by '{1} = {2}({1}, {3})' only", declared, output.name, name(output.reduction),
                     output.reduction == Reduction::Softmax ? "logit, value" : "...");
}

namespace {
// The expression without the implicit nodes of a vector copy. Null if it is no plain copy.
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
  if (!call || !call->getDirectCallee() || !call->getDirectCallee()->getIdentifier()) return false;
  const std::string callee = call->getDirectCallee()->getName().str();
  if (callee == "at" && in_prelude(call->getDirectCallee())) return contribute_payload(lvalue, call, where), true;
  static const std::map<std::string, Reduction> reductions{
      {"min", Reduction::Min},       {"max", Reduction::Max},         {"argmin", Reduction::ArgMin},
      {"argmax", Reduction::ArgMax}, {"softmax", Reduction::Softmax}, {"logsumexp", Reduction::LogSumExp}};
  const auto reduction = reductions.find(callee);
  if (reduction == reductions.end()) return false;
  const bool has_logit = reduction->second == Reduction::Softmax;
  // With other arguments it is a function of the same name that the text defines.
  if (call->getNumArgs() != (has_logit ? 3U : 2U) || !in_prelude(call->getDirectCallee())) return false;
  if (has_logit) {
    if (!refers_to(call->getArg(0), lvalue)) return false;
    const Value logit = evaluate_argument(call->getArg(1));
    contribute(lvalue, evaluate_argument(call->getArg(2)), Reduction::Softmax, where, logit.parts[0]);
    return true;
  }
  const clang::Expr* term = nullptr;
  if (refers_to(call->getArg(0), lvalue))
    term = call->getArg(1);
  else if (!keeps_index(reduction->second) && refers_to(call->getArg(1), lvalue))
    term = call->getArg(0);
  else
    return false;
  const bool several = keeps_index(reduction->second) && lvalue.shape.length > 0;
  contribute(lvalue, several ? repeated(evaluate_argument(term), lvalue.shape.length) : evaluate_argument(term),
             reduction->second, where);
  return true;
}

// A count is a sum of ones. Up to 16 ones per pair are exact in the float sums of a tile, on every device.
void Lowering::count(const LValue& lvalue, const clang::Expr* right, clang::SourceLocation where) {
  const clang::Expr* const bare = right->IgnoreParenImpCasts();
  if (!bare->getType()->isBooleanType())
    throw Rejected{where, fmt::format("output(count) '{0}' counts pairs for which a condition holds: write "
                                      "'{0} += condition', as in '{0} += x > 0'",
                                      output_of(lvalue.variable)->name)};
  if (finishing_)
    return contribute(lvalue, {{Type::Index, 0, 1}, {cast(condition(bare), Type::Index, where)}}, Reduction::Count,
                      where);
  const NodeId before = path_;
  path_ = conjunction(path_, condition(bare));
  contribute(lvalue, {{Type::Real, 0, 1}, {graph_->constant(1, Type::Float)}}, Reduction::Count, where);
  path_ = before;
}

// Converts a term to the type of its reduction. Integers are summed in double, where sums are exact up to 2^53, and
// compared in 64 bits; floating point values are compared in their own precision. Products are formed in double: the
// product over a tile would leave the range of float.
NodeId Lowering::contributed_value(const Field& field, Reduction reduction, NodeId part, clang::SourceLocation where) {
  const Type type = (*graph_)[part].type;
  const bool whole = field.type == Type::Int || field.type == Type::Index;
  const bool arg = keeps_index(reduction), product = reduction == Reduction::Product;
  if (reduction == Reduction::Count) return part;
  if (whole && !arg && type >= Type::Float)
    throw Rejected{where, fmt::format("output '{0}' is {1} and the value is not; write {1}(...) to drop its fraction",
                                      field.name, name(field.type))};
  if (whole && (reduction == Reduction::Sum || product))
    return cast(cast(part, field.type, where), Type::Double, where);
  if (whole && (!arg || type < Type::Float))
    return cast(arg ? part : cast(part, field.type, where), Type::Index, where);
  if ((field.type == Type::Double && !arg) || product) return cast(part, Type::Double, where);
  if (type != Type::Double || field.type == Type::Real || is_exponential(reduction))
    return cast(part, Type::Real, where);
  return part;
}

// Joins several softmax or logsumexp contributions of one pair: the weights are added, the value is the weighted mean.
// The logits' maximum is subtracted, to stay in range; it is clamped to finite numbers, so that no difference is NaN.
// In a logsumexp the value is the logit.
Contribution Lowering::combine_exponentials(const std::vector<Contributed>& parts, Reduction reduction) {
  const bool has_values = reduction == Reduction::Softmax;
  const auto logit_of = [&](const Contributed& part) { return has_values ? part.logit : part.value; };
  if (parts.size() == 1) return {parts[0].value, parts[0].guard, kNone, parts[0].logit};
  const Type type = (*graph_)[parts[0].value].type;
  const auto number = [&](double value) { return graph_->constant(value, type); };
  Contribution joined{kNone, parts[0].guard};
  NodeId largest = kNone, total = kNone, weighted = kNone;
  constexpr double kMaxFloat = std::numeric_limits<float>::max();
  const auto only = [&](const Contributed& part, NodeId x, double otherwise) {
    return part.guard == kNone ? x : select(part.guard, x, number(otherwise), {});
  };
  for (const Contributed& part : parts) {
    const NodeId logit = only(part, logit_of(part), -kMaxFloat);
    largest = largest == kNone ? logit : binary(Op::Max, largest, logit, {});
    const bool either = joined.guard != kNone && part.guard != kNone;
    joined.guard = either ? binary(Op::Or, joined.guard, part.guard, {}) : kNone;
  }
  largest = binary(Op::Min, binary(Op::Max, largest, number(-kMaxFloat), {}), number(kMaxFloat), {});
  for (const Contributed& part : parts) {
    const NodeId weight = unary(Op::Exp, binary(Op::Sub, logit_of(part), largest, {}), {});
    const NodeId counted = only(part, weight, 0);
    total = total == kNone ? counted : binary(Op::Add, total, counted, {});
    if (!has_values) continue;
    const NodeId term = only(part, binary(Op::Mul, weight, part.value, {}), 0);
    weighted = weighted == kNone ? term : binary(Op::Add, weighted, term, {});
  }
  const NodeId logit = binary(Op::Add, largest, unary(Op::Log, total, {}), {});
  joined.value = logit;
  if (!has_values) return joined;
  joined.logit = logit;
  const NodeId none = binary(Op::Eq, total, number(0), {});
  joined.value = select(none, number(0), binary(Op::Div, weighted, total, {}), {});
  return joined;
}

void Lowering::contribute(const LValue& lvalue, const Value& given, Reduction reduction, clang::SourceLocation where,
                          NodeId logit) {
  const Value value = as_complex(given, lvalue.shape, where);
  const Field& field = *output_of(lvalue.variable);
  if (!frames_.empty())
    throw Rejected{where,
                   fmt::format("output '{}' can only be changed at the top level, not in a function", field.name)};
  if (field.reduction != reduction) {
    if (pipeline_.dialect == Dialect::Cunbody) throw Rejected{where, how_to_change(field)};
    throw Rejected{where, fmt::format("output '{}' is declared output({}) and cannot be an output({}) too", field.name,
                                      reduction_text(field), name(reduction))};
  }
  if (keeps_index(reduction)) check_choice(field, lvalue, where);
  if (finishing_) return add_to_total(lvalue, value, where);
  if (lvalue.column != kNone) return add_to_element(lvalue, value, where);
  if (lvalue.shape.components() != int(value.parts.size()) || lvalue.shape.width != value.shape.width)
    throw Rejected{where, fmt::format("output '{}' has {} components here, the value {}", field.name,
                                      lvalue.shape.components(), value.parts.size())};
  for (int c = 0; c < lvalue.shape.components(); ++c) {
    const NodeId part = contributed_value(field, reduction, value.parts[std::size_t(c)], where);
    // Logits have the precision of the values.
    const NodeId weight = logit == kNone ? kNone : cast(logit, (*graph_)[part].type, where);
    contributed_[std::size_t(field.first + lvalue.first + c)].push_back({path_, part, weight});
  }
}

// In finish(): combines a value of i with the sum over its pairs. A branch of an if is left to join(), as for
// variables.
void Lowering::add_to_total(const LValue& lvalue, const Value& value, clang::SourceLocation where) {
  const Field& field = *output_of(lvalue.variable);
  const Value term = convert(value, lvalue.shape, where);
  Value whole = environment_.at(lvalue.variable);
  for (std::size_t c = 0; c < term.parts.size(); ++c) {
    NodeId& part = whole.parts[std::size_t(lvalue.first) + c];
    if (field.reduction == Reduction::LogSumExp)
      part = combine_exponentials({{kNone, part}, {kNone, term.parts[c]}}, Reduction::LogSumExp).value;
    else
      part = binary(combining_operation(field.reduction), part, term.parts[c], where);
  }
  replace(lvalue.variable, std::move(whole));
}

}  // namespace nbcc::lowering
