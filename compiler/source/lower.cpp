// Clang's AST -> Pipeline: the top level. Declarations and statements are executed in order, contributions are joined,
// finish() is lowered last. Entry point: lower(). Fields, statements, reductions, expressions and calls are in the
// other lower_*.cpp.
#include "compiler/source/lower.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "compiler/source/vocabulary.h"

namespace nbcc {

Pipeline lower(clang::ASTContext& context, const Prescanned& prescanned, const Source& source,
               std::vector<Diagnostic>& diagnostics, std::vector<Diagnostic>& array_assignments,
               VariableBindings* bindings) {
  return lowering::Lowering(context, prescanned, source, diagnostics, array_assignments, bindings).run();
}

namespace lowering {

namespace {
// Limits on the diagnostics of a run. They also bound the time spent on a text that is wrong in every line.
constexpr int kMaxErrors = 20;
constexpr std::size_t kMaxWarnings = 100;
}  // namespace

Location Lowering::location(clang::SourceLocation where) const {
  if (where.isInvalid()) return {};
  const clang::SourceManager& manager = context_.getSourceManager();
  const clang::PresumedLoc presumed = manager.getPresumedLoc(manager.getExpansionLoc(where));
  return presumed.isValid() ? Location{int(presumed.getLine()), int(presumed.getColumn())} : Location{};
}

void Lowering::report(Severity severity, clang::SourceLocation where, std::string message) {
  Diagnostic diagnostic{severity, location(where), std::move(message)};
  if (severity == Severity::Warning && reported_.size() >= kMaxWarnings) return;
  // Unrolled loops and functions called twice repeat their diagnostics; each is reported once.
  if (!reported_.emplace(diagnostic.where.line, diagnostic.where.column, diagnostic.message).second) return;
  errors_ += severity == Severity::Error;
  diagnostics_.push_back(std::move(diagnostic));
}

bool Lowering::in_prelude(const clang::Decl* declaration) const {
  const clang::SourceManager& manager = context_.getSourceManager();
  return !manager.isInMainFile(manager.getExpansionLoc(declaration->getLocation()));
}

// Runs the action for one top-level statement. A rejection becomes a diagnostic, and the variables that the statement
// would have set are poisoned.
template <typename Action>
bool Lowering::attempt(const clang::Stmt* statement, Action action) {
  try {
    action();
    return true;
  } catch (const Rejected& rejected) {
    if (!rejected.message.empty()) report(Severity::Error, rejected.where, rejected.message);
    while (!branches_.empty()) end_branch();
    path_ = kNone;
    frames_.clear();
    if (statement) poison(statement);
    return false;
  }
}

// Poisons the variables that the statement, or a function that it calls, may assign.
void Lowering::poison(const clang::Stmt* statement) {
  if (const auto assignment = assignment_in(statement)) poison_variable(assignment->left);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement); call && call->getType()->isVoidType())
    for (const clang::Expr* argument : call->arguments())
      if (argument->isLValue()) poison_variable(argument);
  for (const clang::Stmt* child : statement->children())
    if (child) poison(child);
}

void Lowering::poison_variable(const clang::Expr* target) {
  for (const clang::Expr* outer = nullptr; outer != target;) {
    outer = target = target->IgnoreParenImpCasts();
    if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(target))
      target = m->getBase();
    else if (const auto* s = llvm::dyn_cast<clang::ArraySubscriptExpr>(target))
      target = s->getBase();
    else if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(target))
      target = o->getArg(0);
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(target))
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      if (auto found = environment_.find(variable); found != environment_.end())
        std::ranges::fill(found->second.parts, kPoisoned);
}

void Lowering::declare(const clang::Decl* declaration) {
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) return declare_function(function);
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
  if (!variable)
    throw Rejected{declaration->getLocation(), fmt::format("a declaration of this kind ({}) is not in the language",
                                                           declaration->getDeclKindName())};
  if (const auto* annotate = variable->getAttr<clang::AnnotateAttr>()) {
    llvm::StringRef annotation = annotate->getAnnotation();
    if (annotation.consume_front("nbcc:")) return declare_field(variable, annotation);
  }
  define_local(variable);
}

// A function's body is lowered at each call.
void Lowering::declare_function(const clang::FunctionDecl* function) {
  const clang::SourceLocation where = function->getLocation();
  const std::string name = function->getNameAsString();
  if (is_built_in(name) && !is_later_function(name))
    throw Rejected{where, fmt::format("'{}' is built in; choose another name", name)};
  if (function->hasAttr<clang::AnnotateAttr>())
    throw Rejected{where, fmt::format("'{}' is a function; only a variable can be a field", name)};
  if (name == "finish" && !function->hasBody())
    throw Rejected{where, "finish is declared but has no body; write 'void finish() { ... }'"};
  // The body may follow later. C++ reads complex c(real(z)) as a declaration of a function.
  if (!function->hasBody())
    throw Rejected{where,
                   fmt::format("function '{0}' is declared but has no body; a variable is written {0} = ...", name)};
}

Pipeline Lowering::run() {
  pipeline_.name = source_.name();
  pipeline_.dialect = prescanned_.dialect;
  pipeline_.flops = prescanned_.flops;
  if (pipeline_.dialect == Dialect::Cunbody) declare_cunbody_arrays();
  find_variables();
  const clang::FunctionDecl* finish = nullptr;
  for (const clang::Decl* declaration : context_.getTranslationUnitDecl()->decls()) {
    if (errors_ >= kMaxErrors) break;
    if (declaration->isImplicit() || in_prelude(declaration) || llvm::isa<clang::EmptyDecl>(declaration)) continue;
    if (const auto* top = llvm::dyn_cast<clang::TopLevelStmtDecl>(declaration)) {
      attempt(top->getStmt(), [&] { execute(top->getStmt()); });
    } else if (!attempt(nullptr, [&] { declare(declaration); })) {
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) broken_.insert(variable);
    }
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
      if (function->getName() == "finish" && function->isThisDeclarationADefinition()) finish = function;
  }
  if (pipeline_.components(Role::Output) == 0 && !has_errors(diagnostics_) && array_assignments_.empty())
    diagnostics_.push_back(
        {Severity::Error, prescanned_.end,
         "the pipeline has no output: declare one as 'output(sum) real name;', or write OUTPUT[k] += ..."});
  if (measuring_) {
    if (finish) attempt(nullptr, [&] { lower_finish(finish); });
    return {};
  }
  check_payloads();
  if (has_errors(diagnostics_)) {
    allow_in_unexecuted_code();
    return std::move(pipeline_);
  }
  gather_histograms();
  combine_contributions();
  if (finish) attempt(nullptr, [&] { lower_finish(finish); });
  allow_in_unexecuted_code();
  if (!has_errors(diagnostics_) && array_assignments_.empty()) {
    remove_marks();
    attempt(nullptr, [&] { check_images(); });
    warn_unused();
    move_tables_last();
  }
  return std::move(pipeline_);
}

// Joins several contributions to one output: under their common guard, or else each selected by its own guard.
void Lowering::combine_contributions() {
  for (int component = 0; component < int(contributed_.size()); ++component) {
    auto& parts = contributed_[std::size_t(component)];
    const Field& field = pipeline_.field_of(Role::Output, component);
    const auto has_guard = [&](const Contributed& c) { return c.guard == parts[0].guard; };
    const auto is_whole = [&](const Contributed& c) { return (*graph_)[c.value].type == Type::Index; };
    const Op op = combining_operation(field.reduction);
    // More than 16 ones per pair: a float would not count them exactly over a tile.
    if (field.reduction == Reduction::Count && parts.size() > 16)
      for (Contributed& part : parts) part.value = cast(part.value, Type::Double, {});
    // Integers together with floating point values: float would round the integers.
    if (std::ranges::any_of(parts, is_whole) && !std::ranges::all_of(parts, is_whole))
      for (Contributed& part : parts) part.value = cast(part.value, Type::Double, {});
    Contribution joined;
    if (parts.empty()) {
      joined.value = unwritten_value(field);  // see warn_unwritten()
      if (field.reduction == Reduction::Softmax) joined.logit = graph_->constant(-HUGE_VAL);
    } else if (field.reduction == Reduction::Histogram) {
      joined = {parts[0].value, parts[0].guard, kNone, parts[0].logit};
    } else if (is_exponential(field.reduction)) {
      joined = combine_exponentials(parts, field.reduction);
    } else if (std::ranges::all_of(parts, has_guard)) {
      for (const Contributed& part : parts)
        joined.value = joined.value == kNone ? part.value : binary(op, joined.value, part.value, {});
      joined.guard = parts[0].guard;
    } else if (std::ranges::all_of(parts, is_whole)) {
      joined = combine_integers(parts, op);
    } else {
      const double identity = nbcc::identity<double>(field.reduction);
      for (const Contributed& part : parts) {
        NodeId value = part.value;
        if (part.guard != kNone)
          value = select(part.guard, value, graph_->constant(identity, (*graph_)[value].type), {});
        joined.value = joined.value == kNone ? value : binary(op, joined.value, value, {});
      }
    }
    if (skip_ != kNone) joined.guard = conjunction(unary(Op::Not, skip_, {}), joined.guard);
    pipeline_.contributions.push_back(joined);
  }
}

// Integers have no infinity that could replace an absent contribution, so the guards select the result.
Contribution Lowering::combine_integers(const std::vector<Contributed>& parts, Op op) {
  Contribution joined{parts[0].value, parts[0].guard};
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const NodeId guard = parts[k].guard, value = parts[k].value;
    NodeId best = binary(op, joined.value, value, {});
    if (guard != kNone) best = select(guard, best, joined.value, {});
    joined.value = joined.guard == kNone ? best : select(joined.guard, best, value, {});
    joined.guard = joined.guard == kNone || guard == kNone ? kNone : binary(Op::Or, joined.guard, guard, {});
  }
  return joined;
}

NodeId Lowering::unwritten_value(const Field& field) {
  if (is_sum(field.reduction) || field.reduction == Reduction::Softmax) return graph_->constant(0);
  if (field.reduction == Reduction::Product) return graph_->constant(1, Type::Double);
  const double sign = is_minimum(field.reduction) ? 1 : -1;
  if (!keeps_index(field.reduction) && (field.type == Type::Int || field.type == Type::Index))
    return graph_->constant(sign * 0x1p63, Type::Index);
  return graph_->constant(sign * HUGE_VAL);
}

void Lowering::lower_finish(const clang::FunctionDecl* function) {
  const clang::SourceLocation where = function->getLocation();
  if (!function->getReturnType()->isVoidType() || function->getNumParams() != 0)
    throw Rejected{where, "finish is written 'void finish() { ... }'"};
  finishing_ = true;
  graph_ = &pipeline_.finish;
  path_ = kNone;
  const auto each_output = [&](auto action) {
    for (const auto& [variable, index] : fields_)
      if (const Field& field = pipeline_.fields[std::size_t(index)]; field.role == Role::Output)
        action(variable, field);
  };
  each_output([&](const clang::VarDecl* variable, const Field& field) {
    if (field.reduction == Reduction::Histogram || field.is_of_pair()) return;
    Value value{{result_type(field), field.length, field.width, 0, false, field.is_complex}, {}};
    for (int c = 0; c < field.components(); ++c)
      value.parts.push_back(graph_->leaf(Op::Output, field.first + c, result_type(field)));
    set(variable, value);
  });
  execute(function->getBody());
  pipeline_.finished.assign(std::size_t(pipeline_.components(Role::Output)), kNone);
  each_output([&](const clang::VarDecl* variable, const Field& field) {
    if (field.reduction != Reduction::Histogram && !field.is_of_pair())
      return void(std::ranges::copy(read_variable(variable, where).parts, pipeline_.finished.begin() + field.first));
    for (int c = field.first; c < field.first + field.components(); ++c)
      pipeline_.finished[std::size_t(c)] = graph_->leaf(Op::Output, c, result_type(field));
  });
}

// Marks the nodes that `from` depend on and records their leaves as used. Stops at nodes that are marked already,
// because derivatives call it for each of their values.
void Lowering::mark_used(const Graph& graph, const std::vector<NodeId>& from, std::unordered_set<NodeId>& marked) {
  std::vector<NodeId> next = from;
  while (!next.empty()) {
    const NodeId id = next.back();
    next.pop_back();
    if (id < 0 || !marked.insert(id).second) continue;
    const Node& n = graph[id];
    if (n.op == Op::Lookup) used_.emplace(Op::Param, pipeline_.tables[std::size_t(n.payload)].first);
    if (arity(n.op) == 0) used_.emplace(n.op, n.payload);
    next.insert(next.end(), n.args.begin(), n.args.end());
  }
}

void Lowering::warn_unused() {
  std::unordered_set<NodeId> of_pairs, of_finish;
  mark_used(pipeline_.pair, pipeline_.roots(), of_pairs);
  mark_used(pipeline_.finish, pipeline_.finished, of_finish);
  for (const Field& field : pipeline_.fields) {
    if (diagnostics_.size() >= kMaxWarnings) return;
    if (field.role == Role::Output) {
      warn_unwritten(field);
      continue;
    }
    const auto first = used_.lower_bound({leaf_of(field.role), field.first});
    if (first == used_.end() ||
        *first >= std::pair(leaf_of(field.role), std::int64_t(field.first + field.components())))
      diagnostics_.push_back({Severity::Warning, field.where,
                              fmt::format("{} '{}' is declared and never used", name(field.role), field.name)});
  }
  for (const clang::Decl* declaration : context_.getTranslationUnitDecl()->decls()) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (!function || in_prelude(function) || !function->isThisDeclarationADefinition() ||
        function->getName() == "finish")
      continue;
    if (!called_.count(function->getCanonicalDecl()))
      report(Severity::Warning, function->getLocation(),
             fmt::format("function '{}' is never called", function->getNameAsString()));
  }
}

// An output is written by a contribution, or by finish().
void Lowering::warn_unwritten(const Field& field) {
  const auto written = [&](int component) {
    if (!contributed_[std::size_t(component)].empty()) return true;
    if (pipeline_.finished.empty()) return false;
    const Node& result = pipeline_.finish[pipeline_.finished[std::size_t(component)]];
    return result.op != Op::Output || result.payload != component;
  };
  int missing = 0, last = 0;
  for (int k = 0; k < field.components(); ++k)
    if (!written(field.first + k)) ++missing, last = k;
  if (missing == 0) return;
  const std::string what = missing == field.components() ? field.name : component_name(field, field.first + last);
  diagnostics_.push_back({Severity::Warning, field.where, fmt::format("output '{}' is never written", what)});
}

}  // namespace lowering
}  // namespace nbcc
