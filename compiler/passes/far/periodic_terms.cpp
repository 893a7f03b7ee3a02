// Entry point: read_periodic_terms().
#include "compiler/passes/far/periodic_terms.h"

#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"
#include "compiler/periodic_length.h"

namespace nbcc {

namespace {

// The image of a pair as a function of its displacement, which is an integer only to rounding:
//
//   image_index(k) = (every_image(v) - v) . reciprocal vector k
//
// `v` is a difference of values of j and i, so that terms with an index are products of values of both.
class ImageIndices {
 public:
  explicit ImageIndices(const Pipeline& pipeline) : from_(pipeline.pair), copies_(std::size_t(from_.size()), kNone) {
    const std::vector<bool> needed = reachable(from_, pipeline.roots());
    while (!needed[std::size_t(image_)] || from_[image_].op != Op::EveryImage) ++image_;
  }
  // Of real numbers alone; kNone if periodic vectors are missing, which do not lie along the axes.
  NodeId index(Graph& to, int k) {
    const NodeId image = copy(to, image_);
    const std::array<NodeId, 3> vector = from_[from_[image_].args[0]].args;
    NodeId sum = kNone;
    for (std::size_t c = 0; c < 3; ++c) {
      const NodeId reciprocal = this->reciprocal(to, std::size_t(k), c);
      if (reciprocal == kNone) return kNone;
      if (to.is_constant(reciprocal, 0)) continue;
      constexpr Op kComponents[] = {Op::X, Op::Y, Op::Z};
      const NodeId way = make_folded(to, Op::Sub, to.unary(kComponents[c], image), copy(to, vector[c]));
      const NodeId product = make_folded(to, Op::Mul, reciprocal, way);
      sum = sum == kNone ? product : make_folded(to, Op::Add, sum, product);
    }
    return sum == kNone ? to.constant(0, Type::Real) : sum;
  }

 private:
  NodeId copy(Graph& to, NodeId id) {
    if (copies_[std::size_t(id)] != kNone) return copies_[std::size_t(id)];
    const Node& node = from_[id];
    for (int k = 0; k < arity(node.op); ++k) copy(to, node.args[std::size_t(k)]);
    return copies_[std::size_t(id)] = copy_node(to, node, copies_);
  }
  NodeId period(std::size_t vector, std::size_t c) const {
    return from_[from_[from_[image_].args[1]].args[vector % 3]].args[c % 3];
  }
  bool is_along_the_axes() const {
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t c = 0; c < 3; ++c)
        if (k != c && !from_.is_constant(period(k, c), 0)) return false;
    return true;
  }
  bool is_missing(std::size_t vector) const {
    for (std::size_t c = 0; c < 3; ++c)
      if (!from_.is_constant(period(vector, c), 0)) return false;
    return true;
  }
  // Component c of reciprocal vector k; 0 along an axis that is open.
  NodeId reciprocal(Graph& to, std::size_t k, std::size_t c) {
    const NodeId zero = to.constant(0, Type::Real), one = to.constant(1, Type::Real);
    if (is_along_the_axes()) {
      if (k != c || from_.is_constant(period(k, k), 0)) return zero;
      const NodeId length = copy(to, period(k, k)), size = to.unary(Op::Abs, length);
      const auto bound = [&](double value) { return to.constant(value, Type::Real); };
      const NodeId is_period = to.binary(Op::And, to.binary(Op::Le, bound(kShortestPeriod), size),
                                         to.binary(Op::Le, size, bound(kLongestPeriod)));
      return to.select(is_period, to.binary(Op::Div, one, length), zero);
    }
    if (is_missing(0) || is_missing(1) || is_missing(2)) return kNone;
    NodeId volume = kNone;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const NodeId part = make_folded(to, Op::Mul, copy(to, period(k, axis)), normal(to, k, axis));
      volume = volume == kNone ? part : make_folded(to, Op::Add, volume, part);
    }
    return make_folded(to, Op::Div, normal(to, k, c), volume);
  }
  // Component c of the vector product of the other two vectors.
  NodeId normal(Graph& to, std::size_t k, std::size_t c) {
    const auto product = [&](std::size_t a, std::size_t b) {
      return make_folded(to, Op::Mul, copy(to, period(k + 1, a)), copy(to, period(k + 2, b)));
    };
    return make_folded(to, Op::Sub, product(c + 1, c + 2), product(c + 2, c + 1));
  }

  const Graph from_;
  std::vector<NodeId> copies_;
  NodeId image_ = 0;
};

// An index that is used as an integer stays.
Pipeline with_computed_indices(Pipeline pipeline) {
  ImageIndices indices(pipeline);
  rewrite(pipeline, [&](Graph& to, const Node& old, std::array<NodeId, 3> args) {
    if (old.op == Op::Cast && is_floating(old.type) && to[args[0]].op == Op::ImageIndex)
      if (const NodeId index = indices.index(to, int(to[args[0]].payload)); index != kNone)
        return to.cast(index, old.type);
    return copy_node(to, old, args);
  });
  return pipeline;
}

// Where a value of i enters the graph of terms that have the side of j alone.
Location use_of_i(const FarTerms& terms) {
  for (NodeId id = 0; id < terms.graph.size(); ++id) {
    const Node& node = terms.graph[id];
    for (int k = 0; k < arity(node.op); ++k) {
      const Node& argument = terms.graph[node.args[std::size_t(k)]];
      if (argument.op == Op::InputI && argument.payload >= int(terms.axes.size()) && node.where.line > 0)
        return node.where;
    }
  }
  return {};
}

}  // namespace

PeriodicReading read_periodic_terms(const Pipeline& pipeline) {
  PeriodicReading made{copies_pipeline(with_computed_indices(pipeline), ImageShifts::OfRanges), {}};
  const Pipeline& placed = made.copies.pipeline;
  const auto refuse = [&](const Location& where, std::string reason) {
    made.reading = {{}, {where, std::move(reason)}};
    return made;
  };
  const std::vector<bool> needed = reachable(placed.pair, placed.roots());
  for (NodeId id = 0; id < placed.pair.size(); ++id)
    if (needed[std::size_t(id)] && placed.pair[id].op == Op::ImageIndex)
      return refuse(placed.pair[id].where,
                    "image_index() is used as an integer, or of fewer than three vectors that are not along the axes");
  made.reading = read_far_terms(placed);
  // self_pair compares places, too: it is false for every distant pair, whatever the indices are.
  if (made.reading.terms) made.reading.terms->needs_one_set = false;
  if (made.reading.terms && !made.reading.terms->both_sides)
    return refuse(use_of_i(*made.reading.terms), "a value of i enters a term other than as a factor");
  return made;
}

}  // namespace nbcc
