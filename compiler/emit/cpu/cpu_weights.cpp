// Member functions of CpuPairBody for weighted sums (logsumexp, softmax; see emit/accumulators.h) and products, on
// vectors of j-particles.
//
// All lanes share the reference of an i-particle, so that the lanes are added like those of other sums. A vector with a
// logit far above the reference raises it first, which is rare: the count grows like the logarithm of the number of
// pairs.
#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/cpu/cpu_pair_body.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

Node exponential_of(Type type) {
  Node node;
  node.op = Op::Exp;
  node.type = type;
  return node;
}

}  // namespace

std::string CpuPairBody::functions() {
  const bool any = std::ranges::any_of(plan_.outputs, [](const OutputPlan& output) {
    return output.reduction == Reduction::Reference || output.reduction == Reduction::Product;
  });
  std::string text = any ? fill_template("cpu_weights.h", {}) : "";
  if (std::ranges::any_of(plan_.outputs, [](const OutputPlan& output) { return output.histogram >= 0; }))
    text += fill_template("cpu_histograms.h", {{"lanes", std::to_string(vectors_.lanes())},
                                               {"float_digit", std::to_string(kFloatDigit)},
                                               {"float_words", std::to_string(kFloatWords)},
                                               {"double_digit", std::to_string(kDoubleDigit)},
                                               {"double_words", std::to_string(kDoubleWords)}});
  if (std::ranges::any_of(plan_.outputs, &OutputPlan::of_pair))
    text += fill_template("cpu_pair_results.h", {{"lanes", std::to_string(vectors_.lanes())}});
  return text;
}

// The components whose weights are relative to this reference.
std::vector<std::size_t> CpuPairBody::weighed_by(std::size_t reference) const {
  std::vector<std::size_t> components;
  for (std::size_t k = 0; k < plan_.outputs.size(); ++k)
    if (plan_.outputs[k].reference == int(reference)) components.push_back(k);
  return components;
}

std::string CpuPairBody::accumulate_weighted(std::size_t reference, int r, bool every_pair_counts) const {
  const OutputPlan& output = plan_.outputs[reference];
  const std::string type = cpu_type(output.type, true);
  const Node exponential = exponential_of(output.type);
  std::string scaled, sums;
  bool has_values = false;
  for (const std::size_t k : weighed_by(reference)) {
    const std::string sum = cpu_accumulator(k, r);
    const NodeId value = plan_.outputs[k].value;
    has_values = has_values || !graph_.is_constant(value, 1);
    const std::string next = graph_.is_constant(value, 1)
                                 ? sum + " + weight"
                                 : fmt::format("fused(weight, {}, {})", node_name(value, r), sum);
    scaled += fmt::format("{} *= by;\n", sum);
    sums += fmt::format("{0} = choose(counts, {1}, {0});\n", sum, next);
  }
  const char* const inlined = "__attribute__((always_inline))";
  // A pair of weight 0 (logit -inf) is skipped, even if its value is infinite or NaN.
  std::string counts = counted(output, r, every_pair_counts);
  if (has_values) counts += fmt::format(" & to_mask({} != ({})(-__builtin_inf()))", node_name(output.value, r), type);
  return fmt::format(
      "{{\nconst vmask counts = {};\n"
      "const {} weight = weights({}, {}, counts, []({} x) {} {{ return {}; }}, [&]({} by) {} {{\n{}}});\n{}}}\n",
      counts, type, cpu_accumulator(reference, r), node_name(output.value, r), type, inlined,
      expressions_.operation(graph_, exponential, {"x", "", ""}, true), type, inlined, scaled, sums);
}

std::string CpuPairBody::reduce_weighted(std::size_t reference, int r) const {
  const Node exponential = exponential_of(Type::Double);
  std::string text = fmt::format(
      "{{\nconst double by = raised(a->acc[{}] + {}, {}[0], [](double x) {{ return {}; }});\n", reference, i_name(r),
      cpu_accumulator(reference, r), expressions_.operation(graph_, exponential, {"x", "", ""}, false));
  for (const std::size_t k : weighed_by(reference))
    text +=
        fmt::format("a->acc[{0}][{1}] = a->acc[{0}][{1}] * by + total({2});\n", k, i_name(r), cpu_accumulator(k, r));
  return text + "}\n";
}

}  // namespace nbcc
