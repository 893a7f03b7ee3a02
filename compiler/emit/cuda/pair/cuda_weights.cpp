// Plan -> statements on the members of TileSums, Sums and Partial. Entry points: see the header.
//
// A thread keeps the reference of its i-particle with the sums of all tiles. A logit that exceeds the reference by more
// than 8 raises it, and then the sums of this tile and of all tiles are rescaled. The number of rescalings grows like
// the logarithm of the number of pairs, so that the branch costs a comparison. The margin of 8 (weights up to exp(8))
// makes rescalings rarer and keeps the rounding errors of slowly rising logits from accumulating.
#include "compiler/emit/cuda/pair/cuda_weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace nbcc {
namespace {

// Decides if a logit may be infinite, taking products of two variables as finite: true if a term of the logit is an
// input, a param or an element of a table (a mask), an infinite constant, a logarithm, a quotient or a power. Otherwise
// a comparison for each pair is saved: 18% of pipelines/attention.pipe (one H100), whose logits are products of inputs.
class InfiniteLogits {
 public:
  explicit InfiniteLogits(const Graph& graph) : graph_(graph) {}
  bool may_be(NodeId id) {
    const auto [known, is_new] = known_.emplace(id, false);
    return is_new ? (known_[id] = find(graph_[id])) : known->second;
  }

 private:
  bool find(const Node& n) {
    switch (n.op) {
      case Op::Const:
        return std::isinf(std::bit_cast<double>(n.payload));
      case Op::Mul:
        return is_constant(n.args[0]) ? may_be(n.args[1]) : is_constant(n.args[1]) && may_be(n.args[0]);
      case Op::Fma:
        return may_be(n.args[2]);
      case Op::Add:
      case Op::Sub:
      case Op::Min:
      case Op::Max:
        return may_be(n.args[0]) || may_be(n.args[1]);
      case Op::Select:
        return may_be(n.args[1]) || may_be(n.args[2]);
      case Op::Neg:
      case Op::Cast:
      case Op::Abs:
        return may_be(n.args[0]);
      case Op::Lookup:
      case Op::Log:
      case Op::Log2:
      case Op::Log10:
      case Op::Log1p:
      case Op::Div:
      case Op::Pow:
        return true;
      default:
        return facts(n.op).role.has_value();
    }
  }
  bool is_constant(NodeId id) const { return graph_.is_constant(id); }

  const Graph& graph_;
  std::map<NodeId, bool> known_;
};

bool is_float(const OutputPlan& output, const CudaScalars& scalars) {
  return scalars.resolved(output.type) == Type::Float;
}

}  // namespace

bool uses_cuda_weights(const Plan& plan) {
  return std::ranges::any_of(plan.outputs, [](const OutputPlan& output) {
    return output.reduction == Reduction::Reference || output.reduction == Reduction::Product;
  });
}

std::string cuda_initial(const OutputPlan& output, const CudaScalars& scalars) {
  const bool narrow = output.reduction == Reduction::Reference && is_float(output, scalars);
  return cuda_literal(narrow ? double(std::numeric_limits<float>::lowest()) : output.identity(), output.type, scalars);
}

std::string cuda_accumulate_weighted(const Plan& plan, std::size_t k, const CudaScalars& scalars) {
  const OutputPlan& output = plan.outputs[k];
  if (output.reduction == Reduction::Weighted) return "";
  const std::string guard = output.guard == kNone ? "" : fmt::format("if (t{}) ", output.guard);
  if (output.reduction == Reduction::Product) return fmt::format("{}sum[r].s{} *= t{};\n", guard, k, output.value);
  const bool narrow = is_float(output, scalars);
  const char* const type = narrow ? "float" : "double";
  std::string scaled, sums;
  bool has_values = false;
  for (std::size_t m = 0; m < plan.outputs.size(); ++m) {
    const OutputPlan& weighted = plan.outputs[m];
    if (weighted.reference != int(k)) continue;
    has_values = has_values || !plan.graph.is_constant(weighted.value, 1);
    scaled += fmt::format("part[r].s{0} *= by;\nscale_sum(sum[r].s{0}, by);\n", m);
    sums += plan.graph.is_constant(weighted.value, 1) ? fmt::format("part[r].s{} += weight;\n", m)
                                                      : fmt::format("part[r].s{0} = {1}(weight, t{2}, part[r].s{0});\n",
                                                                    m, narrow ? "fmaf" : "fma", weighted.value);
  }
  // A pair of weight 0 (logit -inf) is skipped, even if its value is infinite or NaN.
  const std::string none =
      has_values && InfiniteLogits(plan.graph).may_be(output.value)
          ? fmt::format("if (t{} != {}) ", output.value,
                        cuda_literal(-std::numeric_limits<double>::infinity(), output.type, scalars))
          : "";
  return fmt::format(
      "{0}{6}{{\n"
      "if (t{1} - sum[r].s{2} > 8) {{\nconst {3} by = raise(sum[r].s{2}, t{1});\n{4}}}\n"
      "const {3} weight = exponential(t{1} - sum[r].s{2});\n{5}}}\n",
      guard, output.value, k, type, scaled, sums, none);
}

std::string cuda_combine_weighted(const Plan& plan, std::size_t k) {
  const OutputPlan& output = plan.outputs[k];
  if (output.reduction == Reduction::Weighted) return "";
  if (output.reduction == Reduction::Product) return fmt::format("all.acc{0} *= part.acc{0};\n", k);
  std::string text = fmt::format(
      "const double to{0} = part.acc{0} > all.acc{0} ? part.acc{0} : all.acc{0};\n"
      "const double old{0} = relative(all.acc{0}, to{0}), new{0} = relative(part.acc{0}, "
      "to{0});\n",
      k);
  for (std::size_t m = 0; m < plan.outputs.size(); ++m)
    if (plan.outputs[m].reference == int(k))
      text += fmt::format("all.acc{0} = all.acc{0} * old{1} + part.acc{0} * new{1};\n", m, k);
  return text + fmt::format("all.acc{0} = to{0};\n", k);
}

std::string cuda_store_accumulated(Reduction declared, std::size_t k, const std::string& result) {
  const char* const function = declared == Reduction::Product ? "multiplied" : "log_added";
  return fmt::format("store(overwriting(a.out[{0}]), row, {1}(a.out[{0}], row, {2}), kSum);\n", k, function, result);
}

}  // namespace nbcc
