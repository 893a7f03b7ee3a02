// Statements that a neighbour search calls: they compute, in double, the position and the reach of a particle, and the
// lengths of the periodic box.
#pragma once
#include <string>

#include "compiler/emit/finish.h"
#include "compiler/emit/plan.h"
#include "compiler/kernel_source.h"
#include "compiler/passes/prove/neighbourhood.h"

namespace nbcc {

// `tables`: the pipeline's.
SearchLayout search_layout(const Neighbourhood& neighbourhood, const std::vector<Table>& tables);

// The node as a formula; no steps if it has an operation that Formula does not have.
Formula formula_of(const Graph& graph, NodeId id, const std::vector<Table>& tables);

// True if the kernel has columns of all inputs that the search reads.
bool can_locate(const Neighbourhood& neighbourhood, const Plan& plan);

// The bodies of three functions: for an i-particle, for a j-particle, and for the run.
struct LocateText {
  std::string i, j, extent;
};

// `rows`: for each function, the lvalue of its k-th double as a format string of k. For a particle: the coordinate
// along each axis, then the reach if particles have their own. For the run: the lengths of the periodic axes, then the
// reach if all particles have the same, and from row 4 on the reduced basis of a cell of three vectors.
LocateText locate_text(const Neighbourhood& neighbourhood, const Plan& plan, const ScalarSpelling& spelling,
                       const LocateText& rows);

}  // namespace nbcc
