// Statements of argmin and argmax with several indices, and of payloads (output(at)). Part of lowering (lower.h). Entry
// points: contribute_payload(), check_choice(), check_payloads(), repeated(), allow_array_assignment(),
// allow_in_unexecuted_code(), accept_array_assignments().
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "compiler/source/lower.h"

namespace nbcc::lowering {

// In C++ `near = argmin(near, r2)` is an error if `near` is an array. True if it is an assignment that the language
// allows; then Clang's errors about it are removed.
bool Lowering::allow_array_assignment(const clang::Expr* expression) {
  const auto assignment = assignment_in(expression);
  if (!assignment || finishing_) return false;
  const clang::Expr* target = assignment->left->IgnoreParenImpCasts();
  while (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(target))
    target = element->getBase()->IgnoreParenImpCasts();
  const auto* left = llvm::dyn_cast<clang::DeclRefExpr>(target);
  const auto* variable = left ? llvm::dyn_cast<clang::VarDecl>(left->getDecl()) : nullptr;
  const Field* field = variable ? output_of(variable) : nullptr;
  const bool chooses = field && (field->reduction == Reduction::At || keeps_index(field->reduction));
  if (!chooses && !(variable && broken_.contains(variable))) return false;
  accept_array_assignments(expression);
  return true;
}

// Removes Clang's errors about array assignments within the expression.
void Lowering::accept_array_assignments(const clang::Expr* expression) {
  const auto position = [](Location at) { return std::pair(at.line, at.column); };
  const auto begin = position(location(expression->getBeginLoc())), end = position(location(expression->getEndLoc()));
  std::erase_if(array_assignments_, [&](const Diagnostic& refused) {
    return begin <= position(refused.where) && position(refused.where) <= end;
  });
}

// Does the same for statements that are never executed: in loops without iterations and in functions without calls.
void Lowering::allow_in_unexecuted_code() {
  finishing_ = false;
  for (const clang::Decl* declaration : context_.getTranslationUnitDecl()->decls()) {
    if (array_assignments_.empty()) return;
    if (in_prelude(declaration)) continue;  // deleted functions count as definitions, but have no body
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (const auto* top = llvm::dyn_cast<clang::TopLevelStmtDecl>(declaration))
      allow_within(top->getStmt());
    else if (function && function->isThisDeclarationADefinition() && function->getName() != "finish" &&
             !called_.contains(function->getCanonicalDecl()))
      allow_within(function->getBody());
  }
}

void Lowering::allow_within(const clang::Stmt* statement) {
  if (const auto* recovery = llvm::dyn_cast<clang::RecoveryExpr>(statement)) allow_array_assignment(recovery);
  for (const clang::Stmt* child : statement->children())
    if (child) allow_within(child);
}

Value Lowering::repeated(const Value& value, int count) {
  Value result{value.shape, {}};
  result.shape.length = count;
  for (int m = 0; m < count; ++m) result.parts.insert(result.parts.end(), value.parts.begin(), value.parts.end());
  return result;
}

// Each pair contributes one value to a choice: the kept index could not say which of several values it is of.
void Lowering::check_choice(const Field& field, const LValue& lvalue, clang::SourceLocation where) {
  if (lvalue.shape.components() != field.components()) throw Rejected{where, how_to_change(field)};
  if (contributed_[std::size_t(field.first)].empty()) return;
  if (field.length > 1)
    throw Rejected{where, fmt::format("output({}) '{}' keeps several indices: it is changed by one statement only",
                                      name(field.reduction), field.name)};
  for (const Field& other : pipeline_.fields)
    if (other.role == Role::Output && other.reduction == Reduction::At && other.follows == field.first)
      throw Rejected{where, fmt::format("output(at) '{}' belongs to '{}', which is changed by one statement only",
                                        other.name, field.name)};
}

// `d = at(near, e)`
void Lowering::contribute_payload(const LValue& lvalue, const clang::CallExpr* call, clang::SourceLocation where) {
  const Field& output = *output_of(lvalue.variable);
  if (output.reduction != Reduction::At || lvalue.shape.components() != output.components())
    throw Rejected{where, how_to_change(output)};
  const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(call->getArg(0)->IgnoreParenImpCasts());
  const auto* variable = named ? llvm::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
  const Field* chooser = variable ? output_of(variable) : nullptr;
  if (!chooser || !keeps_index(chooser->reduction))
    throw Rejected{call->getArg(0)->getBeginLoc(), "at(near, value) names an output(argmin) or output(argmax) first"};
  if (output.length != chooser->length)
    throw Rejected{where, chooser->length == 0
                              ? fmt::format("declare '{1}', which belongs to the single '{0}', without [{2}]",
                                            chooser->name, output.name, output.length)
                              : fmt::format("declare '{1}', which belongs to '{0}[{2}]', as '{1}[{2}]'", chooser->name,
                                            output.name, chooser->length)};
  const auto& chosen = contributed_[std::size_t(chooser->first)];
  if (chosen.empty())
    throw Rejected{where, fmt::format("'{0}' has not been chosen yet: write '{0} = {1}({0}, ...)' before this",
                                      chooser->name, name(chooser->reduction))};
  if (chosen.size() > 1)
    throw Rejected{where, fmt::format("output(at) '{}' belongs to '{}', which is changed by one statement only",
                                      output.name, chooser->name)};
  if (chosen.back().guard != path_)
    throw Rejected{where, fmt::format("'{0}' is under another condition than '{1} = {2}({1}, ...)'", output.name,
                                      chooser->name, name(chooser->reduction))};
  if (!contributed_[std::size_t(output.first)].empty())
    throw Rejected{where, fmt::format("output(at) '{}' is changed by one statement only", output.name)};
  pipeline_.fields[std::size_t(fields_.at(lvalue.variable))].follows = chooser->first;
  contribute(lvalue, repeated(evaluate_argument(call->getArg(1)), std::max(output.length, 1)), Reduction::At, where);
}

// An output(at) that follows no argmin or argmax would have no value.
void Lowering::check_payloads() {
  for (const Field& field : pipeline_.fields)
    if (field.role == Role::Output && field.reduction == Reduction::At && field.follows < 0 && errors_ == 0)
      diagnostics_.push_back(
          {Severity::Error, field.where,
           fmt::format("output(at) '{0}' belongs to no argmin or argmax: write '{0} = at(near, ...)' after 'near = "
                       "argmin(near, ...)'",
                       field.name)});
}

}  // namespace nbcc::lowering
