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

std::vector<NodeId> needed_for(const Neighbourhood& n, const Roots& roots) {
  const std::vector<bool> needed = reachable(n.graph, roots);
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < n.graph.size(); ++id)
    if (needed[std::size_t(id)]) nodes.push_back(id);
  return nodes;
}

// Where the k-th row is kept is `place`.
std::string function_body(const Neighbourhood& n, const Plan& plan, const ScalarSpelling& spelling, const Roots& roots,
                          const std::string& place) {
  std::string text = scalar_statements(plan, n.graph, needed_for(n, roots), 'n', spelling);
  for (std::size_t k = 0; k < roots.size(); ++k)
    if (roots[k] != kNone) text += fmt::format("{} = (double)n{};\n", fmt::format(fmt::runtime(place), k), roots[k]);
  return text;
}

}  // namespace

SearchLayout search_layout(const Neighbourhood& n) {
  SearchLayout layout;
  layout.axes = int(n.axes.size());
  for (const Axis& axis : n.axes) layout.periodic.push_back(axis.length != kNone);
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
  return fill_template("cpu_locate.cpp", {{"i", function_body(n, plan, spelling, rows_of_i(n), "rows[{}][i]")},
                                          {"j", function_body(n, plan, spelling, rows_of_j(n), "rows[{}][j]")},
                                          {"extent", function_body(n, plan, spelling, extent(n), "extent[{}]")}});
}

}  // namespace nbcc
