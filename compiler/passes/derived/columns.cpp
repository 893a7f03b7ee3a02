// Copies the terms of one output for each column, with the component of the input replaced. Equal nodes are one node,
// so that only what depends on the input is copied. Entry point: with_columns().
#include "compiler/passes/derived/columns.h"

#include <fmt/format.h>

#include <vector>

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

// Each i of a kernel holds the results of all columns.
constexpr int kMaxColumnNumbers = 256;

Field vector_of(const Pipeline& pipeline, const std::string& name) {
  const Field* const field = pipeline.find(name);
  if (!field || field->role != Role::InputJ || field->numbers() != 1 || field->length != 0 || !is_floating(field->type))
    throw NoColumns{fmt::format("pipeline '{}': '{}' is no real number of each j", pipeline.name, name)};
  return *field;
}

Field output_of_columns(const Pipeline& pipeline, const std::string& name, int count) {
  const Field* const field = pipeline.find(name);
  if (!field || field->role != Role::Output || field->reduction != Reduction::Sum || field->length != 0 ||
      field->is_complex || !is_floating(field->type) || field->kind != FieldKind::Particle)
    throw NoColumns{fmt::format("pipeline '{}': '{}' is no output(sum) of real numbers", pipeline.name, name)};
  if (count < 2 || count * field->width > kMaxColumnNumbers)
    throw NoColumns{fmt::format("pipeline '{}': expected 2 to {} columns, got {}", pipeline.name,
                                kMaxColumnNumbers / field->width, count)};
  for (int c = field->first; c < field->first + field->width && !pipeline.finished.empty(); ++c) {
    const Node& end = pipeline.finish[pipeline.finished[std::size_t(c)]];
    if (end.op != Op::Output || end.payload != c)
      throw NoColumns{fmt::format("pipeline '{}': finish() changes '{}'", pipeline.name, name)};
  }
  return *field;
}

// Copies the nodes below the roots, with the input of column k; other inputs of j come behind all columns.
std::vector<NodeId> copied_for_column(const Graph& old, Graph& graph, const std::vector<NodeId>& roots, int vector,
                                      int count, int k) {
  const std::vector<bool> needed = reachable(old, roots);
  std::vector<NodeId> new_ids(std::size_t(old.size()), kNone);
  for (NodeId id = 0; id < old.size(); ++id) {
    if (!needed[std::size_t(id)]) continue;
    const Node& node = old[id];
    if (node.op != Op::InputJ) {
      new_ids[std::size_t(id)] = copy_node(graph, node, new_ids);
      continue;
    }
    const std::int64_t component = node.payload == vector  ? vector + k
                                   : node.payload > vector ? node.payload + count - 1
                                                           : node.payload;
    new_ids[std::size_t(id)] = graph.leaf(Op::InputJ, component, node.type, node.where);
  }
  return new_ids;
}

}  // namespace

Pipeline with_columns(const Pipeline& pipeline, const std::string& vector, const std::string& output, int count) {
  const Field input = vector_of(pipeline, vector), result = output_of_columns(pipeline, output, count);
  Pipeline made;
  made.name = pipeline.name;
  made.tables = pipeline.tables;
  for (Field field : pipeline.fields) {
    if (field.role == Role::Output && field.name != result.name) continue;
    if (field.name == input.name || field.name == result.name) field.length = count;
    field.first = made.components(field.role);
    made.fields.push_back(std::move(field));
  }
  std::vector<NodeId> roots;
  for (int c = result.first; c < result.first + result.width; ++c) {
    roots.push_back(pipeline.contributions[std::size_t(c)].value);
    roots.push_back(pipeline.contributions[std::size_t(c)].guard);
  }
  for (int k = 0; k < count; ++k) {
    const std::vector<NodeId> ids = copied_for_column(pipeline.pair, made.pair, roots, input.first, count, k);
    for (int c = result.first; c < result.first + result.width; ++c) {
      const Contribution& old = pipeline.contributions[std::size_t(c)];
      made.contributions.push_back(
          {.value = ids[std::size_t(old.value)], .guard = old.guard == kNone ? kNone : ids[std::size_t(old.guard)]});
    }
  }
  return made;
}

}  // namespace nbcc
