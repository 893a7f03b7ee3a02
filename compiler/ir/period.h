// The period of nearest_image(dx, length) in the graph: the length itself, or kLongestPeriod, if the
// length leaves the axis open (periodic_length.h): then dx / kLongestPeriod rounds to 0. Tested by
// tests/numeric/open_axis_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// Adds the nodes that choose the period, once per run if the length is uniform. `length` is a real number.
NodeId period_of(Graph& graph, NodeId length, Location where);

// The length from which period_of() made the period; a node that is no period is returned unchanged.
NodeId length_of_period(const Graph& graph, NodeId period);

// The nodes that period_of() made for a period, which read its length; none for any other node.
std::vector<NodeId> nodes_of_period(const Graph& graph, NodeId period);

}  // namespace nbcc
