// grad(u, x) and ddt(e, x, rate, ...) -> Values. Part of lowering (lower.h). Entry points: find_variables(),
// mark_variable(), gradient_of(), rate_of(). The derivatives themselves are made by
// compiler/passes/derive/derivative.h.
//
// A variable with respect to which something is differentiated gets a mark whenever it is set: a numbered cast to its
// own type. The mark keeps its value distinct from equal values of other variables and from folding, so that
// derivatives can trace what depends on it. remove_marks() removes these casts at the end.
#include <fmt/core.h>

#include <algorithm>

#include "compiler/ir/limits.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/derive/derivative.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/passes.h"
#include "compiler/source/lower.h"

namespace nbcc::lowering {

namespace {

const clang::Expr* bare(const clang::Expr* expression) {
  for (;;) {
    const clang::Expr* inner = expression->IgnoreParenImpCasts();
    if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(inner)) inner = temporary->getSubExpr();
    if (inner == expression) return inner;
    expression = inner;
  }
}

// The variable to which an element or component belongs; null if the expression is none.
const clang::VarDecl* variable_in(const clang::Expr* expression) {
  expression = bare(expression);
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression))
    return llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) return variable_in(member->getBase());
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression))
    return variable_in(subscript->getBase());
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression);
      call && call->getOperator() == clang::OO_Subscript)
    return variable_in(call->getArg(0));
  return nullptr;
}

std::string_view kind_of(Type type) {
  return type == Type::Bool ? "a condition" : type == Type::Index ? "an index" : "a whole number";
}

std::string kind_of(const Shape& shape) {
  if (shape.is_matrix) return fmt::format("a mat{}", shape.width);
  if (shape.length > 0) return "an array";
  if (shape.is_complex) return "a complex number";
  return shape.width > 1 ? fmt::format("a vec{}", shape.width) : "a number";
}

}  // namespace

void Lowering::find_variables(const clang::Stmt* statement) {
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
    const clang::FunctionDecl* function = call->getDirectCallee();
    if (function && function->getIdentifier() && in_prelude(function) &&
        (function->getName() == "grad" || function->getName() == "ddt"))
      for (unsigned k = 1; k < call->getNumArgs(); k += 2)
        if (const clang::VarDecl* variable = variable_in(call->getArg(k))) variables_.insert(variable);
  }
  for (const clang::Stmt* child : statement->children())
    if (child) find_variables(child);
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(statement))
    for (const clang::Decl* declared : declaration->decls())
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declared); variable && variable->getInit())
        find_variables(variable->getInit());
}

void Lowering::find_variables() {
  for (const clang::Decl* declaration : context_.getTranslationUnitDecl()->decls()) {
    if (declaration->isImplicit() || in_prelude(declaration)) continue;
    if (const auto* top = llvm::dyn_cast<clang::TopLevelStmtDecl>(declaration)) find_variables(top->getStmt());
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration); function && function->hasBody())
      find_variables(function->getBody());
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration); variable && variable->getInit())
      find_variables(variable->getInit());
  }
}

void Lowering::mark_variable(const clang::VarDecl* variable, NodeId& part) {
  if (part < 0 || !variables_.contains(variable) || !is_floating((*graph_)[part].type)) return;
  const Node node = (*graph_)[part];
  part = graph_->make(Op::Cast, node.type, {part, kNone, kNone}, node.where, ++marks_);
}

void Lowering::remove_marks() {
  if (marks_ > 0) rewrite(pipeline_, fold_node);
}

Value Lowering::variable_of(const clang::Expr* argument, const char* function) {
  argument = bare(argument);
  const clang::SourceLocation where = argument->getExprLoc();
  const clang::VarDecl* variable = variable_in(argument);
  if (!variable)
    throw Rejected{
        where, fmt::format("{} differentiates by an input, a param or a variable; give this a name first", function)};
  if (output_of(variable)) {
    const std::string remedy = finishing_ ? "; copy it into a variable first, and use that in the expression" : "";
    throw Rejected{where, fmt::format("'{}' is an output; {} differentiates by an input, a param or a variable{}",
                                      variable->getName().str(), function, remedy)};
  }
  const LValue lvalue = lvalue_of(argument);
  if (!is_floating(lvalue.shape.scalar))
    throw Rejected{where, fmt::format("'{}' is {}: {} differentiates by real numbers", variable->getName().str(),
                                      kind_of(lvalue.shape.scalar), function)};
  const Value value = read(lvalue, where);
  if (std::ranges::any_of(value.parts, [&](NodeId part) { return graph_->is_constant(part); }))
    throw Rejected{where, fmt::format("'{}' is a constant; {} differentiates by an input, a param or a variable",
                                      variable->getName().str(), function)};
  mark_used(*graph_, value.parts, differentiated_[finishing_]);
  return value;
}

Value Lowering::differentiated(const clang::Expr* argument, const char* function) {
  Value value = evaluate(argument);
  if (!is_floating(value.shape.scalar))
    throw Rejected{argument->getExprLoc(),
                   fmt::format("{} differentiates real numbers; this is {}", function, kind_of(value.shape.scalar))};
  // The derivative of a x + b contains neither x nor b; mark both as used, so that no warning says otherwise.
  mark_used(*graph_, value.parts, differentiated_[finishing_]);
  return value;
}

// The result of `derive`, which builds a derivative in the graph; its exceptions become Rejected.
template <typename Derive>
static std::vector<NodeId> derivative_at(clang::SourceLocation where, const Graph& graph, const Derive& derive) {
  try {
    return derive();
  } catch (const NotDifferentiable& no) {
    throw Rejected{where, fmt::format("{} cannot be differentiated: the language has no digamma function",
                                      name(graph[no.node].op))};
  } catch (const TooManyNodes&) {
    throw Rejected{where,
                   fmt::format("with this derivative the pipeline unrolls to more than {} operations", kMaxNodes)};
  }
}

Value Lowering::rate_given(const clang::Expr* argument, const Value& x) {
  const clang::SourceLocation where = argument->getExprLoc();
  const Value rate = evaluate(argument);
  if (kind_of(rate.shape) != kind_of(x.shape))
    throw Rejected{where, fmt::format("the variable is {}, and its rate of change here {}", kind_of(x.shape),
                                      kind_of(rate.shape))};
  return convert(rate, x.shape, where);
}

// The derivatives of u by `parts`. A loop over the elements of a long array asks for one derivative in each round; the
// first round makes the derivatives by all elements, which cost as much as one of them.
std::vector<NodeId> Lowering::gradient_by(NodeId u, const std::vector<NodeId>& parts) {
  const Node first = (*graph_)[parts[0]];
  const auto role = facts(first.op).role;
  const Field* const field = role && parts.size() == 1 ? &pipeline_.field_of(*role, int(first.payload)) : nullptr;
  if (!field || field->length <= kMostWrittenOut || field->width > 1) return gradient(*graph_, u, parts);
  const std::tuple key{finishing_, u, first.op, field->first};
  if (!gradients_.contains(key)) {
    std::vector<NodeId> elements;
    for (int k = 0; k < field->components(); ++k)
      elements.push_back(graph_->leaf(first.op, field->first + k, first.type, first.where));
    std::vector<NodeId> found = gradient(*graph_, u, elements);
    gradients_.emplace(key, std::move(found));
  }
  return {gradients_.at(key)[std::size_t(first.payload) - std::size_t(field->first)]};
}

// grad(u, x)
Value Lowering::gradient_of(const clang::CallExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const Value u = differentiated(expression->getArg(0), "grad");
  const Value x = variable_of(expression->getArg(1), "grad");
  Value result{x.shape, derivative_at(where, *graph_, [&] { return gradient_by(u.parts[0], x.parts); })};
  if (std::ranges::all_of(result.parts, [](NodeId part) { return part == kNone; }))
    warn_independent(expression->getArg(1), where);
  fill_with_zeros(result);
  return result;
}

// ddt(e, x, rate, ...)
Value Lowering::rate_of(const clang::CallExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (expression->getNumArgs() % 2 == 0 || expression->getNumArgs() < 3)
    throw Rejected{where,
                   "ddt is written ddt(e, x, rate, ...): after the expression follow pairs of a variable and its "
                   "rate of change"};
  Value result = differentiated(expression->getArg(0), "ddt");
  std::map<NodeId, NodeId> rates;
  for (unsigned k = 1; k < expression->getNumArgs(); k += 2) {
    const Value x = variable_of(expression->getArg(k), "ddt");
    const Value rate = rate_given(expression->getArg(k + 1), x);
    for (std::size_t c = 0; c < x.parts.size(); ++c)
      if (!rates.emplace(x.parts[c], rate.parts[c]).second)
        throw Rejected{expression->getArg(k)->getExprLoc(), "this variable has a rate already"};
  }
  result.parts = derivative_at(where, *graph_, [&] { return rates_of_change(*graph_, result.parts, rates); });
  if (std::ranges::all_of(result.parts, [](NodeId part) { return part == kNone; }))
    report(Severity::Warning, where, "the expression depends on none of these variables: the derivative is 0");
  fill_with_zeros(result);
  return result;
}

void Lowering::warn_independent(const clang::Expr* variable, clang::SourceLocation where) {
  report(Severity::Warning, where,
         fmt::format("the expression does not depend on '{}': the derivative is 0",
                     variable_in(variable)->getName().str()));
}

void Lowering::fill_with_zeros(Value& value) {
  for (NodeId& part : value.parts)
    if (part == kNone) part = graph_->constant(0, value.shape.scalar);
}

}  // namespace nbcc::lowering
