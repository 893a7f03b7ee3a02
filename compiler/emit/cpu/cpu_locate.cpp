// Neighbourhood -> scalar functions of one particle. Doors: those of the header. The search itself is the runtime's.
#include "compiler/emit/cpu/cpu_locate.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

using Roots = std::vector<NodeId>;

// Rows of doubles: one for each axis, and one for the reach.
Roots rows(const Neighbourhood& n, NodeId Axis::* of_axis, NodeId reach) {
  Roots roots;
  for (const Axis& axis : n.axes) roots.push_back(axis.*of_axis);
  roots.push_back(reach);
  return roots;
}
Roots rows_of_i(const Neighbourhood& n) { return rows(n, &Axis::of_i, n.reach.of_i); }
Roots rows_of_j(const Neighbourhood& n) { return rows(n, &Axis::of_j, n.reach.of_j); }
Roots extent(const Neighbourhood& n) { return rows(n, &Axis::length, n.reach.uniform); }
Roots extent_and_cell(const Neighbourhood& n) {
  Roots roots = extent(n);
  roots.push_back(n.axes[0].cell);
  return roots;
}

std::vector<NodeId> needed_for(const Neighbourhood& n, const Roots& roots) {
  const std::vector<bool> needed = reachable(n.graph, roots);
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < n.graph.size(); ++id)
    if (needed[std::size_t(id)]) nodes.push_back(id);
  return nodes;
}

// The cell's reduced vectors, and NaN if they cannot be told: its normals are.
std::string reduced_basis(const Neighbourhood& n) {
  if (n.axes[0].cell == kNone) return "";
  std::string text;
  const std::string cell = fmt::format("n{}", n.axes[0].cell);
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c)
      text +=
          fmt::format("extent[{0}] = {1}.v[{2}].{3} + 0 * {1}.normal[{2}].{3};\n", 4 + 3 * k + c, cell, k, "xyz"[c]);
  return text;
}

// Where the k-th row is kept is `place`.
std::string stored(const Roots& roots, const std::string& place) {
  std::string text;
  for (std::size_t k = 0; k < roots.size(); ++k)
    if (roots[k] != kNone) text += fmt::format("{} = (double)n{};\n", fmt::format(fmt::runtime(place), k), roots[k]);
  return text;
}

}  // namespace

SearchLayout search_layout(const Neighbourhood& n) {
  SearchLayout layout;
  layout.axes = int(n.axes.size());
  for (const Axis& axis : n.axes) layout.periodic.push_back(axis.length != kNone);
  layout.triclinic = n.axes[0].cell != kNone;
  layout.reach = n.reach.kind;
  return layout;
}

bool can_locate(const Neighbourhood& n, const Plan& plan) {
  const auto has_columns = [&](const Roots& roots) {
    return std::ranges::all_of(needed_for(n, roots), [&](NodeId id) {
      const Node& node = n.graph[id];
      if (node.op == Op::InputI) return plan.i.whole.contains(int(node.payload));
      if (node.op == Op::InputJ) return plan.j.whole.contains(int(node.payload));
      return node.op != Op::IIndex && node.op != Op::JIndex;
    });
  };
  return has_columns(rows_of_i(n)) && has_columns(rows_of_j(n));
}

std::string cpu_locate(const Neighbourhood& n, const Plan& plan, const ScalarSpelling& spelling) {
  const auto nodes = [&](const Roots& roots) {
    return scalar_statements(plan, n.graph, needed_for(n, roots), 'n', spelling);
  };
  return fill_template("cpu_locate.cpp",
                       {{"i", nodes(rows_of_i(n)) + stored(rows_of_i(n), "rows[{}][i]")},
                        {"j", nodes(rows_of_j(n)) + stored(rows_of_j(n), "rows[{}][j]")},
                        {"extent", nodes(extent_and_cell(n)) + stored(extent(n), "extent[{}]") + reduced_basis(n)}});
}

}  // namespace nbcc
