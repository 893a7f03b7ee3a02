// Entry point: pair_values_pipelines().
#include "compiler/passes/derived/pair_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

// The pipeline with those outputs alone that are per pair, or with all others.
Pipeline with_outputs(Pipeline pipeline, bool of_pair) {
  std::vector<int> moved(pipeline.contributions.size(), -1);  // by component
  std::vector<Contribution> contributions;
  std::vector<NodeId> finished;
  std::vector<Field> fields;
  for (Field field : pipeline.fields) {
    if (field.role == Role::Output && field.is_of_pair() != of_pair) continue;
    if (field.role == Role::Output) {
      const int first = int(contributions.size());
      for (int c = 0; c < field.components(); ++c) {
        const auto old = std::size_t(field.first + c);
        moved[old] = int(contributions.size());
        contributions.push_back(pipeline.contributions[old]);
        if (!pipeline.finished.empty()) finished.push_back(pipeline.finished[old]);
      }
      field.first = first;
    }
    fields.push_back(field);
  }
  for (Field& field : fields)
    if (field.role == Role::Output && field.follows >= 0) field.follows = moved[std::size_t(field.follows)];
  pipeline.fields = std::move(fields);
  pipeline.contributions = std::move(contributions);
  pipeline.finished = std::move(finished);
  rewrite(pipeline, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (old.op != Op::Output) return copy_node(target, old, args);
    return target.leaf(Op::Output, moved[std::size_t(old.payload)], old.type, old.where);
  });
  return pipeline;
}

}  // namespace

PairValuesPipelines pair_values_pipelines(const Pipeline& pipeline) {
  PairValuesPipelines made;
  if (!std::ranges::all_of(pipeline.fields,
                           [](const Field& f) { return f.role != Role::Output || f.is_pair_result(); }))
    made.sums = with_outputs(pipeline, false);
  Pipeline& values = made.values;
  values = with_outputs(pipeline, true);
  values.finish = {};
  values.finished.clear();
  values.position_graph = {};
  values.positions.clear();
  const int of_j = pipeline.components(Role::InputI), of_pairs = of_j + pipeline.components(Role::InputJ);
  int next = of_pairs + pipeline.components(Role::InputPair);
  for (Field& field : values.fields) {
    if (field.role == Role::InputJ) field.first += of_j;
    if (field.role == Role::InputPair) field.first += of_pairs;
    if (field.role == Role::InputJ || field.role == Role::InputPair) field.role = Role::InputI;
    if (field.role != Role::Param) field.kind = kind_of(field.role);
  }
  // Components are numbered in the order of the fields.
  std::ranges::stable_sort(values.fields, {}, [](const Field& field) {
    return field.role == Role::InputI ? std::pair(0, field.first) : std::pair(1, 0);
  });
  std::array<int, 2> index{-1, -1};  // of i and of j
  const auto index_of = [&](int side) {
    int& component = index[std::size_t(side)];
    if (component >= 0) return component;
    Field field;
    field.name = side == 0 ? kIndexOfI : kIndexOfJ;
    field.role = Role::InputI;
    field.type = Type::Index;
    field.first = component = next++;
    values.fields.push_back(field);
    return component;
  };
  rewrite(values, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    switch (old.op) {
      case Op::InputJ:
        return target.leaf(Op::InputI, old.payload + of_j, old.type, old.where);
      case Op::InputPair:
        return target.leaf(Op::InputI, old.payload + of_pairs, old.type, old.where);
      case Op::IIndex:
      case Op::JIndex:
        return target.leaf(Op::InputI, index_of(old.op == Op::JIndex), old.type, old.where);
      default:
        return copy_node(target, old, args);
    }
  });
  return made;
}

}  // namespace nbcc
