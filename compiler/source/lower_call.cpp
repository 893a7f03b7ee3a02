// Calls -> Values: built-in functions become ops, the user's functions are inlined. Part of lowering (lower.h). Entry
// points: call(), call_for_results(), call_skip_if(), call_sincos().
#include <fmt/core.h>

#include <algorithm>

#include "compiler/ir/period.h"
#include "compiler/source/lower.h"

namespace nbcc::lowering {

namespace {
// The operation with the name of this built-in function, if any.
std::optional<Op> operation(std::string_view function) {
  if (function == "fabs") return Op::Abs;
  for (int op = 0; op <= int(Op::Select); ++op)
    if (function == name(Op(op))) return Op(op);
  return std::nullopt;
}
}  // namespace

bool is_array_parameter(clang::QualType type) {
  const clang::CXXRecordDecl* const record = type->getAsCXXRecordDecl();
  return llvm::isa<clang::DecayedType>(type) || (record && record->getName() == "__array");
}

Value Lowering::call(const clang::CallExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const clang::FunctionDecl* function = expression->getDirectCallee();
  // If an argument assigns an array, Clang has not resolved the function: report the argument first.
  for (const clang::Expr* argument : expression->arguments())
    if (llvm::isa<clang::RecoveryExpr>(argument->IgnoreParenImpCasts())) evaluate(argument);
  if (!function || !function->getIdentifier()) throw Rejected{where, "only functions can be called, by their names"};
  return in_prelude(function) ? call_built_in(expression, function) : inline_function(expression, function);
}

Value Lowering::call_built_in(const clang::CallExpr* expression, const clang::FunctionDecl* function) {
  const clang::SourceLocation where = expression->getExprLoc();
  const std::string name = function->getName().str();
  if (name == "argmin" || name == "argmax")
    throw Rejected{where, fmt::format("{0} is a reduction: write 'near = {0}(near, value)' with an output({0})", name)};
  if (name == "logsumexp" || name == "softmax")
    throw Rejected{where, fmt::format("{0} is a reduction: write '{1} = {0}({1}, {2})' with an output({0})", name,
                                      name == "softmax" ? "y" : "z", name == "softmax" ? "logit, value" : "x")};
  if (name == "at")
    throw Rejected{where,
                   "at is a reduction: write 'd = at(near, value)' with an output(at) d and an output(argmin) "
                   "or output(argmax) near"};
  if (name == "skip_if" || name == "sincos") throw Rejected{where, fmt::format("{} stands alone as a statement", name)};
  if (name == "grad") return gradient_of(expression);
  if (name == "ddt") return rate_of(expression);
  if (name == "table" || name == "spline") return interpolate(expression, name == "spline");
  if (name == "spline_coefficient") return spline_coefficient(expression);
  std::vector<Value> arguments;
  for (const clang::Expr* argument : expression->arguments()) arguments.push_back(evaluate_argument(argument));
  if (name == "philox" || name == "random") return random(expression, arguments, name == "random");
  if (name == "transpose" || name == "trace" || name == "outer" || name == "determinant" || name == "any" ||
      name == "all")
    return matrix_function(name, arguments, where);
  if (name == "dot" || name == "sum" || name == "length" || name == "normalize" || name == "cross" || name == "angle")
    return vector_function(name, arguments, where);
  if (std::ranges::any_of(arguments, [](const Value& argument) { return argument.shape.is_complex; }))
    return complex_function(name, arguments, where);
  if (name == "nearest_image" && arguments.size() == 4) return image_in_cell(expression, arguments);
  if (name == "every_image") return every_image(expression, arguments);
  if (name == "image_index") return image_index(expression, arguments[0]);
  // All other functions act component by component; a number among vector arguments is used with every component.
  // Components of vectors are of type Real, and the number is converted to it.
  Value result{{Type::Real, 0, 1}, {}};
  for (const Value& argument : arguments)
    if (!argument.shape.is_scalar()) result.shape = argument.shape;
  for (int c = 0; c < result.shape.components(); ++c) {
    std::array<NodeId, 3> parts{kNone, kNone, kNone};
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      parts[k] = arguments[k].part(c);
      if (arguments[k].shape.is_scalar() && result.shape.width > 1 && name != "select")
        parts[k] = cast(parts[k], Type::Real, where);
    }
    result.parts.push_back(scalar_function(name, parts, where));
  }
  result.shape.scalar = (*graph_)[result.parts[0]].type;
  return result;
}

NodeId Lowering::scalar_function(const std::string& name, std::array<NodeId, 3> arguments,
                                 clang::SourceLocation where) {
  const auto [a, b, c] = arguments;
  const auto type = [&](NodeId node) { return (*graph_)[node].type; };
  // Integers are converted to Real for functions of real numbers.
  const auto real = [&](NodeId node) { return type(node) < Type::Float ? cast(node, Type::Real, where) : node; };
  if (name == "sign") {
    // sign(0) is 0 and sign(NaN) is NaN.
    const NodeId x = real(a), zero = graph_->constant(0, type(x));
    const NodeId of_negative = select(binary(Op::Lt, x, zero, where), graph_->constant(-1, type(x)), x, where);
    return select(binary(Op::Lt, zero, x, where), graph_->constant(1, type(x)), of_negative, where);
  }
  if (name == "clamp") return binary(Op::Min, binary(Op::Max, a, b, where), c, where);
  if (name == "nearest_image") {
    // dx - box * rint(dx / box): the minimum image of dx in a periodic box of this length. If two images are equally
    // near, either is correct; so it rounds as processors do.
    const NodeId period = period_of(*graph_, real(b), location(where));
    const NodeId copies = unary(Op::Rint, binary(Op::Div, real(a), period, where), where);
    return binary(Op::Sub, a, binary(Op::Mul, period, copies, where), where);
  }
  const std::optional<Op> op = operation(name);
  if (!op) throw Rejected{where, fmt::format("'{}' cannot be called here", name)};
  switch (*op) {
    case Op::Abs:
      return unary(*op, name == "abs" ? cast(a, std::max(type(a), Type::Int), where) : real(a), where);
    case Op::Min:
    case Op::Max:
      return binary(*op, a, b, where);
    case Op::Select:
      return select(cast(a, Type::Bool, where), b, c, where);
    case Op::Fma: {
      const Type joined = std::max({type(a), type(b), type(c), Type::Float});
      return make(*op, joined, {cast(a, joined, where), cast(b, joined, where), cast(c, joined, where)}, where);
    }
    default:
      return arity(*op) == 1 ? unary(*op, real(a), where) : binary(*op, real(a), real(b), where);
  }
}

Value Lowering::vector_function(const std::string& name, const std::vector<Value>& arguments,
                                clang::SourceLocation where) {
  const Value& a = arguments[0];
  const auto dot = [&](const Value& x, const Value& y) {
    NodeId sum = kNone;
    for (std::size_t k = 0; k < x.parts.size(); ++k) {
      const NodeId product = binary(Op::Mul, x.parts[k], y.parts[k], where);
      sum = sum == kNone ? product : binary(Op::Add, sum, product, where);
    }
    return sum;
  };
  const auto scalar = [&](NodeId node) { return Value{{(*graph_)[node].type, 0, 1}, {node}}; };
  if (name == "dot") return scalar(dot(a, arguments[1]));
  if (name == "sum") {
    NodeId sum = cast(a.parts[0], std::max((*graph_)[a.parts[0]].type, Type::Int), where);
    for (std::size_t k = 1; k < a.parts.size(); ++k) sum = binary(Op::Add, sum, a.parts[k], where);
    return scalar(sum);
  }
  if (name == "length") return scalar(unary(Op::Sqrt, dot(a, a), where));
  if (name == "cross") {
    const Value& b = arguments[1];
    const auto minor = [&](std::size_t p, std::size_t q) {
      return binary(Op::Sub, binary(Op::Mul, a.parts[p], b.parts[q], where),
                    binary(Op::Mul, a.parts[q], b.parts[p], where), where);
    };
    if (a.shape.width == 2) return scalar(minor(0, 1));
    return {{Type::Real, 0, 3}, {minor(1, 2), minor(2, 0), minor(0, 1)}};
  }
  const auto normalized = [&](Value v) {
    const NodeId inverse = unary(Op::Rsqrt, dot(v, v), where);
    for (NodeId& part : v.parts) part = binary(Op::Mul, part, inverse, where);
    return v;
  };
  if (name == "normalize") return normalized(a);
  // angle(): 2 atan2(|u - v|, |u + v|) of unit vectors (W. Kahan, "How futile are mindless assessments of roundoff in
  // floating-point computation?", 2006, section 12), which is accurate near 0 and pi, where acos(dot(u, v)) is not.
  const Value u = normalized(a), v = normalized(arguments[1]);
  const auto length_of = [&](Op op) {
    Value sum = u;
    for (std::size_t k = 0; k < sum.parts.size(); ++k) sum.parts[k] = binary(op, u.parts[k], v.parts[k], where);
    const NodeId square = dot(sum, sum), zero = graph_->constant(0, (*graph_)[square].type);
    // The selection makes the derivative at parallel vectors 0; the derivative of the root alone is infinite there.
    return select(binary(Op::Eq, square, zero, where), zero, unary(Op::Sqrt, square, where), where);
  };
  const NodeId half = binary(Op::Atan2, length_of(Op::Sub), length_of(Op::Add), where);
  return scalar(binary(Op::Mul, graph_->constant(2, (*graph_)[half].type), half, where));
}

const clang::FunctionDecl* Lowering::definition_of(const clang::FunctionDecl* function, clang::SourceLocation where) {
  const std::string name = function->getName().str();
  if (name == "finish") throw Rejected{where, "finish() is called by nbcc, once for each i after its sum"};
  const clang::FunctionDecl* definition = nullptr;
  if (!function->hasBody(definition)) throw Rejected{where, ""};  // declare_function() has reported it
  for (const Frame& frame : frames_)
    if (frame.function == definition)
      throw Rejected{where,
                     fmt::format("recursion is not in the language: '{}' calls itself; write a for with a constant "
                                 "trip count",
                                 name)};
  called_.insert(definition->getCanonicalDecl());
  return definition;
}

Lowering::Frame Lowering::execute_body(const clang::FunctionDecl* definition, const Results& results) {
  const NodeId caller_path = path_;
  path_ = kNone;
  frames_.push_back({definition, caller_path, {}, {}});
  for (const auto& [lvalue, parameter] : results) frames_.back().by_reference.push_back(lvalue);
  execute(definition->getBody());
  Frame finished = std::move(frames_.back());
  frames_.pop_back();
  path_ = caller_path;
  return finished;
}

Value Lowering::inline_function(const clang::CallExpr* expression, const clang::FunctionDecl* function) {
  const clang::SourceLocation where = expression->getExprLoc();
  const clang::FunctionDecl* const definition = definition_of(function, where);
  if (definition->getReturnType()->isVoidType())
    throw Rejected{
        where, fmt::format("function '{}' returns nothing; it stands alone as a statement", function->getName().str())};
  if (!bind_arguments(expression, definition).empty())
    throw Rejected{where, fmt::format("function '{}' returns a value and changes its arguments too; let it return "
                                      "nothing, or change nothing",
                                      function->getName().str())};
  return join_returned(execute_body(definition, {}), where);
}

// Calls a function that returns nothing: its results are the variables bound to its reference parameters.
void Lowering::call_for_results(const clang::CallExpr* expression, const clang::FunctionDecl* function) {
  const clang::SourceLocation where = expression->getExprLoc();
  const clang::FunctionDecl* const definition = definition_of(function, where);
  const Results results = bind_arguments(expression, definition);
  if (results.empty())
    throw Rejected{where,
                   fmt::format("function '{}' returns nothing and changes none of its arguments, so that calling "
                               "it has no effect",
                               function->getName().str())};
  execute_body(definition, results);
  for (const auto& [lvalue, parameter] : results) {
    const Value value = read({parameter, 0, environment_.at(parameter).shape}, where);
    assign(lvalue, value, where);
  }
}

// The variables, elements or components to which a reference to the expression could refer.
void Lowering::find_variables(const clang::Expr* expression, std::vector<LValue>& found) {
  if (llvm::isa<clang::MaterializeTemporaryExpr>(expression->IgnoreParenNoopCasts(context_))) return;  // a copy
  expression = expression->IgnoreParenImpCasts();
  if (const auto* copy = llvm::dyn_cast<clang::CXXConstructExpr>(expression); copy && copy->getNumArgs() == 1)
    expression = copy->getArg(0)->IgnoreParenImpCasts();
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(expression)) {
    find_variables(choice->getTrueExpr(), found);
    find_variables(choice->getFalseExpr(), found);
  } else if (is_part_of_variable(expression)) {
    found.push_back(lvalue_of(expression));
  }
}

// Binds parameters to values and returns the results: the reference parameters. A variable that is still unset may be
// bound to one. During the call parameters are separate copies, so no two of them may refer to a variable that one of
// them changes.
Lowering::Results Lowering::bind_arguments(const clang::CallExpr* expression, const clang::FunctionDecl* definition) {
  const clang::SourceLocation where = expression->getExprLoc();
  std::vector<std::pair<const clang::VarDecl*, Value>> bound;
  Results results;
  struct Named {
    LValue part;
    bool changed;
  };
  std::vector<Named> named;
  const auto name_variables = [&](const clang::Expr* argument, bool changed) {
    std::vector<LValue> found;
    find_variables(argument, found);
    for (const LValue& part : found)
      for (const Named& other : named)
        if ((changed || other.changed) && overlap(part, other.part))
          throw Rejected{argument->getExprLoc(),
                         fmt::format("'{}' is passed twice, and '{}' changes it; pass a copy",
                                     part.variable->getName().str(), definition->getName().str())};
    for (const LValue& part : found) named.push_back({part, changed});
  };
  for (unsigned k = 0; k < definition->getNumParams(); ++k) {
    const clang::ParmVarDecl* parameter = definition->getParamDecl(k);
    const clang::QualType type = parameter->getType();
    const Shape shape = shape_of(type, parameter->getLocation());
    if (!type->isReferenceType() || type.getNonReferenceType().isConstQualified()) {
      bound.emplace_back(parameter, convert(evaluate(expression->getArg(k)), shape, where));
      if (type->isReferenceType() || is_array_parameter(type)) name_variables(expression->getArg(k), false);
      continue;
    }
    const LValue lvalue = lvalue_of(expression->getArg(k));
    const auto variable = environment_.find(lvalue.variable);
    if (variable == environment_.end())
      throw Rejected{
          expression->getArg(k)->getExprLoc(),
          fmt::format("'{}' cannot be changed by a function; pass a variable", lvalue.variable->getName().str())};
    const auto first = variable->second.parts.begin() + lvalue.first;
    bound.emplace_back(parameter, Value{lvalue.shape, {first, first + lvalue.shape.components()}});
    name_variables(expression->getArg(k), true);
    results.emplace_back(lvalue, parameter);
  }
  // Set only after all arguments are evaluated: an argument may itself call this function.
  for (auto& [parameter, value] : bound) set(parameter, std::move(value));
  return results;
}

// The first return whose guard holds gives the value, so returns are joined from the last to the first. The last one
// must be unconditional.
Value Lowering::join_returned(const Frame& frame, clang::SourceLocation where) {
  const clang::FunctionDecl* function = frame.function;
  if (frame.returned.empty() || !always_returns(function->getBody()))
    throw Rejected{function->getLocation(),
                   fmt::format("function '{}' may end without a return", function->getName().str())};
  const bool any_type = function->getDeclaredReturnType()->getContainedAutoType() != nullptr;
  const Shape shape =
      any_type ? frame.returned.back().second.shape : shape_of(function->getReturnType(), function->getLocation());
  Value result;
  for (auto back = frame.returned.rbegin(); back != frame.returned.rend(); ++back) {
    const Value value = any_type ? back->second : convert(back->second, shape, where);
    if (back == frame.returned.rbegin()) {
      result = value;
      continue;
    }
    for (std::size_t c = 0; c < result.parts.size(); ++c)
      result.parts[c] =
          back->first == kNone ? value.parts[c] : select(back->first, value.parts[c], result.parts[c], where);
  }
  return result;
}

void Lowering::call_skip_if(const clang::CallExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (finishing_) throw Rejected{where, "skip_if skips a pair; finish() runs after the sum"};
  if (!frames_.empty()) throw Rejected{where, "skip_if is allowed only at the top level, not in a function"};
  const NodeId skip = conjunction(path_, condition(expression->getArg(0)));
  skip_ = skip_ == kNone ? skip : binary(Op::Or, skip_, skip, where);
}

void Lowering::call_sincos(const clang::CallExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const Value x = evaluate(expression->getArg(0));
  const NodeId angle = (*graph_)[x.parts[0]].type < Type::Float ? cast(x.parts[0], Type::Real, where) : x.parts[0];
  const Type type = (*graph_)[angle].type;
  assign(lvalue_of(expression->getArg(1)), {{type, 0, 1}, {unary(Op::Sin, angle, where)}}, where);
  assign(lvalue_of(expression->getArg(2)), {{type, 0, 1}, {unary(Op::Cos, angle, where)}}, where);
}

}  // namespace nbcc::lowering
