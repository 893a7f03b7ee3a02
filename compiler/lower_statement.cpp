// Statements -> changes of the environment and contributions. Part of lowering (lower.h); one door: execute().
#include <fmt/core.h>

#include "compiler/lower.h"

namespace nbcc::lowering {

namespace {
// More than any pipeline that a person writes; an unrolled loop that exceeds it would take minutes to compile.
constexpr int kMaxStatements = 100'000;
constexpr NodeId kMaxNodes = 200'000;

const char* construct_name(const clang::Stmt* statement) {
  switch (statement->getStmtClass()) {
    case clang::Stmt::WhileStmtClass: return "a while loop";
    case clang::Stmt::DoStmtClass: return "a do loop";
    case clang::Stmt::CXXForRangeStmtClass: return "a range-based for";
    case clang::Stmt::SwitchStmtClass: return "switch";
    case clang::Stmt::GotoStmtClass: return "goto";
    case clang::Stmt::LabelStmtClass: return "a label";
    case clang::Stmt::BreakStmtClass: return "break";
    case clang::Stmt::ContinueStmtClass: return "continue";
    case clang::Stmt::CXXTryStmtClass: return "an exception";
    default: return nullptr;
  }
}

}  // namespace

bool always_returns(const clang::Stmt* statement) {
  if (!statement) return false;
  if (llvm::isa<clang::ReturnStmt>(statement)) return true;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt* s : block->body())
      if (always_returns(s)) return true;
    return false;
  }
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement)) return always_returns(branch->getThen()) && always_returns(branch->getElse());
  return false;
}
void Lowering::execute(const clang::Stmt* statement) {
  if (++executed_ > kMaxStatements) throw Rejected{statement->getBeginLoc(), fmt::format("the pipeline unrolls to more than {} statements", kMaxStatements)};
  if (graph_->size() > kMaxNodes) throw Rejected{statement->getBeginLoc(), fmt::format("the pipeline unrolls to more than {} operations", kMaxNodes)};
  if (llvm::isa<clang::NullStmt>(statement)) return;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt* s : block->body()) {
      execute(s);
      // What stands behind an unconditional return is never reached.
      if (always_returns(s)) return;
    }
    return;
  }
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl* d : declaration->decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(d);
      if (!variable) throw Rejected{d->getLocation(), "only variables can be declared inside a block"};
      define_local(variable);
    }
    return;
  }
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement)) return execute_if(branch);
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement)) return execute_for(loop);
  if (const auto* back = llvm::dyn_cast<clang::ReturnStmt>(statement)) return execute_return(back);
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) return execute_expression(expression);
  const char* construct = construct_name(statement);
  throw Rejected{statement->getBeginLoc(), fmt::format("{} is not in the language", construct ? construct : statement->getStmtClassName())};
}

void Lowering::define_local(const clang::VarDecl* variable) {
  const clang::SourceLocation where = variable->getLocation();
  if (variable->getType()->isReferenceType()) throw Rejected{where, "a reference is not in the language"};
  const clang::Expr* initial = variable->getInit();
  const bool is_auto = variable->getType()->getContainedAutoType() != nullptr;
  if (is_auto && initial) {
    environment_[variable] = evaluate(initial);
    return;
  }
  const Shape shape = shape_of(variable->getType(), where);
  Value value{shape, std::vector<NodeId>(std::size_t(shape.components()), kUnset)};
  if (initial) {
    const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(initial->IgnoreImplicit());
    const bool default_vector = construct && construct->getNumArgs() == 0;
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(initial); list && shape.length > 0) {
      // Elements that the list leaves out are zero, as in C++.
      for (int k = 0; k < shape.components(); ++k) value.parts[std::size_t(k)] = graph_->constant(0, shape.scalar);
      for (unsigned k = 0; k < list->getNumInits(); ++k) {
        if (llvm::isa<clang::ImplicitValueInitExpr>(list->getInit(k))) continue;
        const Value part = convert(evaluate(list->getInit(k)), {shape.scalar, 0, shape.width}, where);
        for (int c = 0; c < shape.width; ++c) value.parts[k * std::size_t(shape.width) + std::size_t(c)] = part.parts[std::size_t(c)];
      }
    } else if (shape.length > 0) {
      // An array of vectors without initializer: Clang calls the default constructor.
    } else if (!default_vector) {
      value = convert(evaluate(initial), shape, where);
    }
  }
  environment_[variable] = value;
}

void Lowering::assign(const Place& place, Value value, clang::SourceLocation where) {
  const clang::VarDecl* variable = place.variable;
  if (auto field = fields_.find(variable); field != fields_.end()) {
    const Field& f = pipeline_.fields[std::size_t(field->second)];
    if (f.role != Role::Output) throw Rejected{where, fmt::format("{} '{}' is read only", name(f.role), f.name)};
    if (!finishing_)
      throw Rejected{where, f.reduction == Reduction::Sum ? fmt::format("output(sum) '{0}' is changed by '{0} += ...' or '{0} -= ...' only", f.name)
                                                          : fmt::format("output({0}) '{1}' is changed by '{1} = {0}({1}, ...)' only", name(f.reduction), f.name)};
  }
  auto found = environment_.find(variable);
  if (found == environment_.end()) throw Rejected{where, fmt::format("'{}' cannot be assigned", variable->getName().str())};
  if (!frames_.empty() && !variable->isLocalVarDeclOrParm())
    throw Rejected{where, fmt::format("function '{}' may change its own variables only, not '{}'", frames_.back().function->getName().str(), variable->getName().str())};
  if (variable->getType().isConstQualified()) throw Rejected{where, fmt::format("'{}' is const", variable->getName().str())};
  value = convert(value, place.shape, where);
  for (int c = 0; c < place.shape.components(); ++c) found->second.parts[std::size_t(place.first + c)] = value.parts[std::size_t(c)];
}

NodeId Lowering::both(NodeId a, NodeId b) {
  if (a == kNone) return b;
  if (b == kNone) return a;
  return binary(Op::And, a, b, {});
}

void Lowering::execute_if(const clang::IfStmt* statement) {
  if (statement->getInit() || statement->getConditionVariable()) throw Rejected{statement->getBeginLoc(), "a declaration inside the condition of an if is not in the language"};
  if (statement->isConstexpr()) throw Rejected{statement->getBeginLoc(), "if constexpr is not in the language; a plain if on a constant costs nothing"};
  const NodeId yes = condition(statement->getCond());
  if (graph_->is_constant(yes)) {
    const clang::Stmt* taken = graph_->constant_value(yes) != 0 ? statement->getThen() : statement->getElse();
    if (taken) execute(taken);
    return;
  }
  const NodeId outer = path_;
  const NodeId no = unary(Op::Not, yes, statement->getBeginLoc());
  const Environment before = environment_;
  path_ = both(outer, yes);
  execute(statement->getThen());
  Environment after_yes = std::move(environment_);
  environment_ = before;
  path_ = both(outer, no);
  if (statement->getElse()) execute(statement->getElse());
  path_ = outer;
  const Environment after_no = std::move(environment_);
  environment_ = before;
  // A branch that has returned no longer matters to what follows.
  if (always_returns(statement->getThen())) environment_ = after_no;
  else if (statement->getElse() && always_returns(statement->getElse())) environment_ = after_yes;
  else join(after_yes, after_no, yes, location(statement->getBeginLoc()).line);
}

void Lowering::join(const Environment& yes, const Environment& no, NodeId condition, int line) {
  for (auto& [variable, value] : environment_) {
    const Value& a = yes.at(variable);
    const Value& b = no.at(variable);
    for (std::size_t c = 0; c < value.parts.size(); ++c) {
      const NodeId pa = a.parts[c], pb = b.parts[c];
      if (pa == pb) value.parts[c] = pa;
      else if (pa == kPoisoned || pb == kPoisoned) value.parts[c] = kPoisoned;
      else if (pa < 0 || pb < 0) {
        value.parts[c] = kHalfSet;
        if (!half_set_line_.count(variable)) half_set_line_[variable] = line;
      } else value.parts[c] = select(condition, pa, pb, {});
    }
  }
}

void Lowering::execute_for(const clang::ForStmt* statement) {
  const clang::SourceLocation where = statement->getBeginLoc();
  if (statement->getInit()) execute(statement->getInit());
  if (!statement->getCond()) throw Rejected{where, "this loop has no end: its trip count must be a constant"};
  for (;;) {
    const NodeId more = condition(statement->getCond());
    if (!graph_->is_constant(more)) throw Rejected{statement->getCond()->getBeginLoc(), "the trip count of a for must be a constant: this condition depends on data"};
    if (graph_->constant_value(more) == 0) return;
    execute(statement->getBody());
    if (statement->getInc()) execute_expression(statement->getInc());
    if (++executed_ > kMaxStatements) throw Rejected{where, fmt::format("this loop does not end within {} statements", kMaxStatements)};
  }
}

void Lowering::execute_return(const clang::ReturnStmt* statement) {
  if (frames_.empty()) throw Rejected{statement->getBeginLoc(), finishing_ ? "return is not allowed in finish()" : "return has no place outside a function"};
  Frame& frame = frames_.back();
  if (!statement->getRetValue()) throw Rejected{statement->getBeginLoc(), fmt::format("function '{}' must return a value", frame.function->getName().str())};
  Value value = evaluate(statement->getRetValue());
  frames_.back().returned.emplace_back(path_, std::move(value));
}

void Lowering::execute_expression(const clang::Expr* expression) {
  expression = expression->IgnoreParens();
  if (const auto* cleanups = llvm::dyn_cast<clang::ExprWithCleanups>(expression)) return execute_expression(cleanups->getSubExpr());
  const clang::SourceLocation where = expression->getExprLoc();
  if (!finishing_ && reduce(expression)) return;
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    if (b->getOpcode() == clang::BO_Comma) {
      execute_expression(b->getLHS());
      return execute_expression(b->getRHS());
    }
    if (b->isAssignmentOp()) {
      const Place place = place_of(b->getLHS());
      if (const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(b)) {
        Op op;
        switch (compound->getOpcode()) {
          case clang::BO_AddAssign: op = Op::Add; break;
          case clang::BO_SubAssign: op = Op::Sub; break;
          case clang::BO_MulAssign: op = Op::Mul; break;
          case clang::BO_DivAssign: op = Op::Div; break;
          case clang::BO_RemAssign: op = Op::Rem; break;
          default: throw Rejected{where, fmt::format("the operator '{}' is not in the language", compound->getOpcodeStr().str())};
        }
        return assign(place, arithmetic(op, read(place, where), evaluate(b->getRHS()), where), where);
      }
      return assign(place, evaluate(b->getRHS()), where);
    }
  }
  if (const auto* c = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression)) {
    const auto op = c->getOperator();
    if (op == clang::OO_Equal) return assign(place_of(c->getArg(0)), evaluate(c->getArg(1)), where);
    const bool compound = op == clang::OO_PlusEqual || op == clang::OO_MinusEqual || op == clang::OO_StarEqual || op == clang::OO_SlashEqual;
    if (compound) {
      const Place place = place_of(c->getArg(0));
      const Op arithmetic_op = op == clang::OO_PlusEqual ? Op::Add : op == clang::OO_MinusEqual ? Op::Sub : op == clang::OO_StarEqual ? Op::Mul : Op::Div;
      return assign(place, arithmetic(arithmetic_op, read(place, where), evaluate(c->getArg(1)), where), where);
    }
  }
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(expression); u && u->isIncrementDecrementOp()) {
    const Place place = place_of(u->getSubExpr());
    const Value one{{Type::Int, 0, 1}, {graph_->constant(1, Type::Int)}};
    return assign(place, arithmetic(u->isIncrementOp() ? Op::Add : Op::Sub, read(place, where), one, where), where);
  }
  if (const auto* c = llvm::dyn_cast<clang::CallExpr>(expression); c && c->getDirectCallee() && !llvm::isa<clang::CXXOperatorCallExpr>(c)) {
    const std::string callee = c->getDirectCallee()->getName().str();
    if (callee == "skip_if") return call_skip_if(c);
    if (callee == "sincos") return call_sincos(c);
    if (callee == "finish") throw Rejected{where, "finish() is called by nbcc, once for each i after its sum"};
  }
  throw Rejected{expression->getBeginLoc(), "this statement has no effect"};
}

// ---- contributions ----------------------------------------------------------------------------------------------

const Field* Lowering::output_of(const clang::VarDecl* variable) const {
  const auto found = fields_.find(variable);
  if (found == fields_.end()) return nullptr;
  const Field& field = pipeline_.fields[std::size_t(found->second)];
  return field.role == Role::Output ? &field : nullptr;
}

// `acc += e`, `acc -= e`, `m = max(m, e)`, `near = argmin(near, e)`. False if the expression changes no output.
bool Lowering::reduce(const clang::Expr* expression) {
  const clang::Expr *left = nullptr, *right = nullptr;
  enum { Plus, Minus, Assign, Other } kind = Other;
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(expression); b && b->isAssignmentOp()) {
    left = b->getLHS();
    right = b->getRHS();
    kind = b->getOpcode() == clang::BO_AddAssign ? Plus : b->getOpcode() == clang::BO_SubAssign ? Minus : b->getOpcode() == clang::BO_Assign ? Assign : Other;
  } else if (const auto* c = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression); c && c->getNumArgs() == 2 && c->isAssignmentOp()) {
    left = c->getArg(0);
    right = c->getArg(1);
    kind = c->getOperator() == clang::OO_PlusEqual ? Plus : c->getOperator() == clang::OO_MinusEqual ? Minus : c->getOperator() == clang::OO_Equal ? Assign : Other;
  }
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(expression); u && u->isIncrementDecrementOp()) {
    const Place place = place_of(u->getSubExpr());
    if (!output_of(place.variable)) return false;
    const Value one{{Type::Real, 0, 1}, {graph_->constant(u->isIncrementOp() ? 1 : -1)}};
    contribute(place, one, Reduction::Sum, expression->getExprLoc());
    return true;
  }
  if (!left) return false;
  const Place place = place_of(left);
  const Field* field = output_of(place.variable);
  if (!field) return false;
  const clang::SourceLocation where = expression->getExprLoc();
  if (kind == Plus || kind == Minus) {
    reduce_sum(place, right, kind == Minus, where);
    return true;
  }
  if (kind == Assign && reduce_by_call(place, right, where)) return true;
  if (field->reduction == Reduction::Sum) throw Rejected{where, fmt::format("output(sum) '{0}' is changed by '{0} += ...' or '{0} -= ...' only", field->name)};
  throw Rejected{where, fmt::format("output({0}) '{1}' is changed by '{1} = {0}({1}, ...)' only", name(field->reduction), field->name)};
}

void Lowering::reduce_sum(const Place& place, const clang::Expr* term, bool negative, clang::SourceLocation where) {
  Value value = evaluate(term);
  if (negative)
    for (NodeId& part : value.parts) part = unary(Op::Neg, part, where);
  contribute(place, value, Reduction::Sum, where);
}

bool Lowering::reduce_by_call(const Place& place, const clang::Expr* right, clang::SourceLocation where) {
  const clang::Expr* plain = right->IgnoreParenImpCasts();
  while (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(plain)) {
    if (construct->getNumArgs() != 1) return false;
    plain = construct->getArg(0)->IgnoreImplicit()->IgnoreParenImpCasts();
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(plain->IgnoreImplicit()->IgnoreParenImpCasts());
  if (!call || !call->getDirectCallee() || !call->getDirectCallee()->getIdentifier() || call->getNumArgs() != 2) return false;
  const std::string callee = call->getDirectCallee()->getName().str();
  Reduction reduction;
  if (callee == "min") reduction = Reduction::Min;
  else if (callee == "max") reduction = Reduction::Max;
  else if (callee == "argmin") reduction = Reduction::ArgMin;
  else if (callee == "argmax") reduction = Reduction::ArgMax;
  else return false;
  const auto is_same_place = [&](const clang::Expr* e) {
    const clang::Expr* p = e->IgnoreImplicit()->IgnoreParenImpCasts();
    while (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(p)) {
      if (construct->getNumArgs() != 1) return false;
      p = construct->getArg(0)->IgnoreImplicit()->IgnoreParenImpCasts();
    }
    if (!llvm::isa<clang::DeclRefExpr, clang::MemberExpr, clang::ArraySubscriptExpr, clang::CXXOperatorCallExpr>(p)) return false;
    if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(p); o && o->getOperator() != clang::OO_Subscript) return false;
    const Place other = place_of(p);
    return other.variable == place.variable && other.first == place.first && other.shape.components() == place.shape.components();
  };
  const bool arg = reduction == Reduction::ArgMin || reduction == Reduction::ArgMax;
  const clang::Expr* term = nullptr;
  if (is_same_place(call->getArg(0))) term = call->getArg(1);
  else if (!arg && is_same_place(call->getArg(1))) term = call->getArg(0);
  else return false;
  contribute(place, evaluate(term), reduction, where);
  return true;
}

void Lowering::contribute(const Place& place, const Value& value, Reduction reduction, clang::SourceLocation where) {
  const Field& field = *output_of(place.variable);
  if (!frames_.empty()) throw Rejected{where, fmt::format("output '{}' can only be changed at the top level, not in a function", field.name)};
  if (field.reduction != reduction)
    throw Rejected{where, fmt::format("output '{}' is declared output({}) and cannot take part in a {}", field.name, name(field.reduction), name(reduction))};
  if (place.shape.components() != int(value.parts.size()) || place.shape.width != value.shape.width)
    throw Rejected{where, fmt::format("output '{}' has {} components here, the value {}", field.name, place.shape.components(), value.parts.size())};
  for (int c = 0; c < place.shape.components(); ++c) {
    NodeId part = value.parts[std::size_t(c)];
    // Whole numbers are summed in double, where they stay exact to 2^53; what is compared keeps its own precision.
    const Type type = (*graph_)[part].type;
    if (field.type == Type::Int || (field.type == Type::Index && reduction != Reduction::ArgMin && reduction != Reduction::ArgMax)) part = cast(cast(part, field.type, where), Type::Double, where);
    else if (type < Type::Float) part = cast(part, Type::Real, where);
    else if (field.type == Type::Double && reduction != Reduction::ArgMin && reduction != Reduction::ArgMax) part = cast(part, Type::Double, where);
    else if (field.type == Type::Real && type == Type::Double) part = cast(part, Type::Real, where);
    else if (type == Type::Float) part = cast(part, Type::Real, where);
    contributed_[std::size_t(field.first + place.first + c)].push_back({path_, part});
  }
  written_[fields_.at(place.variable)] = true;
}

}  // namespace nbcc::lowering
