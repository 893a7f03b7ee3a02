// Pipelines built by hand, for tests of what comes after the parser.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc::test {

Field field(Role role, std::string name, int width = 1, Type type = Type::Real);
Field output(std::string name, Reduction reduction = Reduction::Sum);

// Numbers the fields' components; contributions are there, one per output component, and still empty.
Pipeline pipeline_of(std::vector<Field> fields);

// Leaves of the working precision.
NodeId input_i(Graph& graph, int component);
NodeId input_j(Graph& graph, int component);

// One input of each side, one param, one summed output whose contribution is `value(pair graph)`.
template <class Value>
Pipeline sum_of(const Value& value) {
  Pipeline pipeline =
      pipeline_of({field(Role::InputI, "xi"), field(Role::InputJ, "xj"), field(Role::Param, "p"), output("s")});
  pipeline.contributions[0].value = value(pipeline.pair);
  return pipeline;
}

}  // namespace nbcc::test
