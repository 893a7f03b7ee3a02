// Names, components and elements -> LValues, and LValues -> their values. Part of lowering (lower.h). Entry points:
// lvalue_of(), read(), constant_index().
#include <fmt/core.h>

#include <algorithm>

#include "compiler/source/lower.h"

namespace nbcc::lowering {

// A node of the pair graph that does not depend on j (a variable computed from i and params) may be used in finish():
// it is built again there.
NodeId Lowering::transplant(NodeId id) {
  const Node node = pipeline_.pair[id];
  if (node.op == Op::Const) return graph_->constant(pipeline_.pair.constant_value(id), node.type, node.where);
  if (arity(node.op) == 0) return graph_->leaf(node.op, node.payload, node.type, node.where);
  if (const auto done = transplanted_.find(id); done != transplanted_.end()) return done->second;
  std::array<NodeId, 3> args{kNone, kNone, kNone};
  for (int k = 0; k < arity(node.op); ++k) args[std::size_t(k)] = transplant(node.args[std::size_t(k)]);
  return transplanted_[id] = graph_->make(node.op, node.type, args, node.where, node.payload);
}

// i_index, j_index, self_pair, pi and the other constants.
Value Lowering::read_built_in(const clang::VarDecl* variable, clang::SourceLocation where) {
  const llvm::StringRef name = variable->getName();
  if (finishing_ && name == "j_index") throw Rejected{where, "finish() runs after the sum: there is no j_index"};
  if (finishing_ && name == "self_pair") throw Rejected{where, "finish() runs after the sum: there is no pair"};
  if (name == "self_pair") return {{Type::Bool, 0, 1}, {graph_->leaf(Op::SelfPair, 0, Type::Bool, location(where))}};
  if (name == "i_index" || name == "j_index")
    return {{Type::Index, 0, 1},
            {graph_->leaf(name == "i_index" ? Op::IIndex : Op::JIndex, 0, Type::Index, location(where))}};
  if (variable->getInit()) return convert(evaluate(variable->getInit()), {Type::Real, 0, 1}, where);
  throw Rejected{where, fmt::format("'{}' has no elements in this pipeline", name.str())};
}

Value Lowering::read_field(const Field& field, const LValue& lvalue, clang::SourceLocation where) {
  if (field.role == Role::Output && pipeline_.dialect == Dialect::Cunbody)
    throw Rejected{where, "OUTPUT cannot be read here; only finish() may read outputs"};
  if (field.role == Role::Output)
    throw Rejected{where, fmt::format("output '{}' cannot be read here; only finish() may read outputs", field.name)};
  if ((field.role == Role::InputJ || field.role == Role::InputPair) && finishing_)
    throw Rejected{where,
                   fmt::format("finish() runs after the sum: it cannot read {} '{}'", name(field.role), field.name)};
  Value value{lvalue.shape, {}};
  for (int c = 0; c < lvalue.shape.components(); ++c)
    value.parts.push_back(
        graph_->leaf(leaf_of(field.role), field.first + lvalue.first + c, field.type, location(where)));
  return value;
}

// All components of a user's variable that is no field; they may be unset or poisoned, which read() checks.
Value Lowering::read_variable(const clang::VarDecl* variable, clang::SourceLocation where) {
  const std::string name = variable->getNameAsString();
  const auto found = environment_.find(variable);
  if (found == environment_.end()) throw Rejected{where, fmt::format("'{}' cannot be read here", name)};
  Value value = found->second;
  if (finishing_ && !variable->isLocalVarDeclOrParm() && !output_of(variable)) {
    for (NodeId& part : value.parts) {
      if (part < 0) continue;
      const Binding binding = pipeline_.pair[part].binding;
      if (binding == Binding::J || binding == Binding::Pair)
        throw Rejected{where,
                       fmt::format("finish() runs after the sum: it cannot read '{}', which belongs to a pair", name)};
      part = transplant(part);
    }
  }
  return value;
}

// The value of an LValue; throws Rejected if a component is unset or poisoned.
Value Lowering::read(const LValue& lvalue, clang::SourceLocation where) {
  if (lvalue.row != kNone) return read_table(pipeline_.fields[std::size_t(fields_.at(lvalue.variable))], lvalue, where);
  if (const auto found = fields_.find(lvalue.variable);
      found != fields_.end() && !(finishing_ && output_of(lvalue.variable)))
    return read_field(pipeline_.fields[std::size_t(found->second)], lvalue, where);
  if (in_prelude(lvalue.variable) && !fields_.count(lvalue.variable)) return read_built_in(lvalue.variable, where);
  for (const Frame& frame : frames_)
    if (std::ranges::any_of(frame.by_reference, [&](const LValue& part) { return overlap(part, lvalue); }))
      throw Rejected{where, fmt::format("'{}' is changed by '{}' through a reference: read it by the parameter's name",
                                        lvalue.variable->getName().str(), frame.function->getName().str())};
  if (const Field* const output = output_of(lvalue.variable); output && output->reduction == Reduction::Histogram)
    throw Rejected{where, fmt::format("finish() cannot read the histogram '{}'", output->name)};
  if (const Field* const output = output_of(lvalue.variable); output && output->is_total())
    throw Rejected{where, fmt::format("finish() cannot read the total '{0}', which is known after the last i; it may "
                                      "change it as pairs do",
                                      output->name)};
  const Value whole = read_variable(lvalue.variable, where);
  Value value{lvalue.shape, {}};
  for (int c = 0; c < lvalue.shape.components(); ++c) {
    const NodeId part = whole.parts[std::size_t(lvalue.first + c)];
    const auto name = [&] {
      FieldLayout as_field;
      as_field.name = lvalue.variable->getName().str();
      as_field.length = whole.shape.length;
      const int parts = whole.shape.is_complex ? 2 : 1;  // which are not named
      as_field.width = whole.shape.width / parts;
      return component_name(as_field, (lvalue.first + c) / parts);
    };
    if (part == kPoisoned) throw Rejected{where, ""};
    if (part == kUnset) throw Rejected{where, fmt::format("'{}' is read before it is set", name())};
    if (part == kHalfSet)
      throw Rejected{where, fmt::format("'{}' may be unset here: the if in line {} sets it in one branch only", name(),
                                        half_set_line_[lvalue.variable])};
    value.parts.push_back(part);
  }
  return value;
}

std::int64_t Lowering::constant_index(const Value& index, int count, const std::string& what,
                                      clang::SourceLocation where) {
  if (!index.shape.is_scalar() || !graph_->is_constant(index.parts[0]))
    throw Rejected{
        where, fmt::format("the index of '{}' must be a constant: only a param can be read at an index that is known "
                           "at run time; else go through the elements: for (int k = 0; k < {}; ++k) and in it if "
                           "(k == ...)",
                           what, count)};
  const double value = graph_->constant_value(index.parts[0]);
  if (!(value >= 0 && value < count))
    throw Rejected{where, fmt::format("index {} is out of range: '{}' has elements 0 to {}", value, what, count - 1)};
  return std::int64_t(value);
}

LValue Lowering::element(const LValue& base, const clang::Expr* index, clang::SourceLocation where) {
  const std::string name = base.variable->getName().str();
  const Value at = evaluate_argument(index);
  const clang::SourceLocation here = index->getExprLoc();
  if (const auto field = fields_.find(base.variable); field != fields_.end() && pipeline_.dialect == Dialect::Cunbody) {
    const Field& f = pipeline_.fields[std::size_t(field->second)];
    const char* side = f.role == Role::InputI ? "i fields" : f.role == Role::InputJ ? "j fields" : "outputs";
    if (graph_->is_constant(at.parts[0])) {
      const double value = graph_->constant_value(at.parts[0]);
      if (measuring_ && value >= 0 && value < f.length)
        largest_index_[base.variable] = std::max(largest_index_[base.variable], int(value));
      if (!(value >= 0 && value < f.length))
        throw Rejected{where, fmt::format("{}[{}] is out of range; this pipeline declares {} {} (0..{})", f.name, value,
                                          f.length, side, f.length - 1)};
    }
  }
  if (const Field* const output = output_of(base.variable);
      output && base.shape.length > 0 && pipeline_.dialect == Dialect::Named) {
    const bool is_named_at_run_time = !graph_->is_constant(at.parts[0]);
    if (is_histogram(*output) || is_named_at_run_time) return histogram_element(base, at, here);
  }
  if (is_param(base) && base.shape.length > 0 && (base.row != kNone || !graph_->is_constant(at.parts[0])))
    return table_element(base, at, here);
  const auto& [scalar, length, width, columns, is_matrix, is_complex] = base.shape;
  LValue part = base;
  if (columns > 0) {
    part.first += int(constant_index(at, length / columns, name, here)) * columns * width;
    part.shape = base.shape.of_element();
    part.shape.length = columns;
  } else {
    part.first += int(constant_index(at, length > 0 ? length : width, name, here)) * (length > 0 ? width : 1);
    part.shape = length > 0 ? base.shape.of_element() : Shape{scalar, 0, 1};
  }
  return part;
}

LValue Lowering::lvalue_of_variable(const clang::DeclRefExpr* reference) {
  const clang::SourceLocation where = reference->getExprLoc();
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
  if (!variable) throw Rejected{where, fmt::format("'{}' is not a variable", reference->getDecl()->getNameAsString())};
  if (broken_.count(variable)) throw Rejected{where, ""};
  if (const auto field = fields_.find(variable); field != fields_.end()) {
    const Field& f = pipeline_.fields[std::size_t(field->second)];
    const bool result = finishing_ && f.role == Role::Output;
    const clang::CXXRecordDecl* record = variable->getType()->getAsCXXRecordDecl();
    const bool is_matrix = record && record->getName().starts_with("mat");
    return {variable, 0, {result ? result_type(f) : f.type, f.length, f.width, f.columns, is_matrix, f.is_complex}};
  }
  if (const auto found = environment_.find(variable); found != environment_.end())
    return {variable, 0, found->second.shape};
  if (!in_prelude(variable)) throw Rejected{where, fmt::format("'{}' cannot be used here", variable->getName().str())};
  const bool index = variable->getName() == "i_index" || variable->getName() == "j_index";
  if (variable->getName() == "self_pair") return {variable, 0, {Type::Bool, 0, 1}};
  if (index || variable->getInit()) return {variable, 0, {index ? Type::Index : Type::Real, 0, 1}};
  // A Cunbody array that is never used with a valid index.
  return {variable, 0, {Type::Real, kCunbodyLength, 1}};
}

LValue Lowering::lvalue_of(const clang::Expr* expression) {
  expression = expression->IgnoreParenImpCasts();
  const clang::SourceLocation where = expression->getExprLoc();
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) return lvalue_of_variable(reference);
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    LValue part = lvalue_of(member->getBase());
    part.first += int(llvm::StringRef("xyzw").find(member->getMemberDecl()->getName()));
    part.shape = {part.shape.scalar, 0, 1};
    return part;
  }
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression))
    return element(lvalue_of(subscript->getBase()), subscript->getIdx(), where);
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression);
      call && call->getOperator() == clang::OO_Subscript)
    return element(lvalue_of(call->getArg(0)), call->getArg(1), where);
  throw Rejected{where, "only a variable, an element or a component can be assigned"};
}

}  // namespace nbcc::lowering
