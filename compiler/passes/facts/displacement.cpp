// Node -> axis. Entry points: read_axis(), scaled(), keep_complete_images(). Recognises these forms of a minimum image:
//   d - L * rint(d / L)    L: the box length or its period (period.h); round or floor(... + 0.5) for rint, or a product
//                          for the quotient
// and the same with d in units of L, where L is 1; that may be multiplied by L.
#include "compiler/passes/facts/displacement.h"

#include <algorithm>

#include "compiler/ir/period.h"
#include "compiler/passes/facts/power_product.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

bool is_uniform(const Graph& graph, NodeId id) { return graph[id].binding <= Binding::Param; }

// True for -2 * x and x / -2 as well.
bool is_negative(const Graph& graph, NodeId id) {
  const Node& n = graph[id];
  if (n.op == Op::Neg) return true;
  if (n.op != Op::Mul && n.op != Op::Div) return false;
  for (const NodeId arg : {n.args[0], n.args[1]})
    if (graph.is_constant(arg) && graph.constant_value(arg) < 0) return true;
  return false;
}

// Splits a value of the pair into a sum of values of i, of j, and of neither.
class Separation {
 public:
  explicit Separation(Graph& graph) : graph_(graph) {}

  std::optional<Axis> run(NodeId id) {
    if (!separate(id, false, kNone) || !i_.first || !j_.first || i_.negative == j_.negative) return {};
    // The sign is chosen such that j is added and i is subtracted.
    const bool reverse = reversed_ = j_.negative;
    Axis axis{i_.node(graph_, !reverse), j_.node(graph_, reverse), kNone};
    if (rest_.first) axis.of_j = make_folded(graph_, Op::Add, axis.of_j, rest_.node(graph_, reverse));
    return axis;
  }
  bool reversed() const { return reversed_; }

 private:
  struct Side {
    NodeId added = kNone, subtracted = kNone;
    bool first = false;     // a term was added
    bool negative = false;  // the first term is subtracted

    void append(Graph& graph, NodeId term, bool is_subtracted) {
      if (!first) negative = is_subtracted != is_negative(graph, term);
      first = true;
      NodeId& side = is_subtracted ? subtracted : added;
      side = side == kNone ? term : make_folded(graph, Op::Add, side, term);
    }
    NodeId node(Graph& graph, bool reversed) const {
      const NodeId plus = reversed ? subtracted : added, minus = reversed ? added : subtracted;
      if (minus == kNone) return plus;
      return plus == kNone ? make_folded(graph, Op::Neg, minus) : make_folded(graph, Op::Sub, plus, minus);
    }
  };

  bool separate(NodeId id, bool negative, NodeId factor) {
    const Node n = graph_[id];
    if (!is_floating(n.type)) return false;
    if (n.binding != Binding::Pair) {
      Side& side = n.binding == Binding::I ? i_ : n.binding == Binding::J ? j_ : rest_;
      side.append(graph_, times(id, factor), negative);
      return true;
    }
    if (++expanded_nodes_ > kMaxExpandedNodes) return false;
    const auto [a, b, c] = n.args;
    switch (n.op) {
      case Op::Add:
        return separate(a, negative, factor) && separate(b, negative, factor);
      case Op::Sub:
        return separate(a, negative, factor) && separate(b, !negative, factor);
      case Op::Neg:
        return separate(a, !negative, factor);
      case Op::Cast:
        return look_through_casts(graph_, id) != id && separate(a, negative, factor);
      case Op::Mul:
        if (is_uniform(graph_, b)) return separate(a, negative, times(b, factor));
        return is_uniform(graph_, a) && separate(b, negative, times(a, factor));
      case Op::Div: {
        if (!is_uniform(graph_, b)) return false;
        const NodeId inverse = make_folded(graph_, Op::Div, graph_.constant(1, graph_[b].type), b);
        return separate(a, negative, times(inverse, factor));
      }
      case Op::Fma: {
        const NodeId product = make_folded(graph_, Op::Mul, a, b);
        return separate(product, negative, factor) && separate(c, negative, factor);
      }
      default:
        return false;
    }
  }

  NodeId times(NodeId id, NodeId factor) { return factor == kNone ? id : make_folded(graph_, Op::Mul, id, factor); }

  static constexpr int kMaxExpandedNodes = 64;
  Graph& graph_;
  Side i_, j_, rest_;
  bool reversed_ = false;
  int expanded_nodes_ = 0;
};

bool is_half(const Graph& graph, NodeId id) { return graph.is_constant(id, 0.5); }

// The argument of a rounding to the nearest integer; kNone: the node is no such rounding.
NodeId rounded(const Graph& graph, NodeId id) {
  const Node& n = graph[id];
  if (n.op == Op::Rint || n.op == Op::Round) return n.args[0];
  if (n.op != Op::Floor) return kNone;
  const Node& sum = graph[n.args[0]];
  if (sum.op != Op::Add) return kNone;
  return is_half(graph, sum.args[1]) ? sum.args[0] : is_half(graph, sum.args[0]) ? sum.args[1] : kNone;
}

// True if `quotient` is d / length.
bool is_quotient(Graph& graph, NodeId quotient, NodeId d, NodeId length) {
  const Node n = graph[quotient];
  if (graph.is_constant(length, 1) && quotient == d) return true;
  if (n.op == Op::Div) return n.args[0] == d && n.args[1] == length;
  if (n.op != Op::Mul || (n.args[0] != d && n.args[1] != d)) return false;
  const NodeId inverse = n.args[0] == d ? n.args[1] : n.args[0];
  if (graph.is_constant(length) && graph.is_constant(inverse))
    return graph.constant_value(length) * graph.constant_value(inverse) == 1;
  const Node& q = graph[inverse];
  return q.op == Op::Div && graph.is_constant(q.args[0], 1) && q.args[1] == length;
}

// The length of the box if d - product is the minimum image of d; else kNone.
NodeId image_length(Graph& graph, NodeId d, NodeId product) {
  const Node n = graph[product];
  const NodeId one = graph.constant(1, n.type);
  std::vector<std::pair<NodeId, NodeId>> readings{{product, one}};  // the rounding, and the length
  if (n.op == Op::Mul) readings = {{n.args[0], n.args[1]}, {n.args[1], n.args[0]}};
  for (const auto& [whole, length] : readings) {
    const NodeId quotient = rounded(graph, whole);
    if (quotient != kNone && is_uniform(graph, length) && is_quotient(graph, quotient, d, length))
      return length_of_period(graph, length);
  }
  return kNone;
}

// The minimum image as a subtraction, or as an fma: c + (-a) * b.
std::optional<Axis> read_image(Graph& graph, NodeId id) {
  const Node n = graph[id];
  NodeId d = kNone, product = kNone;
  if (n.op == Op::Sub) d = n.args[0], product = n.args[1];
  if (n.op == Op::Fma) {
    d = n.args[2];
    for (const int k : {0, 1})
      if (const Node factor = graph[n.args[std::size_t(k)]]; factor.op == Op::Neg)
        product = make_folded(graph, Op::Mul, factor.args[0], n.args[std::size_t(1 - k)]);
  }
  if (d == kNone || product == kNone) return {};
  const NodeId length = image_length(graph, d, product);
  std::optional<Axis> axis = length == kNone ? std::nullopt : Separation(graph).run(d);
  if (axis) axis->length = length;
  return axis;
}

// A component of a minimum-image vector in a cell. All components of the difference must have the same direction: with
// one of them reversed, a skewed cell would give another vector.
std::optional<Axis> read_image_in_cell(Graph& graph, NodeId id) {
  const Node component = graph[id];
  if (component.op != Op::X && component.op != Op::Y && component.op != Op::Z) return {};
  const NodeId image = component.args[0];
  const std::array<NodeId, 3> difference = graph[graph[image].args[0]].args;
  std::array<std::optional<Axis>, 3> axes;
  std::array<bool, 3> reversed{};
  for (std::size_t k = 0; k < 3; ++k) {
    Separation separation(graph);
    axes[k] = separation.run(difference[k]);
    reversed[k] = separation.reversed();
    if (!axes[k] || reversed[k] != reversed[0]) return {};
  }
  const int which = int(component.op) - int(Op::X);
  Axis axis = *axes[std::size_t(which)];
  axis.image = image;
  axis.cell = graph[image].args[1];
  axis.component = which;
  return axis;
}

NodeId scaled_cell(Graph& graph, NodeId cell, NodeId factor) {
  std::array<NodeId, 3> vectors = graph[cell].args;
  for (NodeId& vector : vectors) {
    std::array<NodeId, 3> numbers = graph[vector].args;
    for (NodeId& number : numbers) number = make_folded(graph, Op::Mul, number, factor);
    vector = graph.make(Op::Vector, Type::Vector, numbers);
  }
  return graph.make(Op::Cell, Type::Cell, vectors);
}

}  // namespace

void keep_complete_images(std::vector<Axis>& axes) {
  const auto components_of = [&axes](NodeId image, NodeId cell) {
    std::vector<Axis> whole;
    for (const Axis& axis : axes)
      if (axis.image == image && axis.cell == cell) whole.push_back(axis);
    std::ranges::sort(whole, {}, &Axis::component);
    return whole;
  };
  for (const Axis& axis : axes) {
    if (axis.image == kNone) continue;
    if (std::vector<Axis> whole = components_of(axis.image, axis.cell); whole.size() == 3) {
      axes = std::move(whole);
      return;
    }
  }
  std::erase_if(axes, [](const Axis& axis) { return axis.image != kNone; });
}

Axis scaled(Graph& graph, const Axis& axis, NodeId factor) {
  const auto times = [&](NodeId id) { return id == kNone ? kNone : make_folded(graph, Op::Mul, id, factor); };
  Axis result = axis;
  result.of_i = times(axis.of_i);
  result.of_j = times(axis.of_j);
  result.length = times(axis.length);
  if (axis.cell != kNone) result.cell = scaled_cell(graph, axis.cell, factor);
  return result;
}

std::optional<Difference> read_difference(Graph& graph, NodeId id) {
  Separation separation(graph);
  const std::optional<Axis> axis = separation.run(look_through_casts(graph, id));
  if (!axis) return {};
  return Difference{axis->of_i, axis->of_j, separation.reversed()};
}

std::optional<Axis> read_axis(Graph& graph, NodeId id) {
  // A minimum image is multiplied by few factors.
  constexpr int kMaxOuterFactors = 8;
  NodeId factor = kNone;
  for (int k = 0; k < kMaxOuterFactors; ++k) {
    id = look_through_casts(graph, id);
    const Node n = graph[id];
    if (n.binding != Binding::Pair || !is_floating(n.type)) return {};
    auto axis = read_image_in_cell(graph, id);
    if (!axis) axis = read_image(graph, id);
    if (!axis) axis = Separation(graph).run(id);
    if (axis) return factor == kNone ? axis : scaled(graph, *axis, factor);
    if (n.op != Op::Neg && n.op != Op::Mul) return {};
    const bool first = n.op == Op::Neg || is_uniform(graph, n.args[1]);
    if (n.op == Op::Mul) {
      if (!first && !is_uniform(graph, n.args[0])) return {};
      const NodeId more = n.args[first ? 1 : 0];
      factor = factor == kNone ? more : make_folded(graph, Op::Mul, factor, more);
    }
    id = n.args[first ? 0 : 1];
  }
  return {};
}

}  // namespace nbcc
