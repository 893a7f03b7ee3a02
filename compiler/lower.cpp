// Clang's tree -> Pipeline: the top level. Fields are declared, statements executed in order, contributions joined,
// finish() lowered last. One door: lower(). Expressions and statements are in the files beside this one.
#include "compiler/lower.h"

#include <fmt/core.h>

#include <algorithm>

#include <cmath>

#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "clang/AST/Type.h"

namespace nbcc {

Pipeline lower(clang::ASTContext& context, const Screened& screened, const Source& source, std::vector<Diagnostic>& diagnostics) {
  return lowering::Lowering(context, screened, source, diagnostics).run();
}

namespace lowering {

Location Lowering::location(clang::SourceLocation where) const {
  if (where.isInvalid()) return {};
  const clang::SourceManager& manager = context_.getSourceManager();
  const clang::PresumedLoc place = manager.getPresumedLoc(manager.getExpansionLoc(where));
  return place.isValid() ? Location{int(place.getLine()), int(place.getColumn())} : Location{};
}

void Lowering::report(Severity severity, clang::SourceLocation where, std::string message) {
  diagnostics_.push_back({severity, location(where), std::move(message)});
}

bool Lowering::in_prelude(const clang::Decl* declaration) const {
  const clang::SourceManager& manager = context_.getSourceManager();
  return !manager.isInMainFile(manager.getExpansionLoc(declaration->getLocation()));
}

// Runs the action for one top-level statement; a rejection becomes a diagnostic, and what the statement would have
// set is poisoned.
template <typename Action>
bool Lowering::attempt(const clang::Stmt* statement, Action action) {
  try {
    action();
    return true;
  } catch (const Rejected& rejected) {
    if (!rejected.message.empty()) report(Severity::Error, rejected.where, rejected.message);
    if (statement) poison(statement);
    path_ = kNone;
    frames_.clear();
    return false;
  }
}

void Lowering::poison(const clang::Stmt* statement) {
  const clang::Expr* target = nullptr;
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(statement); b && b->isAssignmentOp()) target = b->getLHS();
  if (const auto* c = llvm::dyn_cast<clang::CXXOperatorCallExpr>(statement); c && c->isAssignmentOp()) target = c->getArg(0);
  while (target) {
    target = target->IgnoreParenImpCasts();
    if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(target)) target = m->getBase();
    else if (const auto* s = llvm::dyn_cast<clang::ArraySubscriptExpr>(target)) target = s->getBase();
    else if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(target)) target = o->getArg(0);
    else break;
  }
  if (const auto* reference = target ? llvm::dyn_cast<clang::DeclRefExpr>(target) : nullptr)
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl())) {
      if (auto found = environment_.find(variable); found != environment_.end())
        std::fill(found->second.parts.begin(), found->second.parts.end(), kPoisoned);
      if (auto field = fields_.find(variable); field != fields_.end()) written_[field->second] = true;
    }
  for (const clang::Stmt* child : statement->children())
    if (child) poison(child);
}

Shape Lowering::shape_of(clang::QualType type, clang::SourceLocation where) {
  Shape shape;
  type = type.getNonReferenceType();
  if (const auto* array = context_.getAsConstantArrayType(type)) {
    shape.length = int(array->getSize().getLimitedValue(1 << 20));
    type = array->getElementType();
    if (context_.getAsArrayType(type)) throw Rejected{where, "an array of arrays is not in the language"};
    if (shape.length < 1 || shape.length > 1024) throw Rejected{where, fmt::format("an array may have 1 to 1024 elements, not {}", shape.length)};
  } else if (context_.getAsArrayType(type)) {
    throw Rejected{where, "an array needs a constant length"};
  }
  if (type->isAnyPointerType()) throw Rejected{where, "a pointer is not in the language"};
  if (type->isReferenceType()) throw Rejected{where, "a reference is not in the language here"};
  // Names before widths: `real` is a typedef of float to Clang, and the difference is ours.
  for (clang::QualType t = type;;) {
    if (const auto* named = t->getAs<clang::TypedefType>()) {
      const llvm::StringRef name = named->getDecl()->getName();
      if (name == "real") return shape.scalar = Type::Real, shape;
      if (name == "index") return shape.scalar = Type::Index, shape;
    }
    const clang::QualType next = t.getSingleStepDesugaredType(context_);
    if (next == t) break;
    t = next;
  }
  const clang::QualType plain = type.getCanonicalType().getUnqualifiedType();
  const bool cunbody = pipeline_.dialect == Dialect::Cunbody;
  if (plain == context_.FloatTy) return shape.scalar = cunbody ? Type::Real : Type::Float, shape;
  if (plain == context_.DoubleTy) return shape.scalar = Type::Double, shape;
  if (plain == context_.IntTy) return shape.scalar = Type::Int, shape;
  if (plain == context_.LongLongTy) return shape.scalar = Type::Index, shape;
  if (plain == context_.BoolTy) return shape.scalar = Type::Bool, shape;
  if (const auto* record = plain->getAsCXXRecordDecl()) {
    const llvm::StringRef name = record->getName();
    if (name == "vec2" || name == "vec3" || name == "vec4") return shape.width = name.back() - '0', shape;
    if (record->isLambda()) throw Rejected{where, "a lambda is not in the language; write a function"};
  }
  throw Rejected{where, fmt::format("the type '{}' is not in the language", type.getAsString())};
}

static std::optional<Reduction> reduction_named(llvm::StringRef name) {
  for (Reduction r : {Reduction::Sum, Reduction::Min, Reduction::Max, Reduction::ArgMin, Reduction::ArgMax})
    if (std::string_view(name.data(), name.size()) == nbcc::name(r)) return r;
  return std::nullopt;
}

void Lowering::declare_field(const clang::VarDecl* variable, llvm::StringRef annotation) {
  const clang::SourceLocation where = variable->getLocation();
  Field field;
  field.name = variable->getName().str();
  field.where = location(where);
  if (auto comment = screened_.comments.find(field.where.line); comment != screened_.comments.end()) field.comment = comment->second;
  if (annotation == "input_i") field.role = Role::InputI;
  else if (annotation == "input_j") field.role = Role::InputJ;
  else if (annotation == "param") field.role = Role::Param;
  else {
    field.role = Role::Output;
    annotation.consume_front("output:");
    const auto reduction = reduction_named(annotation);
    if (!reduction) throw Rejected{where, fmt::format("'{}' is no reduction; there are sum, min, max, argmin and argmax", annotation.str())};
    field.reduction = *reduction;
  }
  const Shape shape = shape_of(variable->getType(), where);
  field.type = shape.scalar;
  field.length = shape.length;
  field.width = shape.width;
  field.first = pipeline_.components(field.role);
  const bool arg = field.role == Role::Output && (field.reduction == Reduction::ArgMin || field.reduction == Reduction::ArgMax);
  if (arg && (field.type != Type::Index || field.components() != 1))
    throw Rejected{where, fmt::format("an output({}) keeps a j_index: declare it as 'index'", name(field.reduction))};
  if (field.role == Role::Output && field.type == Type::Bool) throw Rejected{where, "an output cannot be bool; declare it as 'int'"};

  if (const clang::Expr* initial = variable->getInit(); initial && !llvm::isa<clang::CXXConstructExpr>(initial->IgnoreImplicit())) {
    if (field.role != Role::Param) throw Rejected{where, fmt::format("{} '{}' cannot have an initial value", name(field.role), field.name)};
  }
  if (field.role == Role::Param && variable->getInit()) {
    const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(variable->getInit()->IgnoreImplicit());
    if (!construct || construct->getNumArgs() > 0) {
      const Value value = convert(evaluate(variable->getInit()), shape, where);
      for (NodeId part : value.parts) {
        if (part < 0 || !graph_->is_constant(part)) throw Rejected{where, fmt::format("the default of param '{}' is not a constant", field.name)};
        field.defaults.push_back(graph_->constant_value(part));
      }
    }
  }
  fields_[variable] = int(pipeline_.fields.size());
  pipeline_.fields.push_back(field);
  if (field.role == Role::Output) contributed_.resize(std::size_t(pipeline_.components(Role::Output)));
}

// INPUT_I, INPUT_J and OUTPUT have as many components as the text states by IDIM, JDIM, FDIM, or uses.
namespace {
struct ArrayUse {
  int largest = -1;
};
void find_indices(const clang::Stmt* statement, clang::ASTContext& context, std::map<std::string, ArrayUse>& uses) {
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(statement))
    if (const auto* base = llvm::dyn_cast<clang::DeclRefExpr>(subscript->getBase()->IgnoreParenImpCasts())) {
      clang::Expr::EvalResult result;
      if (!subscript->getIdx()->isValueDependent() && subscript->getIdx()->EvaluateAsInt(result, context)) {
        ArrayUse& use = uses[base->getDecl()->getName().str()];
        use.largest = std::max(use.largest, int(std::min<std::int64_t>(result.Val.getInt().getExtValue(), 9999)));
      }
    }
  for (const clang::Stmt* child : statement->children())
    if (child) find_indices(child, context, uses);
}
}  // namespace

void Lowering::declare_cunbody_arrays() {
  std::map<std::string, ArrayUse> uses;
  std::map<std::string, const clang::VarDecl*> arrays;
  for (const clang::Decl* declaration : context_.getTranslationUnitDecl()->decls()) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      if (in_prelude(variable)) arrays[variable->getName().str()] = variable;
      else if (variable->getInit()) find_indices(variable->getInit(), context_, uses);
    }
    if (const auto* top = llvm::dyn_cast<clang::TopLevelStmtDecl>(declaration)) find_indices(top->getStmt(), context_, uses);
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration); function && function->getBody()) find_indices(function->getBody(), context_, uses);
  }
  const auto add = [&](const char* array, Role role, const std::optional<int>& stated) {
    Field field;
    field.name = array;
    field.role = role;
    field.length = stated.value_or(uses[array].largest + 1);
    if (field.length < 1) return;
    fields_[arrays[array]] = int(pipeline_.fields.size());
    pipeline_.fields.push_back(field);
  };
  add("INPUT_I", Role::InputI, screened_.idim);
  add("INPUT_J", Role::InputJ, screened_.jdim);
  add("OUTPUT", Role::Output, screened_.fdim);
  contributed_.resize(std::size_t(pipeline_.components(Role::Output)));
}

void Lowering::declare(const clang::VarDecl* variable) {
  const clang::SourceLocation where = variable->getLocation();
  if (const auto* annotate = variable->getAttr<clang::AnnotateAttr>()) {
    llvm::StringRef annotation = annotate->getAnnotation();
    if (annotation.consume_front("nbcc:")) return declare_field(variable, annotation);
  }
  define_local(variable);
  (void)where;
}

Pipeline Lowering::run() {
  pipeline_.name = source_.name();
  pipeline_.dialect = screened_.dialect;
  pipeline_.flops = screened_.flops;
  if (pipeline_.dialect == Dialect::Cunbody) declare_cunbody_arrays();
  const clang::FunctionDecl* finish = nullptr;
  for (const clang::Decl* declaration : context_.getTranslationUnitDecl()->decls()) {
    if (declaration->isImplicit() || in_prelude(declaration) || llvm::isa<clang::EmptyDecl>(declaration)) continue;
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      if (!attempt(nullptr, [&] { declare(variable); })) environment_[variable] = {{}, {kPoisoned}};
    } else if (const auto* top = llvm::dyn_cast<clang::TopLevelStmtDecl>(declaration)) {
      attempt(top->getStmt(), [&] { execute(top->getStmt()); });
    } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      if (function->getName() == "finish" && function->isThisDeclarationADefinition()) finish = function;
    } else {
      report(Severity::Error, declaration->getLocation(), fmt::format("a declaration of this kind ({}) is not in the language", declaration->getDeclKindName()));
    }
  }
  const auto failed = [&] { return std::any_of(diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic& d) { return d.severity == Severity::Error; }); };
  if (pipeline_.components(Role::Output) == 0 && !failed())
    diagnostics_.push_back({Severity::Error, {}, "the pipeline has no output: declare one as 'output(sum) real name;', or write OUTPUT[k] += ..."});
  if (failed()) return std::move(pipeline_);
  combine_contributions();
  if (finish) attempt(nullptr, [&] { lower_finish(finish); });
  if (!failed()) warn_unused();
  return std::move(pipeline_);
}

// Several contributions to one output become one: under one guard where they share it, else each selected by its own.
void Lowering::combine_contributions() {
  for (int component = 0; component < int(contributed_.size()); ++component) {
    const auto& parts = contributed_[std::size_t(component)];
    const Field& field = pipeline_.field_of(Role::Output, component);
    Contribution joined;
    const bool same_guard = std::all_of(parts.begin(), parts.end(), [&](const Contributed& c) { return c.guard == parts[0].guard; });
    const bool maximum = field.reduction == Reduction::Max || field.reduction == Reduction::ArgMax;
    const double identity = field.reduction == Reduction::Sum ? 0 : maximum ? -HUGE_VAL : HUGE_VAL;
    for (const Contributed& part : parts) {
      NodeId value = part.value;
      if (!same_guard && part.guard != kNone)
        value = select(part.guard, value, graph_->constant(identity, (*graph_)[value].type), {});
      const Op op = field.reduction == Reduction::Sum ? Op::Add : maximum ? Op::Max : Op::Min;
      joined.value = joined.value == kNone ? value : binary(op, joined.value, value, {});
    }
    if (parts.empty()) joined.value = graph_->constant(identity);  // never written; warned of below
    else if (same_guard) joined.guard = parts[0].guard;
    if (skip_ != kNone) joined.guard = both(unary(Op::Not, skip_, {}), joined.guard);
    pipeline_.contributions.push_back(joined);
  }
}

void Lowering::lower_finish(const clang::FunctionDecl* function) {
  const clang::SourceLocation where = function->getLocation();
  if (!function->getReturnType()->isVoidType() || function->getNumParams() != 0) throw Rejected{where, "finish is written 'void finish() { ... }'"};
  finishing_ = true;
  graph_ = &pipeline_.finish;
  path_ = kNone;
  for (const auto& [variable, index] : fields_) {
    const Field& field = pipeline_.fields[std::size_t(index)];
    if (field.role != Role::Output) continue;
    Value value{{field.type, field.length, field.width}, {}};
    for (int c = 0; c < field.components(); ++c) value.parts.push_back(graph_->leaf(Op::Output, field.first + c, field.type));
    environment_[variable] = value;
  }
  execute(function->getBody());
  pipeline_.finished.assign(std::size_t(pipeline_.components(Role::Output)), kNone);
  for (const auto& [variable, index] : fields_) {
    const Field& field = pipeline_.fields[std::size_t(index)];
    if (field.role != Role::Output) continue;
    const Value value = read_variable(variable, where);
    for (int c = 0; c < field.components(); ++c) pipeline_.finished[std::size_t(field.first + c)] = value.parts[std::size_t(c)];
  }
}

void Lowering::warn_unused() {
  std::vector<NodeId> roots = pipeline_.roots();
  std::vector<bool> used(std::size_t(pipeline_.components(Role::InputI) + pipeline_.components(Role::InputJ) + pipeline_.components(Role::Param)), false);
  const int i_first = 0, j_first = pipeline_.components(Role::InputI), param_first = j_first + pipeline_.components(Role::InputJ);
  const auto mark = [&](const Graph& graph, const std::vector<NodeId>& from) {
    const std::vector<bool> alive = reachable(graph, from);
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (!alive[std::size_t(id)]) continue;
      const Node& node = graph[id];
      if (node.op == Op::InputI) used[std::size_t(i_first + node.payload)] = true;
      if (node.op == Op::InputJ) used[std::size_t(j_first + node.payload)] = true;
      if (node.op == Op::Param) used[std::size_t(param_first + node.payload)] = true;
    }
  };
  mark(pipeline_.pair, roots);
  mark(pipeline_.finish, pipeline_.finished);
  for (std::size_t k = 0; k < pipeline_.fields.size(); ++k) {
    const Field& field = pipeline_.fields[k];
    if (field.role == Role::Output) {
      if (!written_[int(k)] && pipeline_.dialect == Dialect::Named)
        diagnostics_.push_back({Severity::Warning, field.where, fmt::format("output '{}' is never written", field.name)});
      continue;
    }
    const int first = (field.role == Role::InputI ? i_first : field.role == Role::InputJ ? j_first : param_first) + field.first;
    bool any = false;
    for (int c = 0; c < field.components(); ++c) any = any || used[std::size_t(first + c)];
    if (!any) diagnostics_.push_back({Severity::Warning, field.where, fmt::format("{} '{}' is declared and never used", name(field.role), field.name)});
  }
}

}  // namespace lowering
}  // namespace nbcc
