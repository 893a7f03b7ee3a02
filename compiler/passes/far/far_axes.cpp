// Follows nonlinear operations down to the differences of values of i and j. Entry points: the header.
#include "compiler/passes/far/far_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/text/expression_text.h"
#include "compiler/made_inputs.h"
#include "compiler/passes/facts/displacement.h"

namespace nbcc {
namespace {

// True if the operation is a sum, or a product in which argument k is a factor.
bool is_linear_in(const Graph& graph, const Node& node, int k) {
  switch (node.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Neg:
    case Op::Mul:
    case Op::Fma:
    case Op::Cast:
      return true;
    case Op::Div:
      return k == 0;
    case Op::Select:
      return k > 0;
    default:
      return far_whole_power(graph, node).has_value();
  }
}

struct FoundAxis {
  FarAxis axis;
  NodeId node = kNone;  // the difference
};

void add_axis(const Graph& graph, NodeId id, std::vector<FoundAxis>& axes) {
  const FarAxis axis = far_difference(graph, id)->first;
  if (std::ranges::find(axes, axis, &FoundAxis::axis) == axes.end()) axes.push_back({axis, id});
}

}  // namespace

std::optional<int> far_whole_power(const Graph& graph, const Node& node) {
  if (node.op != Op::Pow || !graph.is_constant(node.args[1])) return {};
  const double exponent = graph.constant_value(node.args[1]);
  if (exponent != std::floor(exponent) || exponent < 1 || exponent > 4) return {};
  return int(exponent);
}

std::optional<std::pair<FarAxis, bool>> far_difference(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.op != Op::Sub || !is_floating(node.type)) return {};
  const auto [a, b, c] = node.args;
  if (graph[a].binding == Binding::J && graph[b].binding == Binding::I) return {{FarAxis{b, a}, false}};
  if (graph[a].binding == Binding::I && graph[b].binding == Binding::J) return {{FarAxis{a, b}, true}};
  return {};
}

std::optional<NodeId> find_minimum_image(const Graph& graph, const std::vector<bool>& alive) {
  Graph scratch = graph;
  bool has_rounding = false;  // before this node
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Op op = graph[id].op;
    if (!alive[std::size_t(id)]) continue;
    if (op == Op::Image || op == Op::EveryImage) return id;
    has_rounding = has_rounding || op == Op::Rint;
    if (!has_rounding || graph[id].binding != Binding::Pair || (op != Op::Sub && op != Op::Fma)) continue;
    const std::optional<Axis> axis = read_axis(scratch, id);
    if (axis && axis->length != kNone) return id;
  }
  return {};
}

namespace {

// The places of a pipeline over shifted ranges (every_image.h): a shift acts on these, so that no other value may be a
// coordinate of the displacement, and none of these may be missing.
std::vector<FarAxis> axes_of_places(const Pipeline& pipeline, const std::vector<bool>& alive) {
  const Field &of_i = *pipeline.find(kPlaceOfI), &of_j = *pipeline.find(kPlaceOfJ);
  std::vector<FarAxis> axes(std::size_t(of_i.components()));
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (!alive[std::size_t(id)] || (node.op != Op::InputI && node.op != Op::InputJ)) continue;
    const Field& places = node.op == Op::InputI ? of_i : of_j;
    const auto axis = node.payload - places.first;
    if (axis < 0 || axis >= places.components()) continue;
    (node.op == Op::InputI ? axes[std::size_t(axis)].of_i : axes[std::size_t(axis)].of_j) = id;
  }
  for (const FarAxis& axis : axes)
    if (axis.of_i == kNone || axis.of_j == kNone)
      throw FarObstacle{{}, "the terms do not depend on every component of the result of every_image()"};
  return axes;
}

}  // namespace

std::vector<FarAxis> far_axes(const Pipeline& pipeline, const std::vector<bool>& alive) {
  if (pipeline.find(kPlaceOfJ)) return axes_of_places(pipeline, alive);
  const Graph& graph = pipeline.pair;
  std::vector<FoundAxis> found;
  std::vector<bool> is_argument(alive.size(), false);  // of a nonlinear operation, directly or not
  for (const Contribution& contribution : pipeline.contributions)
    if (contribution.guard != kNone) is_argument[std::size_t(contribution.guard)] = true;
  for (NodeId id = graph.size(); id-- > 0;) {
    const Node& node = graph[id];
    if (!alive[std::size_t(id)] || node.binding != Binding::Pair) continue;
    if (is_argument[std::size_t(id)] && far_difference(graph, id)) {
      add_axis(graph, id, found);
      continue;
    }
    for (int k = 0; k < arity(node.op); ++k)
      if (is_argument[std::size_t(id)] || !is_linear_in(graph, node, k))
        is_argument[std::size_t(node.args[std::size_t(k)])] = true;
  }
  // Terms that are polynomials of differences.
  const bool is_polynomial = found.empty();
  for (NodeId id = graph.size(); is_polynomial && found.size() < 3 && id-- > 0;)
    if (alive[std::size_t(id)] && far_difference(graph, id)) add_axis(graph, id, found);
  if (found.empty()) throw FarObstacle{{}, "no difference of a value of j and a value of i, such as xj - xi"};
  std::ranges::reverse(found);
  if (found.size() > 3)
    throw FarObstacle{graph[found[3].node].where, fmt::format("'{}' enters nonlinearly besides three other differences",
                                                              expression_text(pipeline.fields, graph, found[3].node))};
  std::vector<FarAxis> axes;
  for (const FoundAxis& one : found) axes.push_back(one.axis);
  return axes;
}

}  // namespace nbcc
