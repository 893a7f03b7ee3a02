// Entry points: period_of(), length_of_period(), nodes_of_period(). A selection whose first value is kLongestPeriod is
// a period.
#include "compiler/ir/period.h"

#include "compiler/periodic_length.h"

namespace nbcc {

NodeId period_of(Graph& graph, NodeId length, Location where) {
  const Type type = graph[length].type;
  const NodeId longest = graph.constant(kLongestPeriod, type, where);
  if (graph.is_constant(length)) return is_open(graph.constant_value(length)) ? longest : length;
  const NodeId size = graph.unary(Op::Abs, length, where);
  const NodeId is_short = graph.binary(Op::Lt, size, graph.constant(kShortestPeriod, type, where), where);
  const NodeId is_long = graph.binary(Op::Lt, longest, size, where);
  return graph.select(graph.binary(Op::Or, is_short, is_long, where), longest, length, where);
}

NodeId length_of_period(const Graph& graph, NodeId period) {
  const Node& n = graph[period];
  return n.op == Op::Select && graph.is_constant(n.args[1], kLongestPeriod) ? n.args[2] : period;
}

std::vector<NodeId> nodes_of_period(const Graph& graph, NodeId period) {
  if (length_of_period(graph, period) == period) return {};
  const NodeId condition = graph[period].args[0];
  std::vector<NodeId> nodes{period, condition};
  for (std::size_t k = 0; k < nodes.size(); ++k)
    for (const NodeId arg : graph[nodes[k]].args)
      if (k > 0 && arg != kNone && arity(graph[arg].op) > 0) nodes.push_back(arg);
  return nodes;
}

}  // namespace nbcc
