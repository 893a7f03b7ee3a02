// Entry point: copies_layout().
#include "compiler/emit/copies.h"

#include <algorithm>

#include "compiler/emit/locate.h"

namespace nbcc {

CopiesLayout copies_layout(const CopiesPipeline& copies) {
  const Pipeline& given = copies.given;
  CopiesLayout layout;
  const auto formulas = [&](const Graph& graph, const std::vector<NodeId>& nodes) {
    std::vector<Formula> made;
    for (const NodeId id : nodes) made.push_back(formula_of(graph, id, given.tables));
    if (std::ranges::any_of(made, [](const Formula& one) { return one.steps.empty(); }))
      layout.obstacle =
          "the positions and the periodic vectors of every_image() may be computed with + - * / of real numbers, sqrt, "
          "abs, fma, min, max, pow and elements of tables alone";
    return made;
  };
  layout.of_i = formulas(given.pair, copies.of_i);
  layout.of_j = formulas(given.pair, copies.of_j);
  for (std::size_t k = 0; k < 3; ++k) layout.periods[k] = formulas(given.pair, copies.periods[k]);
  if (!copies.proof.neighbourhood) return layout;
  const Neighbourhood& neighbourhood = *copies.proof.neighbourhood;
  const std::vector<int> coordinates = bounded_coordinates(copies, neighbourhood);
  std::vector<NodeId> units(coordinates.size());
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
    units[std::size_t(coordinates[axis])] = neighbourhood.axes[axis].of_i;
  layout.units = formulas(neighbourhood.graph, units);
  return layout;
}

}  // namespace nbcc
