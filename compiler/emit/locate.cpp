// Neighbourhood -> statements that locate one particle. Entry points: see the header. The runtime does the search.
#include "compiler/emit/locate.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace nbcc {
namespace {

using Roots = std::vector<NodeId>;

// The node of each double: one for each axis, then the reach.
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

// Stores the k-th root in the lvalue `lvalue`, a format string of k.
std::string stored(const Roots& roots, const std::string& lvalue) {
  std::string text;
  for (std::size_t k = 0; k < roots.size(); ++k)
    if (roots[k] != kNone) text += fmt::format("{} = (double)n{};\n", fmt::format(fmt::runtime(lvalue), k), roots[k]);
  return text;
}

// From row 4 on the reduced basis of the cell; NaN if its vectors span no volume, since the normals are NaN then.
std::string reduced_basis(const Neighbourhood& n, const std::string& lvalue) {
  if (n.axes[0].cell == kNone) return "";
  std::string text;
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c)
      text += fmt::format("{0} = n{1}.v[{2}].{3} + 0 * n{1}.normal[{2}].{3};\n",
                          fmt::format(fmt::runtime(lvalue), 4 + 3 * k + c), n.axes[0].cell, k, "xyz"[c]);
  return text;
}

std::optional<Formula::Op> formula_op(Op op) {
  switch (op) {
    case Op::Const:
      return Formula::Op::Constant;
    case Op::Param:
      return Formula::Op::Param;
    case Op::InputI:
    case Op::InputJ:
      return Formula::Op::Input;
    case Op::Neg:
      return Formula::Op::Neg;
    case Op::Abs:
      return Formula::Op::Abs;
    case Op::Sqrt:
      return Formula::Op::Sqrt;
    case Op::Add:
      return Formula::Op::Add;
    case Op::Sub:
      return Formula::Op::Sub;
    case Op::Mul:
      return Formula::Op::Mul;
    case Op::Div:
      return Formula::Op::Div;
    case Op::Fma:
      return Formula::Op::Fma;
    case Op::Min:
      return Formula::Op::Min;
    case Op::Max:
      return Formula::Op::Max;
    case Op::Pow:
      return Formula::Op::Pow;
    default:
      return {};
  }
}

class FormulaWriter {
 public:
  FormulaWriter(const Graph& graph, const std::vector<Table>& tables) : graph_(graph), tables_(tables) {}

  Formula write(NodeId id) {
    if (id == kNone || !append(id)) return {};
    // The result must be the last step. It is not if the node only converts an earlier step.
    if (step_of_.at(id) + 1 != int(formula_.steps.size())) return {};
    return std::move(formula_);
  }

 private:
  // True if arithmetic in doubles gives the same integer: of an input, a param, a minimum or maximum, the index of a
  // row.
  bool keeps_integers(NodeId id) const {
    const Node& node = graph_[id];
    if (arity(node.op) == 0 || node.op == Op::Min || node.op == Op::Max || node.op == Op::Lookup) return true;
    const auto is_clamped = [&](NodeId arg) {
      return graph_[arg].op == Op::Min && graph_.is_constant(graph_[arg].args[1]);
    };
    return node.op == Op::Mul && is_clamped(node.args[0]) && graph_.is_constant(node.args[1]);
  }

  // Appends the steps of a node; false if it has an operation that Formula does not have.
  bool append(NodeId id) {
    if (step_of_.contains(id)) return true;
    const Node& node = graph_[id];
    const bool keeps_value = node.op == Op::Cast && node.type >= graph_[node.args[0]].type;
    if (keeps_value) {
      if (!append(node.args[0])) return false;
      step_of_[id] = step_of_.at(node.args[0]);
      return true;
    }
    std::optional<Formula::Op> op = formula_op(node.op);
    Formula::Step step;
    if (node.op == Op::Lookup) {
      const Table& table = tables_.at(std::size_t(node.payload));
      if (table.power >= 0) return false;
      op = Formula::Op::Element;
      step.count = table.count, step.stride = table.stride;
    }
    if (!op || (is_integral(node.type) && !keeps_integers(id))) return false;
    step.op = *op;
    if (node.op == Op::Const)
      step.constant = graph_.constant_value(id);
    else
      step.component = node.op == Op::Lookup ? tables_[std::size_t(node.payload)].first : int(node.payload);
    for (std::size_t k = 0; k < std::size_t(arity(node.op)); ++k) {
      if (!append(node.args[k])) return false;
      step.args[k] = step_of_.at(node.args[k]);
    }
    step_of_[id] = int(formula_.steps.size());
    formula_.steps.push_back(step);
    return true;
  }

  const Graph& graph_;
  const std::vector<Table>& tables_;
  Formula formula_;
  std::map<NodeId, int> step_of_;
};

using Mirror = std::set<std::pair<int, int>>;

// True if the formulas of i and j are equal after inputs of i are replaced by inputs of j; collects the pairs of
// inputs.
bool mirrors(const Graph& graph, NodeId of_i, NodeId of_j, Mirror& inputs) {
  const Node &a = graph[of_i], &b = graph[of_j];
  if (a.op == Op::InputI && b.op == Op::InputJ && a.type == b.type)
    return inputs.emplace(int(a.payload), int(b.payload)), true;
  if (of_i == of_j && is_uniform(a.binding)) return true;
  if (a.op != b.op || a.type != b.type || a.payload != b.payload || arity(a.op) == 0) return false;
  for (int k = 0; k < arity(a.op); ++k)
    if (!mirrors(graph, a.args[std::size_t(k)], b.args[std::size_t(k)], inputs)) return false;
  return true;
}

std::vector<std::pair<int, int>> mirrored_inputs(const Neighbourhood& n) {
  Mirror inputs;
  const auto same = [&](NodeId of_i, NodeId of_j) {
    return of_i == kNone || of_j == kNone || mirrors(n.graph, of_i, of_j, inputs);
  };
  const bool all = std::ranges::all_of(n.axes, [&](const Axis& axis) { return same(axis.of_i, axis.of_j); }) &&
                   same(n.reach.of_i, n.reach.of_j);
  return all ? std::vector(inputs.begin(), inputs.end()) : std::vector<std::pair<int, int>>();
}

}  // namespace

Formula formula_of(const Graph& graph, NodeId id, const std::vector<Table>& tables) {
  return FormulaWriter(graph, tables).write(id);
}

SearchLayout search_layout(const Neighbourhood& n, const std::vector<Table>& tables) {
  const auto formula = [&](NodeId id) { return formula_of(n.graph, id, tables); };
  SearchLayout layout;
  layout.mirrored = mirrored_inputs(n);
  layout.axes = int(n.axes.size());
  for (const Axis& axis : n.axes) {
    layout.lengths.push_back(formula(axis.length));
    layout.periodic.push_back(axis.length != kNone);
  }
  layout.triclinic = n.axes[0].cell != kNone;
  layout.reach = n.reach.kind;
  layout.strict = n.strict;
  layout.reach_uniform = formula(n.reach.uniform);
  layout.reach_of_i = formula(n.reach.of_i);
  layout.reach_of_j = formula(n.reach.of_j);
  const Reach& written = n.of_sites ? *n.of_sites : n.reach;
  layout.written = written.kind;
  layout.written_uniform = formula(written.uniform);
  layout.written_of_i = formula(written.of_i);
  layout.written_of_j = formula(written.of_j);
  if (layout.triclinic)
    for (const NodeId vector : n.graph[n.axes[0].cell].args)
      for (const NodeId number : n.graph[vector].args) layout.cell.push_back(formula(number));
  // Shifts of listed pairs move one position of j.
  const bool are_inputs = !n.of_sites && std::ranges::all_of(n.axes, [&](const Axis& axis) {
    return n.graph[axis.of_j].op == Op::InputJ && n.graph[axis.of_j].type >= Type::Float;
  });
  for (const Axis& axis : n.axes)
    if (are_inputs) layout.j_positions.push_back(int(n.graph[axis.of_j].payload));
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
  // nbcc_within evaluates the comparisons of the guards, which need columns as well.
  const bool can_compare = std::ranges::all_of(plan.for_within, [&](NodeId id) {
    const Node& node = plan.graph[id];
    if (node.op == Op::InputI) return plan.i.whole.contains(int(node.payload));
    return node.op != Op::InputJ || plan.j.whole.contains(int(node.payload));
  });
  return has_columns(rows_of_i(n)) && has_columns(rows_of_j(n)) && can_compare;
}

LocateText locate_text(const Neighbourhood& n, const Plan& plan, const ScalarSpelling& spelling,
                       const LocateText& rows) {
  const auto nodes = [&](const Roots& roots) {
    return scalar_statements(plan, n.graph, needed_for(n, roots), 'n', spelling);
  };
  Roots of_run = extent(n);
  of_run.push_back(n.axes[0].cell);
  return {nodes(rows_of_i(n)) + stored(rows_of_i(n), rows.i), nodes(rows_of_j(n)) + stored(rows_of_j(n), rows.j),
          nodes(of_run) + stored(extent(n), rows.extent) + reduced_basis(n, rows.extent)};
}

}  // namespace nbcc
