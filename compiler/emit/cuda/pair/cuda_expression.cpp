// Nodes -> CUDA C++ expressions. Entry points: see the header.
#include "compiler/emit/cuda/pair/cuda_expression.h"

#include <fmt/core.h>

#include <cmath>

#include "compiler/emit/cuda/pair/cuda_spelling.h"
#include "compiler/emit/spelling.h"
#include "compiler/passes/optimize/whole_exponents.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {

std::string cuda_type(Type type, const CudaScalars& scalars) {
  if (numbers_in(type) > 1) return fmt::format("{}<{}>", name(type), scalars.wide ? "double" : "float");
  return std::string(name(scalars.resolved(type)));
}

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

std::string cuda_from_loaded(const std::string& text, Type type) { return type == Type::Bool ? text + " != 0" : text; }

std::string cuda_operation(const Graph& graph, const Node& node, const std::array<std::string, 3>& args,
                           const CudaScalars& scalars) {
  const auto& [a, b, c] = args;
  const Type type = scalars.resolved(node.type);
  if (node.op == Op::Cast) {
    if (type == Type::Bool) return fmt::format("{} != 0", a);
    if (is_integral(type) && is_floating(graph[node.args[0]].type)) return fmt::format("to_{}({})", name(type), a);
    return fmt::format("({}){}", name(type), a);
  }
  const bool single = type == Type::Float, fast = single && !scalars.exact;
  if (node.op == Op::Div && fast && graph.is_constant(node.args[0], 1)) return fmt::format("reciprocal({})", b);
  // Outside the pair loop an estimate would save nothing: there the exact result is taken, which the following
  // refinement leaves unchanged.
  const CudaSpelling& spelling = cuda_spelling(node.op == Op::RsqrtEstimate && scalars.exact ? Op::Rsqrt : node.op);
  if (spelling.is_special) throw InternalError(fmt::format("emit_cuda: no text for '{}'", name(node.op)));
  std::string_view text = spelling.text;
  if (node.op == Op::Pow && node.payload == kMayBeWhole) text = "power({a}, {b})";
  if (is_integral(type) && !spelling.whole.empty()) text = spelling.whole;
  if (fast && !spelling.fast.empty()) text = spelling.fast;
  return fmt::format(fmt::runtime(text), fmt::arg("a", a), fmt::arg("b", b), fmt::arg("c", c),
                     fmt::arg("t", name(type)), fmt::arg("f", single ? "f" : ""),
                     fmt::arg("u", type == Type::Int ? "unsigned" : "unsigned long long"));
}

}  // namespace nbcc
