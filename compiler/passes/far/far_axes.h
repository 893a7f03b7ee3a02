// Pipeline -> the displacement of a far field: the differences "value of j - value of i" from which operations other
// than sums and products are computed, such as xj - xi in gravity, but not vj - vi in its jerk. Part of far_terms.cpp.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// Why a pipeline has no far field.
struct FarObstacle {
  Location where;      // line 0: the whole pipeline
  std::string reason;  // a sentence without initial capital and full stop
};

// One coordinate of the displacement of j from i, as nodes of the pipeline's pair graph.
struct FarAxis {
  NodeId of_i = kNone, of_j = kNone;
  bool operator==(const FarAxis&) const = default;
};

// A value of j minus a value of i; true: i minus j.
std::optional<std::pair<FarAxis, bool>> far_difference(const Graph& graph, NodeId id);

// One to three axes, in the order of the text. `alive`: the nodes of the pair graph that the pipeline needs. Throws
// FarObstacle.
std::vector<FarAxis> far_axes(const Pipeline& pipeline, const std::vector<bool>& alive);

// A minimum image in a periodic box or cell, among the nodes that are alive.
std::optional<NodeId> find_minimum_image(const Graph& graph, const std::vector<bool>& alive);

// A small whole exponent of a power, which is a product then.
std::optional<int> far_whole_power(const Graph& graph, const Node& node);

}  // namespace nbcc
