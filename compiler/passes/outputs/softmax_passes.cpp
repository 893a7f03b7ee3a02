// Entry point: softmax_passes().
#include "compiler/passes/outputs/softmax_passes.h"

#include <cstddef>
#include <limits>
#include <vector>

#include "compiler/passes/outputs/add_field.h"

namespace nbcc {
namespace {

constexpr const char* kLogSumExp = "nbcc_logsumexp";

}  // namespace

std::optional<SoftmaxPasses> softmax_passes(const Pipeline& pipeline) {
  if (!pipeline.finished.empty()) return {};
  NodeId logit = kNone, guard = kNone;
  bool has_softmax = false;
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output) continue;
    const bool is_softmax = field.reduction == Reduction::Softmax;
    if (!is_softmax && field.reduction != Reduction::LogSumExp) return {};
    has_softmax = has_softmax || is_softmax;
    for (int c = field.first; c < field.first + field.components(); ++c) {
      const Contribution& one = pipeline.contributions[std::size_t(c)];
      const NodeId own = is_softmax ? one.logit : one.value;
      if (logit == kNone) logit = own, guard = one.guard;
      if (own != logit || one.guard != guard) return {};
    }
  }
  if (!has_softmax) return {};
  SoftmaxPasses made{pipeline, pipeline, {}};
  made.logsumexp.name += "_logsumexp";
  made.logsumexp.contributions = {{.value = logit, .guard = guard}};
  std::erase_if(made.logsumexp.fields, [](const Field& field) { return field.role == Role::Output; });
  Field exponential;
  exponential.reduction = Reduction::LogSumExp;
  add_field(made.logsumexp, kLogSumExp, Role::Output, pipeline.pair[logit].type, exponential);

  made.weighted.name += "_weighted";
  const Type type = pipeline.pair[logit].type;
  const int input = add_field(made.weighted, kLogSumExp, Role::InputI, type);
  Graph& graph = made.weighted.pair;
  const NodeId of_i = graph.leaf(Op::InputI, input, type);
  NodeId weight = graph.unary(Op::Exp, graph.binary(Op::Sub, logit, of_i));
  if (guard != kNone) {
    // An i without a pair has no mean. So pairs whose guard is false have the weight NaN where no other pair counts.
    const NodeId lowest = graph.constant(-std::numeric_limits<float>::max(), type);
    const NodeId none = graph.select(graph.binary(Op::Lt, lowest, of_i), graph.constant(0, type),
                                     graph.constant(std::numeric_limits<double>::quiet_NaN(), type));
    weight = graph.select(guard, weight, none);
  }
  for (Field& field : made.weighted.fields) {
    if (field.role != Role::Output) continue;
    const bool is_softmax = field.reduction == Reduction::Softmax;
    field.reduction = is_softmax ? Reduction::Sum : Reduction::Max;  // the largest of equal numbers
    for (int c = field.first; c < field.first + field.components(); ++c) {
      Contribution& one = made.weighted.contributions[std::size_t(c)];
      if (is_softmax)
        one = {.value = graph.binary(Op::Mul, weight, one.value)};
      else
        one = {.value = of_i, .guard = guard};
    }
  }
  made.means = made.weighted;
  made.means.name += "_means";
  made.means.contributions.clear();
  std::erase_if(made.means.fields, [](const Field& field) { return field.reduction == Reduction::Max; });
  for (Field& field : made.means.fields) {
    if (field.role != Role::Output) continue;
    const auto first = made.weighted.contributions.begin() + field.first;
    field.first = int(made.means.contributions.size());
    made.means.contributions.insert(made.means.contributions.end(), first, first + field.components());
  }
  return made;
}

}  // namespace nbcc
