// Lookups of pairs -> where their tables stand, and lookups that count in bytes. Doors: those of the header. Writes no
// text.
#include "compiler/emit/cuda/cuda_tables.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

constexpr std::int64_t kLoadBytes = 16;  // that a thread loads at once

using Place = std::pair<NodeId, NodeId>;  // row and column

bool is_of_pair(const Node& n) { return n.op == Op::Lookup && n.binding == Binding::Pair; }

// By table: where pairs read it.
std::map<int, std::set<Place>> elements_read(const Pipeline& pipeline) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  std::map<int, std::set<Place>> places;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& n = pipeline.pair[id];
    if (needed[std::size_t(id)] && is_of_pair(n)) places[int(n.payload)].emplace(n.args[0], n.args[1]);
  }
  return places;
}

// What a row is the first element of, if its node says so: x of x * columns. kNone: it does not.
NodeId number_of_row(const Graph& graph, NodeId row, const Table& table) {
  const Node& n = graph[row];
  if (n.op != Op::Mul) return kNone;
  for (const int k : {0, 1})
    if (graph.is_constant(n.args[std::size_t(k)], double(columns_of(table)))) return n.args[std::size_t(1 - k)];
  return kNone;
}

// Threads differ in i. Where these choose rows, and rows had an even number of elements, threads would meet in few of
// the banks of shared memory.
bool wants_odd_rows(const Graph& graph, const std::set<Place>& places, const Table& table) {
  return std::ranges::all_of(places, [&](const Place& place) {
    const auto& [row, column] = place;
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
  const std::map<int, std::set<Place>> places = elements_read(pipeline);
  std::map<int, PlacedTable> placed;
  std::int64_t offset = 0;
  const auto element = [&](const Table& table) {
    return element_of(pipeline.field_of(Role::Param, table.first).type, precision);
  };
  for (const auto& [number, read] : places) {
    if (placed.count(number)) continue;
    const Table& table = pipeline.tables[std::size_t(number)];
    const std::int64_t size = size_of(element(table)), columns = columns_of(table);
    std::vector<int> beside;
    for (const auto& [other, its] : places) {
      const Table& one = pipeline.tables[std::size_t(other)];
      const bool is_alike =
          its == read && one.count == table.count && columns_of(one) == columns && element(one) == element(table);
      if (is_alike && !placed.count(other) && std::int64_t(beside.size() + 1) * size <= kLoadBytes)
        beside.push_back(other);
    }
    const std::int64_t step = size * std::int64_t(std::bit_ceil(beside.size()));
    const std::int64_t row_step = step * (wants_odd_rows(pipeline.pair, read, table) ? columns | 1 : columns);
    for (std::size_t k = 0; k < beside.size(); ++k)
      placed[beside[k]] = {pipeline.tables[std::size_t(beside[k])], element(table), offset + std::int64_t(k) * size,
                           step, row_step};
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
    const std::int64_t side_by_side = table.offset / table.step * table.step;
    plan.loaded_with[id] = loads.try_emplace({n.args[0], n.args[1], side_by_side}, id).first->second;
  }
}

TableRange range_of_pairs(const Plan& plan) {
  TableRange range;
  if (plan.tables_of_pairs.empty()) return range;
  // The first one begins all.
  range.begin = plan.tables_of_pairs.begin()->second.offset;
  std::int64_t end = 0;
  for (const auto& [number, table] : plan.tables_of_pairs) end = std::max(end, end_of(table));
  range.bytes = (end - range.begin + 15) / 16 * 16;
  return range;
}

}  // namespace nbcc
