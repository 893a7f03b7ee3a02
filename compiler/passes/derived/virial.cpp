// Adds one output and the terms of its six components, under the guards of the force. Entry point: with_virial().
#include "compiler/passes/derived/virial.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "compiler/passes/prove/pair_displacement.h"

namespace nbcc {
namespace {

// The field of that name and role, which must be a vec3 of real numbers.
const Field& vector_field(const Pipeline& pipeline, const std::string& name, Role role) {
  const Field* const field = pipeline.find(name);
  if (!field || field->role != role)
    throw NoVirial{fmt::format("pipeline '{}' has no {} '{}'", pipeline.name, nbcc::name(role), name)};
  if (field->width != 3 || field->length != 0 || field->type < Type::Float)
    throw NoVirial{fmt::format("pipeline '{}': '{}' must be a vec3 to have a virial", pipeline.name, name)};
  return *field;
}

Field virial_field(const Pipeline& pipeline, const Field& force) {
  Field field;
  field.name = force.name + "_virial";
  field.role = Role::Output;
  field.type = force.type;
  field.length = 6;
  field.reduction = Reduction::Sum;
  field.first = pipeline.components(Role::Output);
  field.where = force.where;
  field.comment = "half of the virial of i's pairs: xx, yy, zz, xy, xz, yz";
  if (pipeline.find(field.name))
    throw NoVirial{fmt::format("pipeline '{}' has a '{}' already", pipeline.name, field.name)};
  return field;
}

// True if the force is a plain sum over pairs: finish() may read it, but must not change it.
bool is_sum_of_pairs(const Pipeline& pipeline, const Field& force) {
  if (force.reduction != Reduction::Sum) return false;
  for (int c = force.first; c < force.first + 3; ++c) {
    if (pipeline.finished.empty()) break;
    const Node& end = pipeline.finish[pipeline.finished[std::size_t(c)]];
    if (end.op != Op::Output || end.payload != c) return false;
  }
  return true;
}

std::array<NodeId, 3> differences_of(Pipeline& pipeline, const Field& force, const Field& position_i,
                                     const Field& position_j) {
  std::vector<NodeId> values;
  for (int c = force.first; c < force.first + 3; ++c)
    if (const NodeId value = pipeline.contributions[std::size_t(c)].value; value != kNone) values.push_back(value);
  try {
    return pair_displacement(pipeline.pair, values, position_i, position_j);
  } catch (const UnclearDisplacement& unclear) {
    throw NoVirial{fmt::format("pipeline '{}' has no virial: '{}' {}", pipeline.name, force.name, unclear.message)};
  }
}

}  // namespace

Pipeline with_virial(const Pipeline& pipeline, const VirialChoice& choice) {
  const Field force = vector_field(pipeline, choice.force, Role::Output);
  const Field position_i = vector_field(pipeline, choice.place_i, Role::InputI);
  const Field position_j = vector_field(pipeline, choice.place_j, Role::InputJ);
  if (!is_sum_of_pairs(pipeline, force))
    throw NoVirial{
        fmt::format("pipeline '{}': output '{}' is not a plain sum over pairs: a result of finish() has no virial",
                    pipeline.name, force.name)};
  Pipeline made = pipeline;
  const Field virial = virial_field(pipeline, force);
  made.fields.push_back(virial);

  Graph& graph = made.pair;
  const std::array<NodeId, 3> differences = differences_of(made, force, position_i, position_j);
  const NodeId half = graph.constant(-0.5, Type::Real);  // with x_j - x_i, which most sources compute
  constexpr std::pair<int, int> kComponents[] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (int k = 0; k < 6; ++k) {
    const auto [a, b] = kComponents[k];
    Contribution term = made.contributions[std::size_t(force.first + b)];
    if (term.value != kNone)
      term.value = graph.binary(Op::Mul, graph.binary(Op::Mul, half, differences[std::size_t(a)]), term.value);
    made.contributions.push_back(term);
    if (!made.finished.empty()) made.finished.push_back(made.finish.leaf(Op::Output, virial.first + k, virial.type));
  }
  return made;
}

}  // namespace nbcc
