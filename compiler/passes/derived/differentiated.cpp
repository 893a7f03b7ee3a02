// Checks of names and of what has a derivative; nothing is differentiated here. Entry points: chosen_outputs(),
// chosen_variables().
#include "compiler/passes/derived/differentiated.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/derived/saved_results.h"
#include "compiler/passes/outputs/add_field.h"

namespace nbcc {
namespace {

bool is_named(const std::vector<std::string>& names, const Field& field) {
  return names.empty() || std::ranges::find(names, field.name) != names.end();
}

void check_names(const Pipeline& pipeline, const std::vector<std::string>& names, bool outputs) {
  for (const std::string& name : names) {
    const Field* field = pipeline.find(name);
    if (field == nullptr || (field->role == Role::Output) != outputs)
      throw InvalidAdjoint{
          fmt::format("pipeline '{}' has no {} '{}'", pipeline.name, outputs ? "output" : "input or param", name)};
    if (!is_floating(field->type))
      throw InvalidAdjoint{fmt::format("'{}' has an integer type, and integers have no derivatives", name)};
  }
}

bool is_of_side(const Field& field, AdjointSide side) {
  switch (field.role) {
    case Role::InputI:
      return side != AdjointSide::J;
    case Role::InputJ:
      return side != AdjointSide::I;
    case Role::Param:
      return side == AdjointSide::I || side == AdjointSide::Tangent;
    case Role::InputPair:  // on the side of j, the listed pairs have another order
      return side == AdjointSide::I || side == AdjointSide::Tangent;
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string> names_of_outputs(const Pipeline& pipeline, const AdjointChoice& choice) {
  if (pipeline.dialect == Dialect::Cunbody)
    throw InvalidAdjoint{
        fmt::format("pipeline '{}' is in the dialect of CUNBODY-1; derivatives need named fields", pipeline.name)};
  if (!choice.of.empty()) return choice.of;
  std::vector<std::string> names;
  for (const Field& field : pipeline.fields)
    if (field.role == Role::Output && is_floating(field.type)) names.push_back(field.name);
  return names;
}

std::vector<Field> chosen_outputs(const Pipeline& forward, const std::vector<std::string>& names) {
  check_names(forward, names, true);
  std::vector<Field> result;
  for (const Field& field : forward.fields) {
    if (field.role != Role::Output || std::ranges::find(names, field.name) == names.end()) continue;
    if (keeps_index(field.reduction) || field.reduction == Reduction::Count) continue;
    if (field.is_total() && field.reduction == Reduction::Product)
      throw InvalidAdjoint{fmt::format("output '{}' is an output({}), which nbcc does not differentiate", field.name,
                                       reduction_text(field))};
    result.push_back(field);
  }
  if (result.empty()) throw InvalidAdjoint{fmt::format("pipeline '{}' has no output to differentiate", forward.name)};
  return result;
}

std::vector<Field> chosen_variables(const Pipeline& forward, const AdjointChoice& choice, AdjointSide side) {
  check_names(forward, choice.by, false);
  std::vector<Field> result;
  int count = 0;
  for (const Field& field : forward.fields) {
    if (side == AdjointSide::OneSet && (field.role == Role::InputPair || field.is_pair_result()))
      throw InvalidAdjoint{fmt::format(
          "'{}' is {} listed pairs, which are listed by i or by j; nbcc makes no derivatives by inputs of both at once",
          field.name, field.role == Role::InputPair ? "an input of" : "a result of")};
    if (!is_floating(field.type) || !is_of_side(field, side) || !is_named(choice.by, field)) continue;
    if (side == AdjointSide::OneSet && field.role == Role::InputJ && partner_of(forward, field) != nullptr) continue;
    result.push_back(field);
    count += field.components();
  }
  if (result.empty())
    throw InvalidAdjoint{fmt::format("pipeline '{}' has no input or param to differentiate by", forward.name)};
  if (count > kMaxDerivatives)
    throw InvalidAdjoint{fmt::format("{} derivatives at once; at most {} are made", count, kMaxDerivatives)};
  return result;
}

Pipeline with_params_of_i(const Pipeline& pipeline, const std::vector<std::string>& names) {
  Pipeline result = pipeline;
  std::vector<Field> moved;
  std::erase_if(result.fields, [&](const Field& field) {
    const bool is_moved = field.role == Role::Param && std::ranges::find(names, field.name) != names.end();
    if (is_moved && field.is_table())
      throw InvalidAdjoint{fmt::format("'{}' is a table, which cannot differ from one i to another", field.name)};
    if (is_moved) moved.push_back(field);
    return is_moved;
  });
  // Components of other params move to the front.
  const auto shifted = [&](int component) {
    int before = 0;
    for (const Field& field : moved) before += field.first < component ? field.components() : 0;
    return component - before;
  };
  for (Field& field : result.fields)
    if (field.role == Role::Param) field.first = shifted(field.first);
  for (Table& table : result.tables) table.first = shifted(table.first);
  std::map<int, int> component_of_i;
  for (Field field : moved) {
    const int first = field.first;
    field.defaults.clear();
    const int now = add_field(result, field.name, Role::InputI, field.type, field);
    for (int c = 0; c < field.components(); ++c) component_of_i[first + c] = now + c;
  }
  rewrite(result, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (old.op != Op::Param) return copy_node(target, old, args);
    const auto found = component_of_i.find(int(old.payload));
    if (found != component_of_i.end()) return target.leaf(Op::InputI, found->second, old.type, old.where);
    return target.leaf(Op::Param, shifted(int(old.payload)), old.type, old.where);
  });
  return result;
}

int table_of(const Pipeline& pipeline, const Field& field) {
  int found = -1;
  for (std::size_t t = 0; t < pipeline.tables.size(); ++t) {
    const Table& table = pipeline.tables[t];
    if (field.role != Role::Param || table.first < field.first || table.first >= field.first + field.components())
      continue;
    if (table.power >= 0 || table.stride != 1)
      throw InvalidAdjoint{fmt::format(
          "'{}' is interpolated or a table of vectors; nbcc makes no derivatives by its elements", field.name)};
    found = int(t);
  }
  return found;
}

std::vector<NodeId> lookups_of(const Graph& graph, int table) {
  std::vector<NodeId> result;
  for (NodeId id = 0; id < graph.size(); ++id)
    if (graph[id].op == Op::Lookup && graph[id].payload == table) result.push_back(id);
  return result;
}

}  // namespace nbcc
