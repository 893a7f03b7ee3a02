// Entry points: saved_results(), with_saved_results(), find_saved(). An added output has the terms of the output that
// it saves, and finish() does not change it; nothing is differentiated here.
#include "compiler/passes/derived/saved_results.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/derived/every_image.h"

namespace nbcc {

bool has_values_of_i(const Pipeline& pipeline, const Field& field) {
  if (!field.is_total() || field.is_histogram() || !is_floating(field.type)) return false;
  // The weight of a pair in a total logsumexp follows from the total alone, unless finish() adds values of i to it.
  return field.reduction == Reduction::Min || field.reduction == Reduction::Max ||
         (field.reduction == Reduction::LogSumExp && !pipeline.finished.empty());
}

namespace {

// The saved results of all outputs, whichever derivatives are requested, so that names are the same in every adjoint.
std::vector<SavedResult> every_result(const Pipeline& pipeline) {
  std::vector<SavedResult> results;
  std::vector<std::size_t> of_payloads;  // ChosenJ of payloads
  const bool finishes = !pipeline.finished.empty();
  const auto is_taken = [&](const std::string& name) {
    return pipeline.find(name) != nullptr ||
           std::ranges::any_of(results, [&](const SavedResult& other) { return other.field.name == name; });
  };
  const auto add = [&](SavedKind kind, int output, const std::string& name, Type type, const std::string& comment) {
    SavedResult result;
    result.kind = kind, result.output = output;
    result.field.name = free_name(name, is_taken);
    result.field.type = type;
    result.field.comment = comment;
    result.result = result.field.name;
    results.push_back(result);
  };
  const auto add_image = [&](int output, const std::string& name) {
    if (!has_images(pipeline)) return;
    const SavedResult of = results.back();
    for (int axis = 0; axis < 3; ++axis) {
      add(SavedKind::ChosenImage, output, fmt::format("{}_{}", name, axis), Type::Index,
          fmt::format("image_index({}) of {}", axis, of.field.name));
      results.back().field.length = of.field.length;
      results.back().width = of.width, results.back().axis = axis;
    }
  };
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output || field.is_histogram() || field.is_of_pair()) continue;
    add(SavedKind::Raw, field.first, "raw_" + field.name, result_type(field),
        finishes ? fmt::format("{} before finish()", field.name) : field.name);
    results.back().field.length = field.length, results.back().field.width = field.width;
    if (!finishes) results.back().is_added = false, results.back().result = field.name;
    if (has_values_of_i(pipeline, field)) {
      add(SavedKind::ValueOfI, field.first, "i_" + field.name, field.type, fmt::format("{} of each i", field.name));
      results.back().field.length = field.length, results.back().field.width = field.width;
    }
    if (field.reduction == Reduction::Softmax) {
      add(SavedKind::LogWeights, field.first, "z_" + field.name, field.type,
          fmt::format("the logarithm of the sum of the weights of {}", field.name));
      results.back().field.length = field.length, results.back().field.width = field.width;
    }
    if (field.reduction == Reduction::Product && is_floating(field.type)) {
      for (const auto& [kind, prefix, what] :
           {std::tuple{SavedKind::Zeros, "zeros_", "the number of factors of {} that are 0"},
            std::tuple{SavedKind::OthersProduct, "others_", "the product of the factors of {} that are not 0"}}) {
        add(kind, field.first, prefix + field.name, field.type, fmt::format(fmt::runtime(what), field.name));
        results.back().field.length = field.length, results.back().field.width = field.width;
      }
    }
    if (field.reduction == Reduction::At && is_floating(field.type)) {
      const Field& chooser = pipeline.field_of(Role::Output, field.follows);
      add(SavedKind::ChosenJ, field.first, "at_" + field.name, Type::Index,
          fmt::format("the j_index that {} comes from", field.name));
      results.back().field.length = chooser.length;
      results.back().width = field.width;
      results.back().is_added = false;
      // finish() may change the indices; those before it are saved as well.
      results.back().result = chooser.name;
      of_payloads.push_back(results.size() - 1);
      add_image(field.first, "image_" + field.name);
    }
    const bool is_extreme = field.reduction == Reduction::Min || field.reduction == Reduction::Max;
    if (!is_extreme || !is_floating(field.type)) continue;
    // An array of indices would mean the best, second best ... j of one choice, so each component gets a separate
    // field.
    for (int c = 0; c < field.components(); ++c) {
      const std::string component = field.components() > 1 ? fmt::format("_{}", c) : "";
      add(SavedKind::ChosenJ, field.first + c, "at_" + field.name + component, Type::Index,
          fmt::format("the j_index that {}{} comes from", field.name,
                      field.components() > 1 ? fmt::format(", component {},", c) : ""));
      add_image(field.first + c, "image_" + field.name + component);
    }
  }
  for (const std::size_t k : of_payloads) {
    const int chooser = pipeline.find(results[k].result)->first;
    for (const SavedResult& raw : results)
      if (finishes && raw.kind == SavedKind::Raw && raw.output == chooser) results[k].result = raw.result;
  }
  return results;
}

Reduction reduction_of(const SavedResult& result, const Field& output) {
  switch (result.kind) {
    case SavedKind::Raw:
    case SavedKind::ValueOfI:
      return output.reduction;
    case SavedKind::ChosenImage:
      return Reduction::At;
    case SavedKind::LogWeights:
      return Reduction::LogSumExp;
    case SavedKind::Zeros:
      return Reduction::Sum;
    case SavedKind::OthersProduct:
      return Reduction::Product;
    default:
      return is_minimum(output.reduction) ? Reduction::ArgMin : Reduction::ArgMax;
  }
}

// What finish() makes of component c of the total, computed from the components `first` ... of the values of i, because
// finish() cannot read totals.
NodeId finished_of_i(Pipeline& pipeline, const Field& total, int first, int c) {
  Graph& graph = pipeline.finish;
  const NodeId root = pipeline.finished[std::size_t(c)];
  const std::vector<bool> needed = reachable(graph, {root});
  std::vector<NodeId> copies(needed.size(), kNone);
  for (NodeId id = 0; id <= root; ++id) {
    if (!needed[std::size_t(id)]) continue;
    const Node node = graph[id];
    const auto component = int(node.payload) - total.first;
    const bool is_total = node.op == Op::Output && component >= 0 && component < total.components();
    copies[std::size_t(id)] =
        is_total ? graph.leaf(Op::Output, first + component, node.type) : copy_node(graph, node, copies);
  }
  return copies[std::size_t(root)];
}

}  // namespace

std::vector<SavedResult> saved_results(const Pipeline& pipeline, const std::vector<std::string>& of) {
  const bool finishes = !pipeline.finished.empty();
  const std::vector<SavedResult> every = every_result(pipeline);
  std::vector<int> outputs;  // first components of the outputs that `of` names, directly or by a saved result
  for (const std::string& name : of) {
    if (const Field* field = pipeline.find(name)) outputs.push_back(field->role == Role::Output ? field->first : -1);
    for (const SavedResult& result : every)
      if (result.is_added && result.result == name)
        outputs.push_back(pipeline.field_of(Role::Output, result.output).first);
  }
  std::vector<SavedResult> needed;
  for (const SavedResult& result : every) {
    const Field& output = pipeline.field_of(Role::Output, result.output);
    // finish() may compute any result from any output.
    bool is_needed = finishes || std::ranges::find(outputs, output.first) != outputs.end();
    if (result.kind == SavedKind::Raw && !finishes) is_needed = is_needed && is_exponential(output.reduction);
    if (is_needed) needed.push_back(result);
  }
  return needed;
}

Pipeline with_saved_results(const Pipeline& pipeline, const std::vector<SavedResult>& saved) {
  Pipeline result = pipeline;
  std::map<int, int> raw_of;  // first component of an output -> first component of its value before finish()
  const std::string* chosen_j = nullptr;  // of the last ChosenJ: the output that has its indices
  for (const SavedResult& one : saved) {
    if (one.kind == SavedKind::ChosenJ) chosen_j = &one.result;
    if (!one.is_added) continue;
    const Field& of = pipeline.field_of(Role::Output, one.output);
    Field field = one.field;
    field.role = Role::Output;
    field.first = result.components(Role::Output);
    field.reduction = reduction_of(one, of);
    if (one.kind == SavedKind::Raw) field.type = of.type, raw_of[of.first] = field.first;
    if (one.kind == SavedKind::ChosenImage) field.follows = result.find(*chosen_j)->first;
    for (int c = 0; c < field.components(); ++c) {
      const bool is_image = one.kind == SavedKind::ChosenImage;
      Contribution contribution = pipeline.contributions[std::size_t(one.output + (is_image ? 0 : c))];
      if (is_image) {
        const NodeId index = result.pair.leaf(Op::ImageIndex, one.axis, Type::Int);
        contribution = {.value = result.pair.cast(index, Type::Index), .guard = contribution.guard};
      }
      if (one.kind == SavedKind::LogWeights) contribution = {.value = contribution.logit, .guard = contribution.guard};
      if (one.kind == SavedKind::Zeros || one.kind == SavedKind::OthersProduct) {
        Graph& graph = result.pair;
        const Type type = graph[contribution.value].type;
        const NodeId none = graph.constant(0, type), unit = graph.constant(1, type);
        const NodeId is_zero = graph.binary(Op::Eq, contribution.value, none);
        contribution.value = one.kind == SavedKind::Zeros ? graph.select(is_zero, unit, none)
                                                          : graph.select(is_zero, unit, contribution.value);
      }
      result.contributions.push_back(contribution);
      if (result.finished.empty()) continue;
      const NodeId own = result.finish.leaf(Op::Output, field.first + c, result_type(field));
      const bool is_finished = one.kind == SavedKind::ValueOfI;
      result.finished.push_back(is_finished ? finished_of_i(result, of, field.first, one.output + c) : own);
    }
    if (one.kind == SavedKind::Raw && field.reduction == Reduction::At) field.follows = of.follows;
    result.fields.push_back(field);
  }
  // The payload of a choice is saved before finish(), so it follows the saved choice.
  for (const SavedResult& one : saved)
    if (one.kind == SavedKind::Raw && one.is_added)
      for (Field& field : result.fields)
        if (field.name == one.result && field.reduction == Reduction::At) field.follows = raw_of.at(field.follows);
  return result;
}

std::optional<SavedComponent> find_saved(const Pipeline& forward, const std::vector<SavedResult>& saved, SavedKind kind,
                                         int output) {
  // The output of the first pipeline that has the same terms.
  int of = output;
  const Field& field = forward.field_of(Role::Output, output);
  for (std::size_t k = 0; k < saved.size(); ++k) {
    if (!saved[k].is_added || saved[k].result != field.name) continue;
    // finish() does not change a saved result, so its raw value is the result itself.
    if (kind == SavedKind::Raw && saved[k].kind != SavedKind::ValueOfI) return SavedComponent{k, output - field.first};
    of = saved[k].output + output - field.first;
  }
  for (std::size_t k = 0; k < saved.size(); ++k) {
    const int component = of - saved[k].output;
    if (saved[k].kind == kind && component >= 0 && component < saved[k].field.components() * saved[k].width)
      return SavedComponent{k, component / saved[k].width};
  }
  return std::nullopt;
}

}  // namespace nbcc
