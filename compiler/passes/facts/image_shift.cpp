// Recognises the minimum image of a difference of inputs. Entry points: image_shift(),
// copy_shift(), is_input_difference(). The forms
// are those that lowering and the passes make from nearest_image(), or from the same formula in the source.
#include "compiler/passes/facts/image_shift.h"

namespace nbcc {
namespace {

bool is_rounded(const Graph& graph, NodeId id) {
  const Node& n = graph[id];
  if (n.op == Op::Neg) return is_rounded(graph, n.args[0]);
  return n.op == Op::Rint || n.op == Op::Round;
}

bool is_uniform(const Node& n) { return n.binding <= Binding::Param; }

std::optional<ImageShift> shift_by(const Graph& graph, NodeId difference, NodeId a, NodeId b, bool added) {
  if (!is_input_difference(graph, difference)) return {};
  if (is_rounded(graph, a) && is_uniform(graph[b])) return ImageShift{difference, a, b, added};
  if (is_rounded(graph, b) && is_uniform(graph[a])) return ImageShift{difference, b, a, added};
  return {};
}

}  // namespace

bool is_input_difference(const Graph& graph, NodeId id) {
  const Node& n = graph[id];
  if (n.op != Op::Sub || n.type < Type::Float) return false;
  const Op a = graph[n.args[0]].op, b = graph[n.args[1]].op;
  return (a == Op::InputI && b == Op::InputJ) || (a == Op::InputJ && b == Op::InputI);
}

std::optional<ImageShift> image_shift(const Graph& graph, NodeId id) {
  const Node& n = graph[id];
  if (n.op == Op::Fma) return shift_by(graph, n.args[2], n.args[0], n.args[1], true);
  if (n.op != Op::Sub || graph[n.args[1]].op != Op::Mul) return {};
  const Node& product = graph[n.args[1]];
  return shift_by(graph, n.args[0], product.args[0], product.args[1], false);
}

std::optional<CopyShift> copy_shift(const Graph& graph, NodeId id) {
  const Node& n = graph[id];
  if (n.op != Op::Add) return {};
  const bool first = is_input_difference(graph, n.args[0]);
  const NodeId difference = n.args[first ? 0 : 1], shift = n.args[first ? 1 : 0];
  if (!is_input_difference(graph, difference) || graph[shift].op != Op::InputJ) return {};
  return CopyShift{difference, shift};
}

}  // namespace nbcc
