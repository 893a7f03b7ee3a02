// Statements -> changes of the environment. Part of lowering (lower.h). Entry point: execute(). Statements that change
// an output are in lower_reduce.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "clang/AST/Attr.h"
#include "compiler/ir/limits.h"
#include "compiler/source/lower.h"
#include "compiler/source/vocabulary.h"

namespace nbcc::lowering {

namespace {
// More than any hand-written pipeline needs; a larger unrolled loop would take minutes to compile.
constexpr int kMaxStatements = 100'000;
constexpr int kMaxRounds = 10'000;

// True if a real is assigned to a variable of 32 bits, so that digits are lost in double precision. A cast says that
// the loss is meant; constants are written with the digits that they need.
bool loses_digits(const Graph& graph, const Value& value, Shape shape) {
  return shape.scalar == Type::Float && std::ranges::any_of(value.parts, [&](NodeId part) {
           return part >= 0 && graph[part].type > Type::Float && !graph.is_constant(part);
         });
}

std::string float_warning(const clang::VarDecl* variable) {
  return fmt::format(
      "'{}' is a float, which has 7 digits in every precision: in double precision the other 9 digits of "
      "its value are lost; declare a real, or write float(...) if that is meant",
      variable->getName().str());
}

}  // namespace

std::optional<Assignment> assignment_in(const clang::Stmt* statement) {
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(statement); b && b->isAssignmentOp())
    return Assignment{b->getLHS(), b->getRHS(), b->getOpcodeStr().str()};
  if (const auto* c = llvm::dyn_cast<clang::CXXOperatorCallExpr>(statement);
      c && c->isAssignmentOp() && c->getNumArgs() == 2)
    return Assignment{c->getArg(0), c->getArg(1), clang::getOperatorSpelling(c->getOperator())};
  // An assignment to an array, which Clang refused.
  if (const auto* r = llvm::dyn_cast<clang::RecoveryExpr>(statement); r && r->subExpressions().size() == 2)
    return Assignment{r->subExpressions()[0], r->subExpressions()[1], "="};
  return std::nullopt;
}

bool always_returns(const clang::Stmt* statement) {
  if (!statement) return false;
  if (llvm::isa<clang::ReturnStmt>(statement)) return true;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt* s : block->body())
      if (always_returns(s)) return true;
    return false;
  }
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement))
    return always_returns(branch->getThen()) && always_returns(branch->getElse());
  return false;
}

void Lowering::execute(const clang::Stmt* statement) {
  if (++executed_ > kMaxStatements)
    throw Rejected{statement->getBeginLoc(),
                   fmt::format("the pipeline unrolls to more than {} statements", kMaxStatements)};
  if (graph_->size() > kMaxNodes)
    throw Rejected{statement->getBeginLoc(), fmt::format("the pipeline unrolls to more than {} operations", kMaxNodes)};
  if (llvm::isa<clang::NullStmt>(statement)) return;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt* s : block->body()) {
      execute(s);
      // Statements after an unconditional return are never reached.
      if (always_returns(s)) return;
    }
    return;
  }
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl* d : declaration->decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(d);
      if (!variable)
        throw Rejected{d->getLocation(),
                       "only variables can be declared inside a block; define functions at the top level"};
      define_local(variable);
    }
    return;
  }
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement)) return execute_if(branch);
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement)) return execute_for(loop);
  if (const auto* back = llvm::dyn_cast<clang::ReturnStmt>(statement)) return execute_return(back);
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) return execute_expression(expression);
  if (llvm::isa<clang::LabelStmt>(statement))
    throw Rejected{statement->getBeginLoc(), "a label is not in the language; write if and else"};
  throw Rejected{statement->getBeginLoc(), fmt::format("{} is not in the language", statement->getStmtClassName())};
}

void Lowering::define_local(const clang::VarDecl* variable) {
  const clang::SourceLocation where = variable->getLocation();
  if (variable->hasAttr<clang::AnnotateAttr>())
    throw Rejected{where, "a field is declared at the top level, not inside a block"};
  // C++ reads real(t) = 1 as a declaration of t.
  if (llvm::isa<clang::ParenType>(variable->getType().getTypePtr()))
    throw Rejected{where,
                   fmt::format("this declares a variable '{0}': write its name without parentheses; for a part of "
                               "a complex number write {0} = complex(1, imag({0}))",
                               variable->getName().str())};
  if (variable->getType()->isReferenceType())
    throw Rejected{where, "a reference is not in the language; declare a variable"};
  if (variable->getType()->getContainedAutoType() && variable->getInit())
    return set(variable, evaluate(variable->getInit()));
  set(variable, initial_value(variable, shape_of(variable->getType(), where)));
}

// The initial value from the declaration; components without one are unset.
Value Lowering::initial_value(const clang::VarDecl* variable, Shape shape) {
  const clang::SourceLocation where = variable->getLocation();
  const clang::Expr* initial = variable->getInit();
  Value value{shape, std::vector<NodeId>(std::size_t(shape.components()), kUnset)};
  if (!initial) return value;
  // A vector without initialiser, or an array of them: Clang calls the default constructor.
  const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(initial->IgnoreImplicit());
  if (construct && construct->getNumArgs() == 0) return value;
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(initial->IgnoreImplicit());
  // The list of the prelude's type of arrays has one member, which has the elements.
  if (list && list->getType()->isRecordType() && list->getNumInits() == 1)
    if (const auto* elements = llvm::dyn_cast<clang::InitListExpr>(list->getInit(0)->IgnoreImplicit())) list = elements;
  if (!list || shape.length == 0) {
    const Value given = evaluate(initial);
    if (loses_digits(*graph_, given, shape)) report(Severity::Warning, where, float_warning(variable));
    return convert(given, shape, where);
  }
  // Elements missing in the list are zero, as in C++.
  std::ranges::fill(value.parts, graph_->constant(0, shape.scalar));
  fill(value, 0, shape, list, where);
  return value;
}

// Fills elements, or rows of elements, from component `first` on.
void Lowering::fill(Value& value, std::size_t first, Shape shape, const clang::InitListExpr* list,
                    clang::SourceLocation where) {
  Shape part = shape.of_element();
  part.length = shape.columns;
  for (unsigned k = 0; k < list->getNumInits(); ++k, first += std::size_t(part.components())) {
    const clang::Expr* const initial = list->getInit(k)->IgnoreImplicit();
    const auto* empty = llvm::dyn_cast<clang::CXXConstructExpr>(initial);
    if (llvm::isa<clang::ImplicitValueInitExpr>(list->getInit(k)) || (empty && empty->getNumArgs() == 0)) continue;
    if (const auto* row = llvm::dyn_cast<clang::InitListExpr>(initial); row && part.length > 0) {
      fill(value, first, part, row, where);
      continue;
    }
    const Value element = convert(evaluate(list->getInit(k)), part, where);
    std::ranges::copy(element.parts, value.parts.begin() + std::ptrdiff_t(first));
  }
}

void Lowering::assign(const LValue& lvalue, Value value, clang::SourceLocation where) {
  const clang::VarDecl* variable = lvalue.variable;
  const std::string name = variable->getName().str();
  if (auto field = fields_.find(variable); field != fields_.end()) {
    const Field& f = pipeline_.fields[std::size_t(field->second)];
    if (f.role != Role::Output)
      throw Rejected{
          where, fmt::format("{} '{}' is read only; copy it into a variable to change it", nbcc::name(f.role), f.name)};
    if (!finishing_) throw Rejected{where, how_to_change(f)};
  }
  const auto found = environment_.find(variable);
  if (found == environment_.end()) throw Rejected{where, fmt::format("'{}' cannot be assigned", name)};
  if (!frames_.empty() && !variable->isLocalVarDeclOrParm())
    throw Rejected{where, fmt::format("function '{}' may change its own variables only, not '{}'; return the value",
                                      frames_.back().function->getName().str(), name)};
  if (finishing_ && !variable->isLocalVarDeclOrParm() && !output_of(variable))
    throw Rejected{where, fmt::format("finish() may change outputs and its own variables only, not '{}'", name)};
  if (variable->getType().isConstQualified()) throw Rejected{where, fmt::format("'{}' is const", name)};
  if (llvm::isa<clang::ParmVarDecl>(variable) && is_array_parameter(variable->getType()))
    throw Rejected{where,
                   fmt::format("the array '{}' belongs to the caller of the function; copy it to change it", name)};
  if (!fields_.contains(variable) && loses_digits(*graph_, value, lvalue.shape))
    report(Severity::Warning, where, float_warning(variable));
  value = convert(value, lvalue.shape, where);
  Value whole = found->second;
  for (NodeId& part : value.parts) mark_variable(variable, part);
  std::copy(value.parts.begin(), value.parts.end(), whole.parts.begin() + lvalue.first);
  replace(variable, std::move(whole));
}

void Lowering::set(const clang::VarDecl* variable, Value value) {
  for (NodeId& part : value.parts) mark_variable(variable, part);
  replace(variable, std::move(value));
}

// All changes of variables are made here, so that the changes of an if's branch can be undone.
void Lowering::replace(const clang::VarDecl* variable, Value value) {
  if (bindings_) record_binding(variable, value);
  Value& present = environment_[variable];
  if (!branches_.empty()) branches_.back().try_emplace(variable, present);
  present = std::move(value);
}

void Lowering::record_binding(const clang::VarDecl* variable, const Value& value) {
  const Location where = location(variable->getLocation());
  Binding& all = bindings_->try_emplace({where.line, where.column}, Binding::Constant).first->second;
  for (const NodeId part : value.parts)
    if (part >= 0) all = nbcc::join(all, (*graph_)[part].binding);
}

// Restores the values before the branch, and returns the changed variables with the values after it. A variable
// declared in the branch had no components before.
Lowering::Environment Lowering::end_branch() {
  Environment changed = std::move(branches_.back());
  branches_.pop_back();
  for (auto& [variable, value] : changed) {
    std::swap(environment_[variable], value);
    if (environment_[variable].parts.empty()) environment_.erase(variable);
  }
  return changed;
}

NodeId Lowering::conjunction(NodeId a, NodeId b) {
  if (a == kNone) return b;
  if (b == kNone) return a;
  return binary(Op::And, a, b, {});
}

void Lowering::execute_if(const clang::IfStmt* statement) {
  if (statement->getInit() || statement->getConditionVariable())
    throw Rejected{
        statement->getBeginLoc(),
        "a declaration inside the condition of an if is not in the language; declare the variable before it"};
  if (statement->isConstexpr())
    throw Rejected{statement->getBeginLoc(),
                   "if constexpr is not in the language; a plain if on a constant costs nothing"};
  const NodeId yes = condition(statement->getCond());
  if (graph_->is_constant(yes)) {
    const clang::Stmt* taken = graph_->constant_value(yes) != 0 ? statement->getThen() : statement->getElse();
    if (taken) execute(taken);
    return;
  }
  const NodeId outer = path_;
  const NodeId no = unary(Op::Not, yes, statement->getBeginLoc());
  branches_.emplace_back();
  path_ = conjunction(outer, yes);
  execute(statement->getThen());
  const Environment after_yes = end_branch();
  branches_.emplace_back();
  path_ = conjunction(outer, no);
  if (statement->getElse()) execute(statement->getElse());
  const Environment after_no = end_branch();
  path_ = outer;
  // If one branch returns, only the other one's values are used afterwards.
  const bool yes_returns = always_returns(statement->getThen());
  if (!yes_returns && !always_returns(statement->getElse()))
    return join(after_yes, after_no, yes, location(statement->getBeginLoc()).line);
  for (const auto& [variable, value] : yes_returns ? after_no : after_yes)
    if (environment_.count(variable)) replace(variable, value);
}

void Lowering::join(const Environment& yes, const Environment& no, NodeId condition, int line) {
  Environment changed = yes;
  changed.insert(no.begin(), no.end());
  for (auto& [variable, value] : changed) {
    const auto before = environment_.find(variable);
    if (before == environment_.end()) continue;  // declared inside the branch
    const auto in_yes = yes.find(variable), in_no = no.find(variable);
    const Value& a = in_yes == yes.end() ? before->second : in_yes->second;
    const Value& b = in_no == no.end() ? before->second : in_no->second;
    Value joined = before->second;
    for (std::size_t c = 0; c < joined.parts.size(); ++c) {
      const NodeId pa = a.parts[c], pb = b.parts[c];
      if (pa == pb)
        joined.parts[c] = pa;
      else if (pa == kPoisoned || pb == kPoisoned)
        joined.parts[c] = kPoisoned;
      else if (pa < 0 || pb < 0) {
        joined.parts[c] = kHalfSet;
        if (pa != kHalfSet && pb != kHalfSet) half_set_line_[variable] = line;
      } else {
        joined.parts[c] = select(condition, pa, pb, {});
        mark_variable(variable, joined.parts[c]);
      }
    }
    replace(variable, std::move(joined));
  }
}

void Lowering::execute_for(const clang::ForStmt* statement) {
  const clang::SourceLocation where = statement->getBeginLoc();
  if (statement->getInit()) execute(statement->getInit());
  if (!statement->getCond())
    throw Rejected{where, "this loop has no end; write 'for (int k = 0; k < N; ++k)' with a constant N"};
  for (int round = 0;; ++round) {
    const NodeId more = condition(statement->getCond());
    if (!graph_->is_constant(more))
      throw Rejected{statement->getCond()->getBeginLoc(),
                     "the trip count of a for must be a constant, and this condition depends on data"};
    if (graph_->constant_value(more) == 0) return;
    if (round == kMaxRounds)
      throw Rejected{
          where, fmt::format("this loop does not end within {} rounds; its trip count must be a constant", kMaxRounds)};
    execute(statement->getBody());
    if (statement->getInc()) execute_expression(statement->getInc());
  }
}

void Lowering::execute_return(const clang::ReturnStmt* statement) {
  if (frames_.empty())
    throw Rejected{statement->getBeginLoc(), finishing_ ? "return is not allowed in finish(); put the rest under an if"
                                                        : "return is not allowed outside a function"};
  Frame& frame = frames_.back();
  if (!statement->getRetValue() && frame.function->getReturnType()->isVoidType())
    throw Rejected{statement->getBeginLoc(),
                   "a function that returns nothing ends at its end; put the rest under an if"};
  if (!statement->getRetValue())
    throw Rejected{statement->getBeginLoc(),
                   fmt::format("function '{}' must return a value", frame.function->getName().str())};
  Value value = evaluate(statement->getRetValue());
  frames_.back().returned.emplace_back(path_, std::move(value));
}

void Lowering::execute_expression(const clang::Expr* expression) {
  expression = expression->IgnoreParens();
  if (const auto* cleanups = llvm::dyn_cast<clang::ExprWithCleanups>(expression))
    return execute_expression(cleanups->getSubExpr());
  const clang::SourceLocation where = expression->getExprLoc();
  if (llvm::isa<clang::RecoveryExpr>(expression) && !allow_array_assignment(expression)) throw Rejected{where, ""};
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(expression); b && b->getOpcode() == clang::BO_Comma) {
    execute_expression(b->getLHS());
    return execute_expression(b->getRHS());
  }
  if (reduce(expression)) return;
  if (execute_assignment(expression)) return;
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(expression); u && u->isIncrementDecrementOp()) {
    const LValue lvalue = lvalue_of(u->getSubExpr());
    const Value one{{Type::Int, 0, 1}, {graph_->constant(1, Type::Int)}};
    return assign(lvalue, arithmetic(u->isIncrementOp() ? Op::Add : Op::Sub, read(lvalue, where), one, where), where);
  }
  if (const auto* c = llvm::dyn_cast<clang::CallExpr>(expression); c && !llvm::isa<clang::CXXOperatorCallExpr>(c))
    return execute_call(c);
  throw Rejected{expression->getBeginLoc(), "this statement has no effect"};
}

// Returns false if the expression is no assignment.
bool Lowering::execute_assignment(const clang::Expr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const auto assignment = assignment_in(expression);
  if (!assignment) return false;
  const auto& [left, right, sign] = *assignment;
  const LValue lvalue = lvalue_of(left);
  if (sign == "=") return assign(lvalue, evaluate(right), where), true;
  assign(lvalue, combine(sign, left, read(lvalue, where), right, evaluate(right), where), where);
  return true;
}

void Lowering::execute_call(const clang::CallExpr* expression) {
  const clang::FunctionDecl* function = expression->getDirectCallee();
  const std::string name = function && function->getIdentifier() ? function->getName().str() : "";
  if (name == "skip_if") return call_skip_if(expression);
  if (name == "sincos") return call_sincos(expression);
  if (name == "finish")
    throw Rejected{expression->getExprLoc(), "finish() is called by nbcc, once for each i after its sum"};
  if (function && !in_prelude(function) && function->getReturnType()->isVoidType())
    return call_for_results(expression, function);
  evaluate(expression);
  throw Rejected{expression->getBeginLoc(),
                 fmt::format("the value of '{}' is not used, so that this statement has no effect", name)};
}

}  // namespace nbcc::lowering
