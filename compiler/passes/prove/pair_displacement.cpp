// Entry point: pair_displacement(). displacement.h recognises images; any other operation that moves a difference of
// positions by whole periods (rounding, a selection) is refused.
#include "compiler/passes/prove/pair_displacement.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/passes/derive/derivative.h"
#include "compiler/passes/facts/displacement.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

// How a node depends on the two positions.
enum class Degree : std::uint8_t { None, Linear, Other };

class Search {
 public:
  Search(Graph& graph, const Field& position_i, const Field& position_j)
      : graph_(graph), position_i_(position_i), position_j_(position_j) {
    for (int a = 0; a < 3; ++a) {
      positions_.push_back(graph.leaf(Op::InputI, position_i.first + a, position_i.type));
      positions_.push_back(graph.leaf(Op::InputJ, position_j.first + a, position_j.type));
    }
  }

  std::array<NodeId, 3> run(std::span<const NodeId> values) {
    find_degrees();
    std::vector<NodeId> open(values.begin(), values.end());
    std::vector<bool> is_seen(degrees_.size());
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (is_seen[std::size_t(id)] || degrees_[std::size_t(id)] == Degree::None) continue;
      is_seen[std::size_t(id)] = true;
      if (note_image(id)) continue;
      const auto position = std::ranges::find(positions_, id);
      if (position != positions_.end()) is_plain_[std::size_t(position - positions_.begin()) / 2] = true;
      refuse_unknown_image(id);
      const Node n = graph_[id];
      for (int k = 0; k < arity(n.op); ++k)
        if (graph_[n.args[std::size_t(k)]].type != Type::Bool) open.push_back(n.args[std::size_t(k)]);
    }
    return {component(0), component(1), component(2)};
  }

 private:
  struct Image {
    NodeId node = kNone, slope = kNone;  // the node is slope times the displacement
    NodeId length = kNone, cell = kNone;
  };

  std::string names() const { return fmt::format("'{}' and '{}'", position_i_.name, position_j_.name); }

  void find_degrees() {
    const NodeId size = graph_.size();
    degrees_.resize(std::size_t(size), Degree::None);
    for (NodeId id = 0; id < size; ++id) {
      const Node& n = graph_[id];
      Degree& degree = degrees_[std::size_t(id)];
      if (std::ranges::find(positions_, id) != positions_.end()) degree = Degree::Linear;
      int dependent = 0;
      for (int k = 0; k < arity(n.op); ++k) {
        const Degree of_arg = degrees_[std::size_t(n.args[std::size_t(k)])];
        dependent += of_arg != Degree::None;
        degree = std::max(degree, of_arg);
      }
      if (dependent == 0) continue;
      const bool is_product = n.op == Op::Mul || n.op == Op::Div || n.op == Op::Fma;
      const bool is_sum = n.op == Op::Add || n.op == Op::Sub || n.op == Op::Neg || n.op == Op::Vector ||
                          n.op == Op::X || n.op == Op::Y || n.op == Op::Z || n.op == Op::Select ||
                          (n.op == Op::Cast && is_floating(n.type));
      const auto depends = [&](int k) { return degrees_[std::size_t(n.args[std::size_t(k)])] != Degree::None; };
      const bool is_linear = is_sum || (is_product && !(depends(0) && depends(1)) && !(n.op == Op::Div && depends(1)));
      if (!is_linear) degree = Degree::Other;
    }
  }

  Degree degree(NodeId id) const {
    return std::size_t(id) < degrees_.size() ? degrees_[std::size_t(id)] : Degree::Other;
  }

  // d(node)/d(positions), in the order of positions_; kNone where the node does not depend on the position.
  std::vector<NodeId> slopes(NodeId id) { return gradient(graph_, id, positions_); }

  bool note_image(NodeId id) {
    if (!is_floating(graph_[id].type) || graph_[id].binding != Binding::Pair) return false;
    const std::optional<Axis> axis = read_axis(graph_, id);
    if (!axis || (axis->length == kNone && axis->cell == kNone)) return false;
    const std::vector<NodeId> of_i = slopes(axis->of_i), of_j = slopes(axis->of_j), of_node = slopes(id);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t i = 2 * a, j = 2 * a + 1;
      if (of_j[j] == kNone) continue;
      bool is_of_one_axis = of_i[i] == of_j[j] && of_node[j] != kNone && graph_[of_node[j]].binding <= Binding::Param;
      for (std::size_t k = 0; k < positions_.size(); ++k)
        if (k != i && k != j && (of_i[k] != kNone || of_j[k] != kNone)) is_of_one_axis = false;
      if (!is_of_one_axis) return false;
      add(a, {id, of_node[j], axis->length, axis->cell});
      return true;
    }
    return false;
  }

  void add(std::size_t a, const Image& image) {
    std::optional<Image>& known = images_[a];
    if (known && (known->cell != image.cell || period(*known) != period(image)))
      throw UnclearDisplacement{fmt::format("takes nearest images of {} in different boxes", names())};
    if (!known) known = image;
  }

  // The period in units of the positions.
  NodeId period(const Image& image) {
    if (image.length == kNone) return kNone;
    const NodeId length = make_folded(graph_, Op::Div, image.length, image.slope);
    const Node n = graph_[length];  // the sign of a period does not matter
    return n.op == Op::Neg ? n.args[0] : length;
  }

  // True for a value that is piecewise constant in the positions, as the shift between two images is.
  bool is_step(NodeId id) const {
    const Node& n = graph_[id];
    const auto step = [&](int k) { return is_step(n.args[std::size_t(k)]); };
    if (degree(id) == Degree::None) return true;
    switch (n.op) {
      case Op::Select:
        return degree(n.args[0]) != Degree::None && step(1) && step(2);
      case Op::Cast:
        return graph_[n.args[0]].type == Type::Bool || step(0);
      case Op::CopySign:
        return degree(n.args[0]) == Degree::None;
      case Op::Neg:
        return step(0);
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
        return step(0) && step(1);
      default:
        return false;
    }
  }

  // True for a component of the difference, in units that are the same for all pairs.
  bool is_component(NodeId id) {
    if (degree(id) != Degree::Linear || graph_[id].binding != Binding::Pair) return false;
    return std::ranges::all_of(slopes(id),
                               [&](NodeId slope) { return slope == kNone || graph_[slope].binding <= Binding::Param; });
  }

  // True if a piecewise constant value is added to the difference: a shift of a listed pair, a multiple of a box
  // length.
  bool is_shifted(const Node& n) {
    const auto joins = [&](NodeId one, NodeId other) {
      return is_component(one) && is_step(other) && !graph_.is_constant(other, 0);
    };
    if (!is_floating(n.type)) return false;
    if (n.op == Op::Add || n.op == Op::Sub) return joins(n.args[0], n.args[1]) || joins(n.args[1], n.args[0]);
    const auto is_distance = [&](NodeId id) { return graph_[id].op == Op::Abs && is_component(graph_[id].args[0]); };
    const bool depend = n.op == Op::Min || n.op == Op::Max
                            ? degree(n.args[0]) != Degree::None && degree(n.args[1]) != Degree::None
                            : false;
    return depend && (is_distance(n.args[0]) || is_distance(n.args[1]));
  }

  void refuse_unknown_image(NodeId id) {
    const Node n = graph_[id];
    const auto is_linear = [&](int k) { return degree(n.args[std::size_t(k)]) == Degree::Linear; };
    bool is_image = is_shifted(n);
    switch (n.op) {
      case Op::Rint:
      case Op::Round:
      case Op::Floor:
      case Op::Ceil:
      case Op::Trunc:
      case Op::Fmod:
      case Op::Image:
        is_image = is_linear(0);
        break;
      case Op::Cast:
        is_image = is_linear(0) && is_integral(n.type);
        break;
      case Op::Select:
        is_image = degree(n.args[0]) != Degree::None && is_linear(1) && is_linear(2) && n.args[1] != n.args[2] &&
                   !is_negative_of(n.args[1], n.args[2]);
        break;
      default:
        break;
    }
    if (is_image)
      throw UnclearDisplacement{
          fmt::format("takes images of the difference of {} in a form that is not recognised as a nearest image; "
                      "write nearest_image()",
                      names())};
  }

  // |x| written as a selection is not an image.
  bool is_negative_of(NodeId a, NodeId b) const {
    const Node &x = graph_[a], &y = graph_[b];
    return (x.op == Op::Neg && x.args[0] == b) || (y.op == Op::Neg && y.args[0] == a);
  }

  NodeId component(std::size_t a) {
    const std::optional<Image>& image = images_[a];
    if (!image) return graph_.binary(Op::Sub, positions_[2 * a + 1], positions_[2 * a]);
    if (is_plain_[a])
      throw UnclearDisplacement{
          fmt::format("takes the nearest image of the difference of {} in some terms of the "
                      "force, and the plain difference in others",
                      names())};
    if (graph_.is_constant(image->slope, 1)) return image->node;
    if (graph_.is_constant(image->slope, -1)) return make_folded(graph_, Op::Neg, image->node);
    return make_folded(graph_, Op::Div, image->node, image->slope);
  }

  Graph& graph_;
  const Field &position_i_, &position_j_;
  std::vector<NodeId> positions_;  // x of i, x of j, y of i, ...
  std::vector<Degree> degrees_;
  std::array<std::optional<Image>, 3> images_;
  std::array<bool, 3> is_plain_{};
};

}  // namespace

std::array<NodeId, 3> pair_displacement(Graph& graph, std::span<const NodeId> values, const Field& position_i,
                                        const Field& position_j) {
  return Search(graph, position_i, position_j).run(values);
}

}  // namespace nbcc
