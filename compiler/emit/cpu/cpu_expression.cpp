// Nodes -> C++ expressions over scalars or ext_vector_type vectors. Entry points: CpuExpressions, cpu_type(),
// cpu_literal(). Mathematical functions beyond the instruction set are templates; three are libm's, for each number.
#include "compiler/emit/cpu/cpu_expression.h"

#include <fmt/core.h>

#include <cmath>

#include "compiler/emit/cpu/cpu_spelling.h"
#include "compiler/emit/spelling.h"
#include "compiler/passes/optimize/whole_exponents.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

namespace {
// Attribute of the functions of libm: they access no memory. LLVM does not recognise them by name (jit/cpu_jit.cpp).
constexpr const char* kConstant = "[[gnu::const]] ";
constexpr std::string_view kPowers = "cpu_powers.h";
// So many calls in the text of a kernel are inlined. With twice as many the loop outgrows the instruction cache and
// takes minutes to compile: 40 cosines 47 s inlined, 0.3 s called. Sums with 32 of them called run 1.1 to 1.4 times as
// fast; with 32 exponentials 1.4 times in double precision, 0.8 in single.
constexpr int kMostInlined = 64;
}  // namespace

int CpuVectors::lanes() const { return facts(isa).register_bytes / (precision == Precision::Double ? 8 : 4); }

std::string cpu_type(Type type, bool vector) {
  if (type == Type::Bool) return vector ? "vmask" : "bool";
  if (numbers_in(type) > 1) return fmt::format("{}<{}>", name(type), vector ? "vreal" : "double");
  return (vector ? "v" : "") + std::string(name(type));
}

std::string cpu_literal(double value, Type type) {
  if (std::isnan(value)) return "__builtin_nan(\"\")";
  if (std::isinf(value)) return value > 0 ? "__builtin_inf()" : "-__builtin_inf()";
  if (type == Type::Bool) return value != 0 ? "-1" : "0";
  if (type < Type::Float) return whole_literal(value);
  // A double literal of full precision, so that only the conversion to the node's type rounds.
  return fmt::format("{}", value).find_first_of(".en") == std::string::npos ? fmt::format("{}.0", value)
                                                                            : fmt::format("{}", value);
}

std::string CpuExpressions::operation(const Graph& graph, const Node& node, const std::array<std::string, 3>& args,
                                      bool vector) {
  const auto& [a, b, c] = args;
  const std::string type = cpu_type(node.type, vector);
  if (node.op == Op::Cast) {
    if (is_integral(node.type) && is_floating(graph[node.args[0]].type)) {
      has_casts_ = true;
      return fmt::format("to_{}({})", type, a);
    }
    if (!vector) return fmt::format("({})({})", type, a);
    if (graph[node.args[0]].type == Type::Bool) return fmt::format("choose({0}, ({1})(1), ({1})(0))", a, type);
    if (node.type == Type::Bool) return fmt::format("to_mask({} != 0)", a);
    return fmt::format("__builtin_convertvector({}, {})", a, type);
  }
  if (node.op == Op::Min || node.op == Op::Max) {
    // If one argument is a constant other than NaN, only the other must be tested for NaN.
    const auto is_number = [&](NodeId id) { return graph.is_constant(id) && !std::isnan(graph.constant_value(id)); };
    const bool first = is_number(node.args[0]);
    if (first || is_number(node.args[1]))
      return fmt::format("{}imum_of_number({}, {})", name(node.op), first ? a : b, first ? b : a);
  }
  // Outside the pair loop an estimate would save nothing: there the exact result is taken, which the following
  // refinement leaves unchanged.
  const OpFacts& op = facts(node.op == Op::RsqrtEstimate && !vector ? Op::Rsqrt : node.op);
  const CpuSpelling& spelling = cpu_spelling(op.op);
  if (spelling.is_special) throw InternalError(fmt::format("emit_cpu: no text for '{}'", op.name));
  const bool is_power = node.op == Op::Pow && node.payload == kMayBeWhole;
  if (is_power) templates_.insert(kPowers);
  if (!spelling.libm.empty()) libm_.insert({spelling.libm, op.arity});
  if (!spelling.functions.empty()) templates_.insert(spelling.functions);
  if (!spelling.functions.empty() && vector) ++calls_;
  const bool whole = node.type < Type::Float && !spelling.whole.empty();
  const std::string_view text = is_power                            ? "math::power({a}, {b})"
                                : whole                             ? spelling.whole
                                : vector || spelling.scalar.empty() ? spelling.text
                                                                    : spelling.scalar;
  if (!text.empty()) {
    const auto argument = [&](const std::string& x) {
      return !spelling.functions.empty() && !vector ? fmt::format("(double)({})", x) : x;
    };
    return fmt::format(fmt::runtime(text), fmt::arg("a", argument(a)), fmt::arg("b", argument(b)), fmt::arg("c", c),
                       fmt::arg("t", type));
  }
  return fmt::format("{}_{}({}{}{})", vector ? 'v' : 's', spelling.libm, a, op.arity > 1 ? ", " : "", b);
}

std::string CpuExpressions::functions() const {
  std::string text = has_casts_ ? fill_template("cpu_casts.h", {}) : "";
  for (const auto& [name, arguments] : libm_) {
    const bool two = arguments == 2;
    text += fmt::format("extern \"C\" {0}double {1}(double{2});\nextern \"C\" {0}float {1}f(float{3});\n", kConstant,
                        name, two ? ", double" : "", two ? ", float" : "");
    for (const auto& [element, function] :
         {std::pair("double", std::string(name)), {"float", fmt::format("{}f", name)}})
      text += fmt::format(
          "NBCC_INLINE v{0} v_{1}(v{0} x{2}) {{ return in_pieces<{0}>(x, {3}, []({0} a, {0}{4}) {{ return {5}(a{6}); "
          "}}); }}\n",
          element, name, two ? fmt::format(", v{} y", element) : "", two ? "y" : "x", two ? " b" : "", function,
          two ? ", b" : "");
    text += fmt::format("NBCC_INLINE double s_{0}(double x{1}) {{ return {0}(x{2}); }}\n", name,
                        two ? ", double y" : "", two ? ", y" : "");
  }
  // A file of functions after those that it calls.
  const bool bessel = templates_.contains("cpu_bessel.h"), error = templates_.contains("cpu_error_functions.h");
  if (!templates_.empty())
    text += fill_template("cpu_elementary.h",
                          {{"lanes", std::to_string(vectors_.lanes())},
                           {"function", calls_ <= kMostInlined ? "NBCC_INLINE" : "static __attribute__((noinline))"}});
  const std::string_view better = facts(vectors_.isa).math_template;
  if (!templates_.empty() && !better.empty()) text += fill_template(better, {});
  if (bessel || error || templates_.contains("cpu_exponentials.h")) text += fill_template("cpu_exponentials.h", {});
  if (templates_.contains(kPowers)) text += fill_template(kPowers, {});
  if (bessel || templates_.contains("cpu_angles.h")) text += fill_template("cpu_angles.h", {});
  if (error) text += fill_template("cpu_error_functions.h", {});
  if (bessel) text += fill_template("cpu_bessel.h", {}) + fill_template("bessel.h", {{"inline", "NBCC_INLINE"}});
  return text;
}

}  // namespace nbcc
