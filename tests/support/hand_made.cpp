// Fields become a Pipeline without a parser, by pipeline_of(). The graphs are the tests' own business.
#include "tests/support/hand_made.h"

#include <array>
#include <utility>

namespace nbcc::test {

Field field(Role role, std::string name, int width, Type type) {
  Field result;
  result.name = std::move(name);
  result.role = role;
  result.kind = kind_of(role);
  result.type = type;
  result.width = width;
  return result;
}

Field output(std::string name, Reduction reduction) {
  const bool keeps_index = reduction == Reduction::ArgMin || reduction == Reduction::ArgMax;
  Field result = field(Role::Output, std::move(name), 1, keeps_index ? Type::Index : Type::Real);
  result.reduction = reduction;
  return result;
}

Pipeline pipeline_of(std::vector<Field> fields) {
  Pipeline pipeline;
  pipeline.name = "hand_made";
  pipeline.fields = std::move(fields);
  std::array<int, 4> next{};
  for (Field& field : pipeline.fields) {
    int& first = next[std::size_t(field.role)];
    field.first = first;
    first += field.components();
  }
  pipeline.contributions.resize(std::size_t(pipeline.components(Role::Output)));
  return pipeline;
}

NodeId input_i(Graph& graph, int component) { return graph.leaf(Op::InputI, component, Type::Real); }
NodeId input_j(Graph& graph, int component) { return graph.leaf(Op::InputJ, component, Type::Real); }

}  // namespace nbcc::test
