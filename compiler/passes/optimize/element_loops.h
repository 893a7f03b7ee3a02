// Finds loops over the elements of arrays again, which lowering has written out.
//
// A text with `for (int k = 0; k < 784; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);` is lowered to 784 terms, so that
// every pass and the interpreter see single operations only. A kernel of so many statements compiles slowly and keeps
// nothing in registers. Here a sum (or minimum, or maximum) of more than kMostWrittenOut terms that differ in nothing
// but the element that they read becomes one node SumOfElements, whose argument is the term of an element; its leaves
// are ElementOfI, ElementOfJ and ElementOfParam. If more than kMostWrittenOut components of an output array have such
// values, each has the same node as its value: component c has element c.
//
// Only optimize() and the emitters that write loops know these nodes.
// Tested by tests/unit/compiler/passes/optimize/element_loops_test.cpp and tests/numeric/element_loops_test.cpp.
#pragma once
#include <set>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/options.h"

namespace nbcc {

// Up to so many terms remain written out: their values fit into registers and caches of instructions.
inline constexpr int kMostWrittenOut = 32;

// Loops are sought in the pair graph. A term may read several elements at constant distances (x[k + 1] - x[k]), and may
// be under a condition; inputs of listed pairs are written out. A loop over real numbers begins within a sum with
// Math::Fast only; its terms are then added before the terms that precede it. Reactions have no output arrays.
Pipeline with_element_loops(Pipeline pipeline, Math math);

// The same pipeline with every loop written out, except the loops `kept`, and output arrays if `keeps_arrays`.
Pipeline written_out(Pipeline pipeline, const std::set<NodeId>& kept = {}, bool keeps_arrays = false);

// [node] true if the node has a value for each element of a loop.
std::vector<bool> nodes_in_loops(const Graph& graph);
// The nodes in the loop with this term, in topological order, and the nodes outside of it that they read.
std::vector<NodeId> nodes_of_loop(const Graph& graph, const std::vector<bool>& in_loop, NodeId term);
std::vector<NodeId> read_by_loop(const Graph& graph, const std::vector<bool>& in_loop, NodeId term);
// True if the pipeline has loops.
bool has_element_loops(const Pipeline& pipeline);

}  // namespace nbcc
