// The derivative of each reduction by what one pair contributes to it. Entry point: OutputTerms::add().
#include "compiler/passes/derived/output_terms.h"

#include <fmt/core.h>

#include <stdexcept>

namespace nbcc {

NodeId OutputTerms::saved(SavedKind kind, int c, bool exchanged) {
  const std::optional<int> component = added_.saved(kind, c);
  if (!component) throw std::logic_error(fmt::format("an adjoint lacks a result of output component {}", c));
  return map_.added_input(graph_, *component, exchanged);
}

// The condition that a minimum, a maximum or a payload comes from this pair, and from this image of j.
NodeId OutputTerms::is_chosen(int c, Exchange& copy, bool exchanged) {
  const NodeId here = map_.j_index(graph_, exchanged);
  NodeId chosen = graph_.binary(Op::Eq, here, saved(SavedKind::ChosenJ, c, exchanged));
  for (int axis = 0; axis < 3; ++axis) {
    const std::optional<int> image = added_.image_of(c, axis);
    if (!image) break;
    const NodeId index = copy(forward_.contributions[std::size_t(*image)].value);
    const NodeId of_chosen = map_.added_input(graph_, *added_.saved(SavedKind::ChosenImage, c, axis), exchanged);
    chosen = graph_.binary(Op::And, chosen, graph_.binary(Op::Eq, index, of_chosen));
  }
  return chosen;
}

// dL/d(the element that the pair names): read from a param, or of each i by comparisons.
NodeId OutputTerms::element_of_given(const Field& histogram, int c, NodeId element, bool exchanged) {
  const int given = added_.given(c);
  if (histogram.is_total()) {
    const NodeId none = graph_.constant(0, Type::Int);
    return graph_.make(Op::Lookup, histogram.type, {none, make_folded(graph_, Op::Max, element, none), kNone}, {},
                       map_.table_of_added(given));
  }
  NodeId found = graph_.constant(0, histogram.type);
  for (int k = 0; k < histogram.length; ++k) {
    const NodeId is_this = graph_.binary(Op::Eq, element, graph_.constant(k, Type::Int));
    found = graph_.select(is_this, map_.added_input(graph_, given + k, exchanged), found);
  }
  return found;
}

// The product of all other factors: 0 if another one is 0.
NodeId OutputTerms::weight_in_product(NodeId value, int c, bool exchanged) {
  const NodeId zeros = saved(SavedKind::Zeros, c, exchanged);
  const NodeId others = saved(SavedKind::OthersProduct, c, exchanged);
  const Type type = graph_[value].type;
  const auto is = [&](NodeId node, double number) {
    return graph_.binary(Op::Eq, node, graph_.constant(number, graph_[node].type));
  };
  const NodeId none = graph_.constant(0, type);
  const NodeId of_zero = graph_.select(is(zeros, 1), graph_.cast(others, type), none);
  const NodeId of_others = graph_.select(is(zeros, 0), make_folded(graph_, Op::Div, others, value), none);
  return graph_.select(is(value, 0), of_zero, of_others);
}

void OutputTerms::add_softmax(int c, NodeId value, NodeId adjoint, NodeId guard, Exchange& copy, bool exchanged,
                              std::vector<Weighted>& terms) {
  const NodeId logit = copy(forward_.contributions[std::size_t(c)].logit);
  const NodeId log_weights = saved(SavedKind::LogWeights, c, exchanged);
  const NodeId softmax_weight = graph_.unary(Op::Exp, make_folded(graph_, Op::Sub, logit, log_weights));
  const NodeId weight = times(adjoint, softmax_weight);
  terms.push_back({value, weight, guard});
  // If the pair has no weight, 0 times an infinite value would be NaN.
  const NodeId zero = graph_.constant(0, graph_[softmax_weight].type),
               none = graph_.binary(Op::Eq, softmax_weight, zero);
  const NodeId above = make_folded(graph_, Op::Sub, value, saved(SavedKind::Raw, c, exchanged));
  terms.push_back({logit, times(weight, graph_.select(none, graph_.constant(0, graph_[above].type), above)), guard});
}

void OutputTerms::add(int c, NodeId adjoint, Exchange& copy, bool exchanged, std::vector<Weighted>& terms) {
  const Field& field = forward_.field_of(Role::Output, c);
  const Contribution& contribution = forward_.contributions[std::size_t(c)];
  const NodeId value = copy(contribution.value);
  const NodeId guard = contribution.guard == kNone ? kNone : copy(contribution.guard);
  switch (field.reduction) {
    case Reduction::Sum:
      terms.push_back({value, adjoint, guard});
      return;
    case Reduction::LogSumExp: {
      const NodeId above = make_folded(graph_, Op::Sub, value, saved(SavedKind::Raw, c, exchanged));
      terms.push_back({value, times(adjoint, graph_.unary(Op::Exp, above)), guard});
      return;
    }
    case Reduction::Softmax:
      add_softmax(c, value, adjoint, guard, copy, exchanged, terms);
      return;
    case Reduction::Product:
      terms.push_back({value, times(adjoint, weight_in_product(value, c, exchanged)), guard});
      return;
    case Reduction::At:
    case Reduction::Min:
    case Reduction::Max: {
      const NodeId chosen = is_chosen(c, copy, exchanged);
      terms.push_back({value, graph_.select(chosen, adjoint, graph_.constant(0, graph_[adjoint].type)), guard});
      return;
    }
    case Reduction::Histogram: {
      const NodeId element = copy(contribution.logit);
      const NodeId counts = graph_.binary(Op::Le, graph_.constant(0, Type::Int), element);
      terms.push_back({value, element_of_given(field, c, element, exchanged), both(guard, counts)});
      return;
    }
    default:
      throw InvalidAdjoint{fmt::format("finish() uses output '{}', an output({}), which nbcc does not differentiate",
                                       field.name, name(field.reduction))};
  }
}

}  // namespace nbcc
