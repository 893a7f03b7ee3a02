// Entry point: softmax_passes().
#include "compiler/passes/outputs/softmax_passes.h"

#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/passes/outputs/add_field.h"

namespace nbcc {
namespace {

constexpr const char* kLogSumExp = "nbcc_logsumexp";

// The pipeline with its outputs of one reduction.
Pipeline with_outputs(const Pipeline& pipeline, Reduction reduction, std::string_view suffix) {
  Pipeline made = pipeline;
  made.name += suffix;
  made.fields.clear();
  made.contributions.clear();
  for (Field field : pipeline.fields) {
    if (field.role == Role::Output) {
      if (field.reduction != reduction) continue;
      const auto first = pipeline.contributions.begin() + field.first;
      field.first = int(made.contributions.size());
      made.contributions.insert(made.contributions.end(), first, first + field.components());
    }
    made.fields.push_back(std::move(field));
  }
  return made;
}

}  // namespace

std::optional<SoftmaxPasses> softmax_passes(const Pipeline& pipeline) {
  if (!pipeline.finished.empty()) return {};
  NodeId logit = kNone, guard = kNone;
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output || field.reduction == Reduction::LogSumExp) continue;
    if (field.reduction != Reduction::Softmax) return {};
    for (int c = field.first; c < field.first + field.components(); ++c) {
      const Contribution& one = pipeline.contributions[std::size_t(c)];
      if (logit == kNone) logit = one.logit, guard = one.guard;
      if (one.logit != logit || one.guard != guard) return {};
    }
  }
  if (logit == kNone) return {};
  SoftmaxPasses made{with_outputs(pipeline, Reduction::LogSumExp, "_logsumexp"),
                     with_outputs(pipeline, Reduction::Softmax, "_weighted")};
  Field exponential;
  exponential.reduction = Reduction::LogSumExp;
  add_field(made.logsumexp, kLogSumExp, Role::Output, pipeline.pair[logit].type, exponential);
  made.logsumexp.contributions.push_back({.value = logit, .guard = guard});

  for (Field& field : made.weighted.fields)
    if (field.role == Role::Output) field.reduction = Reduction::Sum;
  const Type type = pipeline.pair[logit].type;
  const int input = add_field(made.weighted, kLogSumExp, Role::InputI, type);
  Graph& graph = made.weighted.pair;
  const NodeId of_i = graph.leaf(Op::InputI, input, type);
  NodeId weight = graph.unary(Op::Exp, graph.binary(Op::Sub, logit, of_i));
  if (guard != kNone) {
    // An i without a pair has no mean: the pairs that its guard leaves out have the weight NaN.
    const NodeId lowest = graph.constant(-std::numeric_limits<float>::max(), type);
    const NodeId none = graph.select(graph.binary(Op::Lt, lowest, of_i), graph.constant(0, type),
                                     graph.constant(std::numeric_limits<double>::quiet_NaN(), type));
    weight = graph.select(guard, weight, none);
  }
  for (Contribution& one : made.weighted.contributions) one = {.value = graph.binary(Op::Mul, weight, one.value)};
  return made;
}

}  // namespace nbcc
