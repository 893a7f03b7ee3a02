// Calls -> Values: built-in functions become ops, the user's functions are inlined. Part of lowering (lower.h); doors:
// call(), call_skip_if(), call_sincos().
#include <fmt/core.h>

#include <algorithm>

#include "compiler/source/lower.h"

namespace nbcc::lowering {

namespace {
struct BuiltIn {
  const char* name;
  Op op;
};
constexpr BuiltIn kUnary[] = {{"sqrt", Op::Sqrt},   {"rsqrt", Op::Rsqrt}, {"cbrt", Op::Cbrt},   {"exp", Op::Exp},
                              {"exp2", Op::Exp2},   {"log", Op::Log},     {"log2", Op::Log2},   {"sin", Op::Sin},
                              {"cos", Op::Cos},     {"sinpi", Op::SinPi}, {"cospi", Op::CosPi}, {"tan", Op::Tan},
                              {"asin", Op::Asin},   {"acos", Op::Acos},   {"atan", Op::Atan},   {"sinh", Op::Sinh},
                              {"cosh", Op::Cosh},   {"tanh", Op::Tanh},   {"erf", Op::Erf},     {"erfc", Op::Erfc},
                              {"floor", Op::Floor}, {"ceil", Op::Ceil},   {"round", Op::Round}, {"trunc", Op::Trunc},
                              {"fabs", Op::Abs},    {"abs", Op::Abs}};
constexpr BuiltIn kBinary[] = {
    {"min", Op::Min}, {"max", Op::Max}, {"pow", Op::Pow}, {"atan2", Op::Atan2}, {"copysign", Op::CopySign}};

const Op* find_op(const BuiltIn* begin, const BuiltIn* end, const std::string& name) {
  const BuiltIn* found = std::find_if(begin, end, [&](const BuiltIn& b) { return name == b.name; });
  return found == end ? nullptr : &found->op;
}
}  // namespace

Value Lowering::call(const clang::CallExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const clang::FunctionDecl* function = expression->getDirectCallee();
  if (!function || !function->getIdentifier()) throw Rejected{where, "only functions can be called, by their names"};
  return in_prelude(function) ? call_built_in(expression, function) : inline_function(expression, function);
}

Value Lowering::call_built_in(const clang::CallExpr* expression, const clang::FunctionDecl* function) {
  const clang::SourceLocation where = expression->getExprLoc();
  const std::string name = function->getName().str();
  if (name == "argmin" || name == "argmax")
    throw Rejected{where, fmt::format("{0} is a reduction: write 'near = {0}(near, value)' with an output({0})", name)};
  if (name == "skip_if" || name == "sincos") throw Rejected{where, fmt::format("{} stands alone as a statement", name)};
  std::vector<Value> arguments;
  for (const clang::Expr* argument : expression->arguments()) arguments.push_back(evaluate(argument));
  const bool vectors =
      std::any_of(arguments.begin(), arguments.end(), [](const Value& v) { return v.shape.width > 1; });
  return vectors ? vector_function(name, arguments, where) : scalar_function(name, arguments, where);
}

Value Lowering::scalar_function(const std::string& name, const std::vector<Value>& arguments,
                                clang::SourceLocation where) {
  const auto scalar = [&](NodeId node) { return Value{{(*graph_)[node].type, 0, 1}, {node}}; };
  // Functions of the real line take whole numbers as reals.
  const auto real = [&](NodeId node) {
    return (*graph_)[node].type < Type::Float ? cast(node, Type::Real, where) : node;
  };
  const NodeId a = arguments[0].parts[0];
  if (const Op* op = find_op(std::begin(kUnary), std::end(kUnary), name))
    return scalar(unary(*op, name == "abs" ? cast(a, std::max((*graph_)[a].type, Type::Int), where) : real(a), where));
  const NodeId b = arguments.size() > 1 ? arguments[1].parts[0] : kNone;
  if (const Op* op = find_op(std::begin(kBinary), std::end(kBinary), name)) {
    const bool ordering = *op == Op::Min || *op == Op::Max;
    return scalar(binary(*op, ordering ? a : real(a), ordering ? b : real(b), where));
  }
  if (name == "nearest_image") {
    // dx - box * rint(dx / box): the copy of dx that is nearest to 0 in a periodic box of this length. Of two that are
    // equally near either will do, so the rounding is the one that processors have.
    return scalar(binary(Op::Sub, a,
                         binary(Op::Mul, b, unary(Op::Rint, binary(Op::Div, real(a), real(b), where), where), where),
                         where));
  }
  const NodeId c = arguments.size() > 2 ? arguments[2].parts[0] : kNone;
  if (name == "fma") {
    const Type type = std::max({(*graph_)[a].type, (*graph_)[b].type, (*graph_)[c].type, Type::Float});
    return scalar(make(Op::Fma, type, {cast(a, type, where), cast(b, type, where), cast(c, type, where)}, where));
  }
  if (name == "clamp") return scalar(binary(Op::Min, binary(Op::Max, a, b, where), c, where));
  if (name == "select") return scalar(select(cast(a, Type::Bool, where), b, c, where));
  throw Rejected{where, fmt::format("'{}' cannot be called here", name)};
}

Value Lowering::vector_function(const std::string& name, const std::vector<Value>& arguments,
                                clang::SourceLocation where) {
  const Value& a = name == "select" ? arguments[1] : arguments[0];
  const int width = a.shape.width;
  const auto dot = [&](const Value& x, const Value& y) {
    NodeId sum = kNone;
    for (std::size_t k = 0; k < x.parts.size(); ++k) {
      const NodeId product = binary(Op::Mul, x.parts[k], y.parts[k], where);
      sum = sum == kNone ? product : binary(Op::Add, sum, product, where);
    }
    return sum;
  };
  const auto scalar = [&](NodeId node) { return Value{{Type::Real, 0, 1}, {node}}; };
  if (name == "dot") return scalar(dot(a, arguments[1]));
  if (name == "length") return scalar(unary(Op::Sqrt, dot(a, a), where));
  Value result{{Type::Real, 0, width}, {}};
  if (name == "normalize") {
    const NodeId inverse = unary(Op::Rsqrt, dot(a, a), where);
    for (NodeId part : a.parts) result.parts.push_back(binary(Op::Mul, part, inverse, where));
    return result;
  }
  if (name == "cross") {
    const Value& b = arguments[1];
    const auto minor = [&](int p, int q) {
      return binary(Op::Sub, binary(Op::Mul, a.parts[std::size_t(p)], b.parts[std::size_t(q)], where),
                    binary(Op::Mul, a.parts[std::size_t(q)], b.parts[std::size_t(p)], where), where);
    };
    if (width == 2) return scalar(minor(0, 1));
    return {{Type::Real, 0, 3}, {minor(1, 2), minor(2, 0), minor(0, 1)}};
  }
  for (int c = 0; c < width; ++c) {
    // Vectors are of real, whatever stands beside them.
    const auto part = [&](std::size_t k) {
      const bool single = arguments[k].shape.width == 1;
      const NodeId node = arguments[k].parts[std::size_t(single ? 0 : c)];
      return single && name != "select" ? cast(node, Type::Real, where) : node;
    };
    NodeId node = kNone;
    if (name == "select")
      node = select(cast(part(0), Type::Bool, where), part(1), part(2), where);
    else if (name == "nearest_image")
      node = binary(Op::Sub, part(0),
                    binary(Op::Mul, part(1), unary(Op::Rint, binary(Op::Div, part(0), part(1), where), where), where),
                    where);
    else if (name == "clamp")
      node = binary(Op::Min, binary(Op::Max, part(0), part(1), where), part(2), where);
    else if (const Op* op = find_op(std::begin(kUnary), std::end(kUnary), name))
      node = unary(*op, part(0), where);
    else if (const Op* op2 = find_op(std::begin(kBinary), std::end(kBinary), name))
      node = binary(*op2, part(0), part(1), where);
    else
      throw Rejected{where, fmt::format("'{}' does not take vectors", name)};
    result.parts.push_back(node);
  }
  return result;
}

Value Lowering::inline_function(const clang::CallExpr* expression, const clang::FunctionDecl* function) {
  const clang::SourceLocation where = expression->getExprLoc();
  const std::string name = function->getName().str();
  if (name == "finish") throw Rejected{where, "finish() is called by nbcc, once for each i after its sum"};
  const clang::FunctionDecl* definition = nullptr;
  if (!function->hasBody(definition))
    throw Rejected{where, fmt::format("function '{}' is declared but has no body", name)};
  for (const Frame& frame : frames_)
    if (frame.function == definition)
      throw Rejected{where,
                     fmt::format("recursion is not in the language: '{}' calls itself; write a for with a constant "
                                 "trip count",
                                 name)};
  if (definition->getReturnType()->isVoidType())
    throw Rejected{where, fmt::format("function '{}' returns nothing, so that calling it has no effect", name)};
  called_.insert(definition->getCanonicalDecl());
  bind_arguments(expression, definition);
  const NodeId caller_path = path_;
  path_ = kNone;
  frames_.push_back({definition, caller_path, {}});
  execute(definition->getBody());
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  path_ = caller_path;
  return join_returned(frame, where);
}

void Lowering::bind_arguments(const clang::CallExpr* expression, const clang::FunctionDecl* definition) {
  const clang::SourceLocation where = expression->getExprLoc();
  std::vector<std::pair<const clang::VarDecl*, Value>> bound;
  for (unsigned k = 0; k < definition->getNumParams(); ++k) {
    const clang::ParmVarDecl* parameter = definition->getParamDecl(k);
    const clang::QualType type = parameter->getType();
    if (type->isReferenceType() && !type.getNonReferenceType().isConstQualified())
      throw Rejected{parameter->getLocation(),
                     "a reference is not in the language, but for a const one as a parameter; return the value"};
    bound.emplace_back(parameter,
                       convert(evaluate(expression->getArg(k)), shape_of(type, parameter->getLocation()), where));
  }
  // Only now, as an argument may itself call this function.
  for (auto& [parameter, value] : bound) set(parameter, std::move(value));
}

// The first return whose guard holds wins, so they are joined from the last backwards; the last must be certain.
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
  if (finishing_) throw Rejected{where, "skip_if speaks of a pair; finish() runs after the sum"};
  if (!frames_.empty()) throw Rejected{where, "skip_if can only stand at the top level, not in a function"};
  const NodeId skip = both(path_, condition(expression->getArg(0)));
  skip_ = skip_ == kNone ? skip : binary(Op::Or, skip_, skip, where);
}

void Lowering::call_sincos(const clang::CallExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const Value x = evaluate(expression->getArg(0));
  const NodeId angle = (*graph_)[x.parts[0]].type < Type::Float ? cast(x.parts[0], Type::Real, where) : x.parts[0];
  const Type type = (*graph_)[angle].type;
  assign(place_of(expression->getArg(1)), {{type, 0, 1}, {unary(Op::Sin, angle, where)}}, where);
  assign(place_of(expression->getArg(2)), {{type, 0, 1}, {unary(Op::Cos, angle, where)}}, where);
}

}  // namespace nbcc::lowering
