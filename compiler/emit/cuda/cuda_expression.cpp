// Nodes -> CUDA C++ expressions. Doors: cuda_operation() and the small ones beside it. The functions that the
// expressions call are NVRTC's built-in mathematics, which needs no header, and those of templates/cuda_types.cuh.in.
#include "compiler/emit/cuda/cuda_expression.h"

#include <fmt/core.h>

#include <cmath>

#include "compiler/emit/spelling.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
namespace {

bool is_integral(Type type) { return type == Type::Int || type == Type::Index; }

// NVRTC's name: the IR's, with the f of C where the value is a float.
std::string function_name(const Node& node, Type type) {
  std::string base(name(node.op));
  if (node.op == Op::Abs) base = "fabs";
  return type == Type::Float ? base + "f" : base;
}

// Wraps, as the IR has it; signed overflow is undefined in C++.
std::string wrapping(const char* symbol, const std::string& a, const std::string& b, Type type) {
  const char* const whole = type == Type::Int ? "unsigned" : "unsigned long long";
  return fmt::format("({0})(({1}){2} {3} ({1}){4})", type == Type::Int ? "int" : "index", whole, a, symbol, b);
}

std::string whole_number_operation(const Node& node, const std::string& a, const std::string& b) {
  switch (node.op) {
    case Op::Neg:
      return wrapping("-", "0", a, node.type);
    case Op::Abs:
      return fmt::format("{} < 0 ? {} : {}", a, wrapping("-", "0", a, node.type), a);
    case Op::Add:
      return wrapping("+", a, b, node.type);
    case Op::Sub:
      return wrapping("-", a, b, node.type);
    case Op::Mul:
      return wrapping("*", a, b, node.type);
    case Op::Div:
      return fmt::format("whole_quotient({}, {})", a, b);
    case Op::Rem:
      return fmt::format("whole_remainder({}, {})", a, b);
    default:
      return "";
  }
}

std::string inverse_root(Type type, const std::string& a) {
  return type == Type::Float ? fmt::format("1.0f / sqrtf({})", a) : fmt::format("1.0 / sqrt({})", a);
}

std::string arithmetic(const Graph& graph, const Node& node, Type type, const std::string& a, const std::string& b,
                       bool exact) {
  switch (node.op) {
    case Op::Neg:
      return fmt::format("-{}", a);
    case Op::Add:
      return fmt::format("{} + {}", a, b);
    case Op::Sub:
      return fmt::format("{} - {}", a, b);
    case Op::Mul:
      return fmt::format("{} * {}", a, b);
    case Op::Div:
      if (exact || type != Type::Float) return fmt::format("{} / {}", a, b);
      return graph.is_constant(node.args[0], 1) ? fmt::format("reciprocal({})", b)
                                                : fmt::format("quotient({}, {})", a, b);
    case Op::Sqrt:
      if (exact || type != Type::Float) break;
      return fmt::format("square_root({})", a);
    case Op::Rsqrt:
      return inverse_root(type, a);
    case Op::RsqrtEstimate:
      // Outside the pair loop the estimate would save nothing; the correction that follows it finds nothing to do.
      return exact ? inverse_root(type, a) : fmt::format("rsqrt_estimate({})", a);
    default:
      break;
  }
  return "";
}

}  // namespace

std::string cuda_type(Type type, const CudaScalars& scalars) { return std::string(name(scalars.resolved(type))); }

std::string cuda_literal(double value, Type type, const CudaScalars& scalars) {
  const Type resolved = scalars.resolved(type);
  if (resolved == Type::Bool) return value != 0 ? "true" : "false";
  if (is_integral(resolved)) return whole_literal(value);
  const bool narrow = resolved == Type::Float;
  const double rounded = narrow ? double(float(value)) : value;
  if (std::isnan(rounded)) return narrow ? "__int_as_float(0x7fc00000)" : "__longlong_as_double(0x7ff8000000000000LL)";
  if (std::isinf(rounded)) return std::string(rounded < 0 ? "-" : "") + (narrow ? "infinite_float()" : "infinite()");
  std::string text = narrow ? fmt::format("{}", float(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return narrow ? text + "f" : text;
}

std::string cuda_component(const char* type, const char* side, int component) {
  return fmt::format("component<{0}>(a.{1}[{2}], {1})", type, side, component);
}

bool is_function(Op op) {
  switch (op) {
    case Op::Neg:
    case Op::Abs:
    case Op::Not:
    case Op::Cast:
    case Op::RsqrtEstimate:
    case Op::Rint:  // nearest_whole()
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::And:
    case Op::Or:
    case Op::Lt:
    case Op::Le:
    case Op::Eq:
    case Op::Fma:
    case Op::Select:
      return false;
    default:
      return arity(op) > 0;
  }
}

std::string cuda_from_loaded(const std::string& text, Type type) { return type == Type::Bool ? text + " != 0" : text; }

std::string cuda_operation(const Graph& graph, const Node& node, const std::array<std::string, 3>& args,
                           const CudaScalars& scalars) {
  const auto& [a, b, c] = args;
  const Type type = scalars.resolved(node.type);
  if (is_integral(type))
    if (std::string text = whole_number_operation(node, a, b); !text.empty()) return text;
  if (std::string text = arithmetic(graph, node, type, a, b, scalars.exact); !text.empty()) return text;
  switch (node.op) {
    case Op::Not:
      return fmt::format("!{}", a);
    case Op::Cast:
      if (type == Type::Bool) return fmt::format("{} != 0", a);
      if (is_integral(type) && graph[node.args[0]].type >= Type::Float) return fmt::format("to_{}({})", name(type), a);
      return fmt::format("({}){}", cuda_type(type, scalars), a);
    case Op::Min:
      return fmt::format("minimum({}, {})", a, b);
    case Op::Max:
      return fmt::format("maximum({}, {})", a, b);
    case Op::And:
      return fmt::format("{} && {}", a, b);
    case Op::Or:
      return fmt::format("{} || {}", a, b);
    case Op::Lt:
      return fmt::format("{} < {}", a, b);
    case Op::Le:
      return fmt::format("{} <= {}", a, b);
    case Op::Eq:
      return fmt::format("{} == {}", a, b);
    case Op::Fma:
      return fmt::format("{}({}, {}, {})", type == Type::Float ? "fmaf" : "fma", a, b, c);
    case Op::Select:
      return fmt::format("{} ? {} : {}", a, b, c);
    case Op::Pow:
    case Op::Atan2:
    case Op::CopySign:
      return fmt::format("{}({}, {})", function_name(node, type), a, b);
    default:
      if (arity(node.op) == 1 && type >= Type::Float) return fmt::format("{}({})", function_name(node, type), a);
      break;
  }
  throw InternalError(fmt::format("emit_cuda: no text for '{}'", name(node.op)));
}

}  // namespace nbcc
