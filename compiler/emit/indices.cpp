// TableIndices -> statements for one particle. Entry points: see the header. Independent of backends.
#include "compiler/emit/indices.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace nbcc {
namespace {

std::vector<NodeId> needed_for(const TableIndices& indices, const TableIndices::Range& range) {
  const std::vector<bool> needed = reachable(indices.graph, {range.value, range.condition});
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < indices.graph.size(); ++id)
    if (needed[std::size_t(id)]) nodes.push_back(id);
  return nodes;
}

// Adds the columns of the inputs among the nodes; false if an input has no column.
bool find_columns(const TableIndices& indices, const SidePlan& side, const std::vector<NodeId>& nodes,
                  std::set<int>& columns) {
  for (const NodeId id : nodes) {
    const Node& n = indices.graph[id];
    if (n.op != Op::InputI && n.op != Op::InputJ && n.op != Op::InputPair) continue;
    const auto whole = side.whole.find(int(n.payload)), low = side.low.find(int(n.payload));
    if (whole == side.whole.end()) return false;
    columns.insert(whole->second);
    if (low != side.low.end()) columns.insert(low->second);
  }
  return true;
}

const std::array<SidePlan Plan::*, kIndexSides> kSides{&Plan::i, &Plan::j, &Plan::listed};

// The ranges of a side that some check reads.
std::set<int> wanted_ranges(const IndexChecks& checks, std::size_t side) {
  std::set<int> wanted;
  for (const IndexCheck& check : checks.checks)
    if (check.parts[side].range >= 0) wanted.insert(check.parts[side].range);
  return wanted;
}

}  // namespace

IndexChecks readable_checks(const TableIndices& indices, const Plan& plan) {
  IndexChecks readable = indices;
  std::array<std::set<int>, kIndexSides> columns;
  std::erase_if(readable.checks, [&](const IndexCheck& check) {
    for (std::size_t side = 0; side < kIndexSides; ++side) {
      const int range = check.parts[side].range;
      if (range < 0 || find_columns(indices, plan.*kSides[side],
                                    needed_for(indices, indices.of_side[side][std::size_t(range)]), columns[side]))
        continue;
      readable.unchecked.push_back(
          {check.index, check.table, "the optimized kernel does not read its inputs", check.line, 0});
      return true;
    }
    return false;
  });
  for (std::size_t side = 0; side < kIndexSides; ++side)
    readable.columns[side].assign(columns[side].begin(), columns[side].end());
  return readable;
}

IndexText index_text(const TableIndices& indices, const IndexChecks& checks, const Plan& plan,
                     const ScalarSpelling& spelling, const std::array<const char*, kIndexSides>& positions) {
  IndexText text;
  for (std::size_t side = 0; side < kIndexSides; ++side) {
    std::set<NodeId> nodes;
    std::string notes;
    for (const int k : wanted_ranges(checks, side)) {
      const TableIndices::Range& range = indices.of_side[side][std::size_t(k)];
      for (const NodeId id : needed_for(indices, range)) nodes.insert(id);
      notes += fmt::format("if (n{}) note(ranges, {}, n{}, {});\n", range.condition, k, range.value, positions[side]);
    }
    text[side] = scalar_statements(plan, indices.graph, {nodes.begin(), nodes.end()}, 'n', spelling) + notes;
  }
  return text;
}

}  // namespace nbcc
