// Columns -> statements that fetch them. Door: CudaLoad. What is fetched is decided elsewhere.
#include "compiler/emit/cuda/cuda_load.h"

#include <fmt/format.h>

#include "compiler/emit/spelling.h"

namespace nbcc {

std::string CudaLoad::particle(const SidePlan& side, const char* letter, const std::set<int>& columns) const {
  return fetched(side, letter, columns) + derived(side, letter);
}

std::string CudaLoad::fill(const SidePlan& side, const std::set<int>& columns, const char* into) const {
  std::string text;
  for (int column : columns)
    if (side.columns[std::size_t(column)].part != Column::Part::Derived)
      text += fmt::format("{}.c{} = c{}{};\n", into, column, column, unsigned_zero(side, column));
  for (const auto& [id, column] : side.derived)
    if (columns.count(column)) text += fmt::format("{}.c{} = t{};\n", into, column, id);
  return text;
}

// What the struct keeps, and what its derived values are made of.
std::string CudaLoad::fetched(const SidePlan& side, const char* letter, const std::set<int>& columns) const {
  std::set<int> wanted = columns;
  for (NodeId id : side.prepare)
    if (graph_[id].op == Op::InputI || graph_[id].op == Op::InputJ)
      wanted.insert(side.whole.at(int(graph_[id].payload)));
  std::string text;
  for (int column : wanted) {
    const Column& c = side.columns[std::size_t(column)];
    const auto low = side.low.find(c.component);
    if (c.part == Column::Part::Whole)
      text += fmt::format("const {} c{} = {};\n", c_name(c.element), column,
                          cuda_component(c_name(c.element), letter, c.component));
    if (c.part != Column::Part::High) continue;
    text += fmt::format("const double w{} = {};\n", column, cuda_component("double", letter, c.component));
    text += fmt::format("const float c{0} = (float)w{0}, c{1} = lower_part(w{0});\n", column, low->second);
  }
  return text;
}

// Values that depend on one particle alone.
std::string CudaLoad::derived(const SidePlan& side, const char* letter) const {
  std::string text;
  for (NodeId id : side.prepare) {
    const Node& n = graph_[id];
    if (is_uniform(n.binding)) continue;
    if (n.op == Op::InputI || n.op == Op::InputJ)
      text += statements_.statement(id, cuda_from_loaded(fmt::format("c{}", side.whole.at(int(n.payload))), n.type));
    else if (n.op == Op::IIndex || n.op == Op::JIndex)
      text += statements_.statement(id, fmt::format("{0} + a.{0}_offset", letter));
    else
      text += statements_.computed(id);
  }
  return text;
}

// With lower parts there is nothing to do: that of -0 is 0, and so is every sum with it.
std::string CudaLoad::unsigned_zero(const SidePlan& side, int column) const {
  const Column& c = side.columns[std::size_t(column)];
  const Op leaf = &side == &plan_.i ? Op::InputI : Op::InputJ;
  if (c.part != Column::Part::Whole || !unsigned_zeros_.count({leaf, c.component})) return "";
  return c.element == Element::Double ? " + 0.0" : " + 0.0f";
}

}  // namespace nbcc
