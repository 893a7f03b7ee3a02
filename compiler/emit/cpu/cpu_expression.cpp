// Nodes -> C++ expressions over scalars or ext_vector_type vectors. Entry points: CpuExpressions, cpu_type(),
// cpu_literal(). Mathematical functions beyond the instruction set are glibc's vector library (libmvec), by their ABI
// names.
#include "compiler/emit/cpu/cpu_expression.h"

#include <fmt/core.h>

#include <cmath>

#include "compiler/emit/cpu/cpu_spelling.h"
#include "compiler/emit/spelling.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

namespace {
// Attribute of the functions of libm: they access no memory. LLVM does not recognise them by name (jit/cpu_jit.cpp).
constexpr const char* kConstant = "[[gnu::const]] ";
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
  if (!spelling.libm.empty()) (vector ? used_ : used_scalars_).insert({std::string(spelling.libm), op.arity});
  if (op.is_bessel) use_bessel();
  if (!spelling.has_vectors) of_scalars_.insert(std::string(spelling.libm));
  const bool whole = node.type < Type::Float && !spelling.whole.empty();
  const std::string_view text = whole                               ? spelling.whole
                                : vector || spelling.scalar.empty() ? spelling.text
                                                                    : spelling.scalar;
  if (!text.empty())
    return fmt::format(fmt::runtime(text), fmt::arg("a", a), fmt::arg("b", b), fmt::arg("c", c), fmt::arg("t", type));
  return fmt::format("{}_{}({}{}{})", vector ? 'v' : 's', spelling.libm, a, op.arity > 1 ? ", " : "", b);
}

void CpuExpressions::use_bessel() {
  has_bessel_ = true;
  for (const char* called : {"exp", "log", "sin", "cos"}) {
    used_.insert({called, 1});
    used_scalars_.insert({called, 1});
  }
}

// libmvec's names: _ZGV, the instruction set's letter, N (no mask), the lanes, a v per argument, the function.
std::string CpuExpressions::function_text(const std::string& name, const std::string& element, int arguments) const {
  const IsaFacts& isa = facts(vectors_.isa);
  const bool wide = element == "double", two = arguments == 2,
             one_by_one = !isa.vector_abi || of_scalars_.contains(name);
  const int native = isa.register_bytes / (wide ? 8 : 4);
  const std::string head =
      fmt::format("NBCC_INLINE v{0} v_{1}(v{0} x{2}) ", element, name, two ? ", v" + element + " y" : "");
  // A vector of floats that fills half a register, in a kernel of doubles, is converted to double and back.
  if (vectors_.lanes() < native)
    return head +
           fmt::format("{{ return __builtin_convertvector(v_{}(__builtin_convertvector(x, vdouble){}), v{}); }}\n",
                       name, two ? ", __builtin_convertvector(y, vdouble)" : "", element);
  const std::string scalar = name + (wide ? "" : "f"),
                    piece = one_by_one ? element : fmt::format("p{}_{}", element, native);
  const std::string symbol =
      one_by_one ? scalar : fmt::format("_ZGV{}N{}{}_{}", isa.vector_abi, native, two ? "vv" : "v", scalar);
  std::string text;
  if (!one_by_one) text = fmt::format("typedef {} {} __attribute__((ext_vector_type({})));\n", element, piece, native);
  text += fmt::format("extern \"C\" {3}{0} {1}({0}{2});\n", piece, symbol, two ? ", " + piece : "",
                      one_by_one ? kConstant : "");
  return text + head +
         fmt::format("{{ return in_pieces<{0}>(x, {1}, []({0} a, {0}{2}) {{ return {3}(a{4}); }}); }}\n", piece,
                     two ? "y" : "x", two ? " b" : "", symbol, two ? ", b" : "");
}

std::string CpuExpressions::functions() const {
  std::string text = has_casts_ ? fill_template("cpu_casts.h", {}) : "";
  for (const auto& [name, arguments] : used_)
    text += function_text(name, "double", arguments) + function_text(name, "float", arguments);
  for (const auto& [name, arguments] : used_scalars_) {
    text += fmt::format("extern \"C\" {2}double {0}(double{1});\n", name, arguments == 1 ? "" : ", double", kConstant);
    text += fmt::format("NBCC_INLINE double s_{0}(double x{1}) {{ return {0}(x{2}); }}\n", name,
                        arguments == 1 ? "" : ", double y", arguments == 1 ? "" : ", y");
  }
  // x = k + f exactly, with f in [-1/2, 1/2]; an odd k changes the sign. cos(pi f) = sin(pi (1/2 - |f|)), so that the
  // cosine is exactly 0 at its zeros, too.
  const auto pi_functions = [&](const char* element, const char* head, const char* sine) {
    for (const auto& [name, argument] :
         {std::pair("sin_pi", "f"), std::pair("cos_pi", "({0})(0.5) - __builtin_elementwise_abs(f)")}) {
      const std::string reduced = fmt::format(fmt::runtime(argument), element);
      text += fmt::format(
          "{0}NBCC_INLINE {1} {2}({1} x) {{ const {1} k = round_half_away(x), odd = k - round_down(k * ({1})(0.5)) * "
          "({1})(2), f = x - k; return (({1})(1) - odd * ({1})(2)) * {3}(({4}) * ({1})(3.14159265358979323846)); }}\n",
          head, element, name, sine, reduced);
    }
  };
  if (used_.count({"sin", 1})) pi_functions("T", "template <typename T>\n", "v_sin");
  if (used_scalars_.count({"sin", 1})) pi_functions("double", "", "s_sin");
  if (has_bessel_) text += fill_template("cpu_bessel.h", {}) + fill_template("bessel.h", {{"inline", "NBCC_INLINE"}});
  return text;
}

}  // namespace nbcc
