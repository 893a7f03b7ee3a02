// Lookups of pairs -> the layout of their tables, and lookups with byte offsets. Entry points: see the header.
#include "compiler/emit/cuda/pair/cuda_tables.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

constexpr std::int64_t kLoadBytes = 16;  // bytes of a thread's largest load

using Element2D = std::pair<NodeId, NodeId>;  // nodes of row and column

bool is_of_pair(const Node& n) { return n.op == Op::Lookup && n.binding == Binding::Pair; }

// Table -> the row and column nodes at which pairs read the table.
std::map<int, std::set<Element2D>> elements_read(const Pipeline& pipeline) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  std::map<int, std::set<Element2D>> elements;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& n = pipeline.pair[id];
    if (needed[std::size_t(id)] && is_of_pair(n)) elements[int(n.payload)].emplace(n.args[0], n.args[1]);
  }
  return elements;
}

// The row number x, if the node of the row's first element is x * columns; otherwise kNone.
NodeId number_of_row(const Graph& graph, NodeId row, const Table& table) {
  const Node& n = graph[row];
  if (n.op != Op::Mul) return kNone;
  for (const int k : {0, 1})
    if (graph.is_constant(n.args[std::size_t(k)], double(columns_of(table)))) return n.args[std::size_t(1 - k)];
  return kNone;
}

// Bank conflicts: threads differ in i. If i selects the row, rows with an even number of elements would map the threads
// to few banks of shared memory.
bool wants_odd_rows(const Graph& graph, const std::set<Element2D>& elements, const Table& table) {
  return std::ranges::all_of(elements, [&](const Element2D& element) {
    const auto& [row, column] = element;
    return graph[row].binding == Binding::I && graph[column].binding != Binding::Pair &&
           number_of_row(graph, row, table) != kNone;
  });
}

NodeId times(Graph& graph, NodeId node, std::int64_t factor) {
  if (graph.is_constant(node)) return graph.constant(graph.constant_value(node) * double(factor), Type::Int);
  return graph.binary(Op::Mul, node, graph.constant(double(factor), Type::Int), graph[node].where);
}

}  // namespace

std::map<int, PlacedTable> tables_of_pairs(const Pipeline& pipeline, Precision precision) {
  const std::map<int, std::set<Element2D>> elements = elements_read(pipeline);
  std::map<int, PlacedTable> placed;
  std::int64_t offset = 0;
  const auto element = [&](const Table& table) {
    return element_of(pipeline.field_of(Role::Param, table.first).type, precision);
  };
  for (const auto& [number, read] : elements) {
    if (placed.count(number)) continue;
    const Table& table = pipeline.tables[std::size_t(number)];
    const std::int64_t size = size_of(element(table)), columns = columns_of(table);
    std::vector<int> interleaved;
    for (const auto& [other, its] : elements) {
      const Table& one = pipeline.tables[std::size_t(other)];
      const bool has_same_layout =
          its == read && one.count == table.count && columns_of(one) == columns && element(one) == element(table);
      if (has_same_layout && !placed.count(other) && std::int64_t(interleaved.size() + 1) * size <= kLoadBytes)
        interleaved.push_back(other);
    }
    const std::int64_t step = size * std::int64_t(std::bit_ceil(interleaved.size()));
    const std::int64_t row_step = step * (wants_odd_rows(pipeline.pair, read, table) ? columns | 1 : columns);
    for (std::size_t k = 0; k < interleaved.size(); ++k)
      placed[interleaved[k]] = {pipeline.tables[std::size_t(interleaved[k])], element(table),
                                offset + std::int64_t(k) * size, step, row_step};
    offset += (table.count / columns * row_step + 15) / 16 * 16;
  }
  return placed;
}

Pipeline with_byte_offsets(Pipeline pipeline, const std::map<int, PlacedTable>& tables) {
  if (tables.empty()) return pipeline;
  rewrite(pipeline, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (!is_of_pair(old)) return copy_node(target, old, args);
    const PlacedTable& table = tables.at(int(old.payload));
    const std::int64_t columns = columns_of(table);
    NodeId& row = args[0];
    if (target.is_constant(row)) {
      const auto first = std::int64_t(target.constant_value(row));
      row = target.constant(double(first / columns * table.row_step + first % columns * table.step), Type::Int);
    } else if (const NodeId number = number_of_row(target, row, table); number != kNone) {
      row = times(target, number, table.row_step);
    } else {
      row = times(target, row, table.step);
    }
    args[1] = times(target, args[1], table.step);
    return copy_node(target, old, args);
  });
  return pipeline;
}

void add_tables_of_pairs(Plan& plan, std::map<int, PlacedTable> tables) {
  std::int64_t end = 0;
  for (const PlacedTable& table : plan.tables) end = std::max(end, end_of(table));
  for (auto& [number, table] : tables) table.offset += (end + 15) / 16 * 16;
  plan.tables_of_pairs = std::move(tables);
  std::map<std::tuple<NodeId, NodeId, std::int64_t>, NodeId> loads;
  for (NodeId id : plan.pair) {
    const Node& n = plan.graph[id];
    if (!is_of_pair(n)) continue;
    const PlacedTable& table = plan.tables_of_pairs.at(int(n.payload));
    if (table.step == size_of(table.element)) continue;
    const std::int64_t first_of_interleaved = table.offset / table.step * table.step;
    plan.loaded_with[id] = loads.try_emplace({n.args[0], n.args[1], first_of_interleaved}, id).first->second;
  }
}

TableRange range_of_pairs(const Plan& plan) {
  TableRange range;
  if (plan.tables_of_pairs.empty()) return range;
  // The table with the lowest number comes first.
  range.begin = plan.tables_of_pairs.begin()->second.offset;
  std::int64_t end = 0;
  for (const auto& [number, table] : plan.tables_of_pairs) end = std::max(end, end_of(table));
  range.bytes = (end - range.begin + 15) / 16 * 16;
  return range;
}

}  // namespace nbcc
