// Pipeline and Plan -> the scalar statements after the sums. Entry points: nan_or_zero_statements(),
// finish_statements(), scalar_statements(). Independent of backends.
#include "compiler/emit/finish.h"

#include <fmt/core.h>

#include <bit>

#include "compiler/emit/spelling.h"

namespace nbcc {
namespace {

class ScalarText {
 public:
  ScalarText(const Plan& plan, const ScalarSpelling& spelling) : plan_(plan), spelling_(spelling) {}

  // Defines a constant for each node; its name is the prefix and the node's number.
  std::string statements(const Graph& graph, const std::vector<NodeId>& nodes, char prefix) const {
    std::string text;
    for (NodeId id : nodes) {
      Node n = graph[id];
      if (n.type == Type::Real) n.type = Type::Double;
      const char* const of_doubles = n.type == Type::Vector || n.type == Type::Cell ? "<double>" : "";
      text += fmt::format("const {}{} {}{} = {};\n", name(n.type), of_doubles, prefix, id, value(graph, n, prefix));
    }
    return text;
  }

 private:
  std::string value(const Graph& graph, const Node& n, char prefix) const {
    switch (n.op) {
      case Op::Const:
        return spelling_.literal(std::bit_cast<double>(n.payload), n.type);
      case Op::Param:
        return fmt::format("{}param[{}]", spelling_.arguments, n.payload);
      case Op::InputI:
      case Op::InputJ:
      case Op::InputPair:
        return spelling_.input(n);
      case Op::Lookup:
        return table_element(plan_.table(n, true), spelling_.tables,
                             fmt::format("{0}{1} + {0}{2}", prefix, n.args[0], n.args[1]));
      case Op::IIndex:
        return spelling_.i_index;
      case Op::JIndex:
        return spelling_.j_index;
      case Op::Output: {
        const std::string result = spelling_.result(std::size_t(n.payload));
        const bool converted = n.type == Type::Index && !plan_.outputs[std::size_t(n.payload)].results_are_integers();
        return converted ? fmt::format("to_index({})", result) : result;
      }
      default:
        break;
    }
    std::array<std::string, 3> args;
    for (std::size_t k = 0; k < std::size_t(arity(n.op)); ++k) args[k] = fmt::format("{}{}", prefix, n.args[k]);
    return spelling_.operation(graph, n, args);
  }

  const Plan& plan_;
  const ScalarSpelling& spelling_;
};

// True if finish() does not change an output component.
bool is_untouched(const Pipeline& pipeline, std::size_t output) {
  const Node& result = pipeline.finish[pipeline.finished[output]];
  return result.op == Op::Output && result.payload == std::int64_t(output);
}

std::string set_results_to_nan(const Pipeline& pipeline, const Plan& plan, const ScalarSpelling& spelling) {
  std::string set;
  for (std::size_t k = 0; !pipeline.positions.empty() && k < plan.outputs.size(); ++k)
    if (pipeline.becomes_nan(int(k))) set += fmt::format(" {} = nan_or_zero;", spelling.result(k));
  return set.empty() ? "" : fmt::format("if (nan_or_zero != 0) {{{} }}\n", set);
}

}  // namespace

std::string scalar_statements(const Plan& plan, const Graph& graph, const std::vector<NodeId>& nodes, char prefix,
                              const ScalarSpelling& spelling) {
  return ScalarText(plan, spelling).statements(graph, nodes, prefix);
}

std::string nan_or_zero_statements(const Pipeline& pipeline, const Plan& plan, const ScalarSpelling& spelling) {
  if (set_results_to_nan(pipeline, plan, spelling).empty()) return "";
  std::string sum;
  for (const NodeId coordinate : pipeline.positions)
    sum += fmt::format("{0}(p{1} - p{1})", sum.empty() ? "" : " + ", coordinate);
  return fmt::format("{}const double nan_or_zero = {};\n",
                     ScalarText(plan, spelling).statements(pipeline.position_graph, plan.position_nodes, 'p'), sum);
}

std::string finish_statements(const Pipeline& pipeline, const Plan& plan, const ScalarSpelling& spelling) {
  const ScalarText nodes(plan, spelling);
  std::string text = set_results_to_nan(pipeline, plan, spelling) + nodes.statements(plan.graph, plan.scales, 's');
  for (std::size_t k = 0; k < plan.outputs.size(); ++k)
    if (const NodeId scale = plan.outputs[k].scale; scale != kNone && !spelling.result(k).empty())
      text += fmt::format("{0} = scaled({0}, s{1});\n", spelling.result(k), scale);
  text += nodes.statements(pipeline.finish, plan.finish, 'f');
  for (std::size_t k = 0; k < pipeline.finished.size(); ++k)
    if (!is_untouched(pipeline, k)) text += fmt::format("{} = f{};\n", spelling.result(k), pipeline.finished[k]);
  return text;
}

}  // namespace nbcc
