// Recognises Lookups of the form T[a][b], as lowering makes them: row a * columns, column b. Entry points: the header.
#include "compiler/passes/derived/symmetric_tables.h"

#include <array>
#include <optional>

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

// The indices of an element of a square table; neither is constant.
struct Indices {
  NodeId row = kNone, column = kNone;
};

int param_of(const Pipeline& pipeline, const Node& lookup) {
  return pipeline.field_of(Role::Param, pipeline.tables[std::size_t(lookup.payload)].first).first;
}

// `lookup` with the arguments `args` in `graph`.
std::optional<Indices> indices_in(const Pipeline& pipeline, const Graph& graph, const Node& lookup,
                                  const std::array<NodeId, 3>& args) {
  if (lookup.op != Op::Lookup) return {};
  const Table& table = pipeline.tables[std::size_t(lookup.payload)];
  if (table.power >= 0 || table.columns == 0 || table.count != table.columns * table.columns) return {};
  const Node& row = graph[args[0]];
  if (row.op != Op::Mul || !graph.is_constant(row.args[1], table.columns) || graph.is_constant(args[1])) return {};
  return Indices{row.args[0], args[1]};
}

bool have_equal_arguments(const Node& a, const Node& b) {
  return (a.args[0] == b.args[0] && a.args[1] == b.args[1]) || (a.args[0] == b.args[1] && a.args[1] == b.args[0]);
}

// True for [min(a, b)][max(a, b)] in the text. Lowering has clamped both indices to the table, and converted them.
bool are_ordered(const Graph& graph, const Indices& indices) {
  const auto without_clamp = [&graph](NodeId id) {
    const auto is_clamp = [&graph](const Node& n) {
      return n.op == Op::Cast || ((n.op == Op::Min || n.op == Op::Max) && graph.is_constant(n.args[1]));
    };
    while (is_clamp(graph[id])) id = graph[id].args[0];
    return graph[id];
  };
  const Node a = without_clamp(indices.row), b = without_clamp(indices.column);
  return ((a.op == Op::Min && b.op == Op::Max) || (a.op == Op::Max && b.op == Op::Min)) && have_equal_arguments(a, b);
}

NodeId lookup_at(Graph& graph, const Pipeline& pipeline, const Node& old, NodeId row, NodeId column) {
  const int columns = pipeline.tables[std::size_t(old.payload)].columns;
  const NodeId first = graph.binary(Op::Mul, row, graph.constant(columns, Type::Int));
  return copy_node(graph, old, std::array<NodeId, 3>{first, column, kNone});
}

}  // namespace

TableParams square_tables(const Pipeline& pipeline, const std::vector<NodeId>& roots) {
  TableParams found;
  const std::vector<bool> needed = reachable(pipeline.pair, roots);
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (!needed[std::size_t(id)]) continue;
    const std::optional<Indices> indices = indices_in(pipeline, pipeline.pair, node, node.args);
    if (indices && indices->row != indices->column && !are_ordered(pipeline.pair, *indices))
      found.insert(param_of(pipeline, node));
  }
  return found;
}

void order_indices(Pipeline& pipeline, const TableParams& tables) {
  rewrite(pipeline, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    const std::optional<Indices> indices = indices_in(pipeline, target, old, args);
    if (!indices || indices->row == indices->column || !tables.contains(param_of(pipeline, old)))
      return copy_node(target, old, args);
    return lookup_at(target, pipeline, old, target.binary(Op::Min, indices->row, indices->column),
                     target.binary(Op::Max, indices->row, indices->column));
  });
}

void unorder_indices(Pipeline& pipeline, const TableParams& tables) {
  rewrite(pipeline, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    const std::optional<Indices> indices = indices_in(pipeline, target, old, args);
    if (!indices || !tables.contains(param_of(pipeline, old))) return copy_node(target, old, args);
    const Node row = target[indices->row], column = target[indices->column];
    if (row.op != Op::Min || column.op != Op::Max || !have_equal_arguments(row, column))
      return copy_node(target, old, args);
    return lookup_at(target, pipeline, old, row.args[0], row.args[1]);
  });
}

}  // namespace nbcc
