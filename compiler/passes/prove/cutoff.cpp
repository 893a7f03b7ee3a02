// Comparison -> cutoff: solves the comparison for the distance. Entry point: CutoffReader. Each step derives a
// comparison that the one before implies, with fewer operations around the distance: terms without the distance move to
// the other side, factors and powers are inverted, and a sum of squared displacements remains. NaN is not considered:
// with a proved guard a NaN distance contributes nothing, and a NaN reach bounds nothing.
#include "compiler/passes/prove/cutoff.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/ir/text/expression_text.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

constexpr std::size_t kDimensions = 3;

LinearSum times(LinearSum sum, double factor) {
  for (auto& [node, coefficient] : sum.terms) coefficient *= factor;
  sum.constant *= factor;
  return sum;
}

}  // namespace

CutoffReading CutoffReader::read(NodeId small, NodeId large, bool strict) {
  obstacle_.clear();
  is_limit_ = false;
  const LinearSum difference = read_difference(graph_, small, large);
  Found found = sum_not_positive(difference);
  if (found) {
    found->strict = strict;
    return {found, {}};
  }
  if (obstacle_.empty() && looks_like_distance(difference))
    fail("no distance of two positions is recognised in this comparison");
  return {{}, obstacle_, is_limit_};
}

CutoffReader::Found CutoffReader::fail(std::string obstacle) {
  if (obstacle_.empty()) obstacle_ = std::move(obstacle);
  return {};
}

std::string CutoffReader::text(NodeId id) const { return expression_text(fields_, graph_, id, Sizes::AsAbs, tables_); }

// The displacement whose square the node is. A factor of the square that is the same for all pairs scales it.
std::optional<Axis> CutoffReader::squared_axis(NodeId id) {
  PowerProduct product = read_product(graph_, id);
  std::optional<Axis> axis;
  for (auto& [node, exponent] : product.exponents) {
    if (graph_[node].binding <= Binding::Param) continue;
    if (axis || exponent != 2) return {};
    axis = read_axis(graph_, node);
    if (!axis) return {};
    exponent = 0;
  }
  if (!axis) return {};
  const NodeId factor = make_product(graph_, product, graph_[id].type);
  if (graph_.is_constant(factor, 1)) return axis;
  const std::optional<Reach> root = reaches_.power_above(factor, 0.5);
  return signs_.is_never_negative(factor) && root ? std::optional(scaled(graph_, *axis, root->uniform)) : std::nullopt;
}

// True if the node is computed from the square or absolute value of a displacement.
bool CutoffReader::carries_distance(NodeId id) {
  const Node n = graph_[id];
  if (n.binding != Binding::Pair || n.type == Type::Bool) return false;
  if (const auto known = carries_.find(id); known != carries_.end()) return known->second;
  bool carries =
      multiplies_by_itself(n) ? squared_axis(id).has_value() : n.op == Op::Abs && read_axis(graph_, n.args[0]);
  for (const NodeId arg : n.args) carries = carries || (arg != kNone && carries_distance(arg));
  // The product of an Fma is not a node.
  if (n.op == Op::Fma && n.args[0] == n.args[1]) carries = carries || read_axis(graph_, n.args[0]);
  return carries_[id] = carries;
}

// True for x * x, k * x * x and pow(x, 2). A cheap test, because a product may have thousands of factors.
bool CutoffReader::multiplies_by_itself(const Node& n) const {
  if (n.op == Op::Pow) return graph_.is_constant(n.args[1], 2);
  if (n.op != Op::Mul) return false;
  const auto is_part = [&](NodeId factor, NodeId product) {
    const Node& p = graph_[product];
    return p.op == Op::Mul && (p.args[0] == factor || p.args[1] == factor);
  };
  return n.args[0] == n.args[1] || is_part(n.args[0], n.args[1]) || is_part(n.args[1], n.args[0]);
}

// True if a guard compares a square or a root of a pair's value, as cutoffs usually do.
bool CutoffReader::looks_like_distance(const LinearSum& sum) {
  return std::any_of(sum.terms.begin(), sum.terms.end(), [this](const auto& term) {
    const auto& [id, coefficient] = term;
    const Node& n = graph_[id];
    const bool square = n.op == Op::Mul && n.args[0] == n.args[1];
    return coefficient > 0 && n.binding == Binding::Pair && (square || n.op == Op::Sqrt);
  });
}

// Reads sum <= 0.
CutoffReader::Found CutoffReader::sum_not_positive(const LinearSum& sum) {
  std::map<NodeId, double> carrying;
  LinearSum bound;
  bound.constant = -sum.constant;
  for (const auto& [id, coefficient] : sum.terms) {
    // A non-negative addend only tightens the bound, and may be dropped.
    const bool lessens = coefficient > 0 && graph_[id].binding == Binding::Pair && signs_.is_never_negative(id);
    if (carries_distance(id))
      carrying[id] = coefficient;
    else if (!lessens)
      bound.terms[id] = -coefficient;
  }
  const bool bounded_from_below = std::all_of(carrying.begin(), carrying.end(), [this](const auto& term) {
    return term.second < 0 && squared_axis(term.first);
  });
  if (bounded_from_below) return {};  // as in r2 > 0, which only excludes coincident pairs; or no distance is compared
  auto squares = sum_of_squares(carrying, bound);
  return squares || !obstacle_.empty() ? squares : single_term(carrying, bound);
}

// Non-negative terms may be dropped where they are added.
CutoffReader::Found CutoffReader::sum_of_squares(const std::map<NodeId, double>& carrying, const LinearSum& bound) {
  std::vector<std::pair<Axis, double>> squares;
  for (const auto& [id, coefficient] : carrying) {
    if (coefficient < 0) return {};
    if (const auto axis = squared_axis(id))
      squares.emplace_back(*axis, coefficient);
    else if (!signs_.is_never_negative(id))
      return {};
  }
  if (squares.empty()) return {};
  const double common = squares.front().second;
  const Type type = graph_[carrying.begin()->first].type;
  std::vector<Axis> axes;
  for (const auto& [axis, coefficient] : squares) {
    const Axis one =
        coefficient == common ? axis : scaled(graph_, axis, graph_.constant(std::sqrt(coefficient / common), type));
    if (std::find(axes.begin(), axes.end(), one) == axes.end()) axes.push_back(one);
  }
  return finish(std::move(axes), {make_sum(graph_, times(bound, 1 / common), type), 0.5});
}

CutoffReader::Found CutoffReader::single_term(const std::map<NodeId, double>& carrying, const LinearSum& bound) {
  constexpr std::size_t kMaxTerms = 64;
  for (const auto& [id, coefficient] : carrying) {
    if (carrying.size() > kMaxTerms) break;
    const bool alone = std::all_of(carrying.begin(), carrying.end(), [&, chosen = id](const auto& other) {
      return other.first == chosen || (other.second > 0 && signs_.is_never_negative(other.first));
    });
    if (!alone) continue;
    const Limit limit{make_sum(graph_, times(bound, 1 / coefficient), graph_[id].type)};
    if (auto found = coefficient > 0 ? at_most(id, limit) : at_least(id, limit)) return found;
  }
  if (carrying.size() > 1) fail("the distance occurs here several times, so that its bound is not known");
  return {};
}

NodeId CutoffReader::node_of(const Limit& limit) {
  if (limit.exponent == 1) return limit.value;
  if (limit.exponent == 2) return make_folded(graph_, Op::Mul, limit.value, limit.value);
  const Type type = graph_[limit.value].type;
  const NodeId base = signs_.is_never_negative(limit.value)
                          ? limit.value
                          : make_folded(graph_, Op::Max, limit.value, graph_.constant(0, type));
  if (limit.exponent == 0.5) return make_folded(graph_, Op::Sqrt, base);
  return make_folded(graph_, Op::Pow, base, graph_.constant(limit.exponent, type));
}

// Reads id <= limit.
CutoffReader::Found CutoffReader::at_most(NodeId id, const Limit& limit) {
  id = look_through_casts(graph_, id);
  const Node n = graph_[id];
  const auto [a, b, c] = n.args;
  if (const auto axis = squared_axis(id)) return finish({*axis}, {limit.value, limit.exponent / 2});
  switch (n.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Fma:
    case Op::Neg: {
      const LinearSum sum = read_sum(graph_, id);
      // For a bare sum of squares the limit keeps its form: sqrt(r2) < rc bounds r by rc, not by sqrt(rc * rc).
      const bool bare = sum.constant == 0 && std::all_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
                          return term.second == 1 && squared_axis(term.first);
                        });
      if (!bare) return sum_not_positive(read_difference(graph_, id, node_of(limit)));
      Found found = sum_of_squares(sum.terms, {});
      return found ? finish(std::move(found->axes), {limit.value, limit.exponent / 2}) : found;
    }
    case Op::Abs:
      if (const auto axis = read_axis(graph_, a)) return finish({*axis}, limit);
      for (const NodeId side : {a, make_folded(graph_, Op::Neg, a)})
        if (graph_[look_through_casts(graph_, side)].op == Op::Sub || graph_[side].op == Op::Add)
          if (auto found = at_most(side, limit)) return found;
      return product_compared(a, limit, true, Factors::Absolute);
    case Op::Max:
      for (const NodeId arg : {a, b})
        if (carries_distance(arg))
          if (auto found = at_most(arg, limit)) return found;
      return {};
    default:
      return product_compared(id, limit, true);
  }
}

// Reads id >= limit.
CutoffReader::Found CutoffReader::at_least(NodeId id, const Limit& limit) {
  id = look_through_casts(graph_, id);
  const Node n = graph_[id];
  switch (n.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Fma:
    case Op::Neg:
      return sum_not_positive(read_difference(graph_, node_of(limit), id));
    case Op::Min:
      for (const NodeId arg : {n.args[0], n.args[1]})
        if (carries_distance(arg))
          if (auto found = at_least(arg, limit)) return found;
      return {};
    case Op::Abs:
      return {};
    default:
      return product_compared(id, limit, false);
  }
}

// The sign of a product, zero ignored: negative, positive or any. For any, `undecided` is a factor of unknown sign.
SignSet CutoffReader::sign_of(const PowerProduct& product, NodeId* undecided) {
  bool negative = product.coefficient < 0;
  for (const auto& [node, exponent] : product.exponents) {
    // Squares and roots are not negative.
    if (is_even(exponent) || !is_integer(exponent) || signs_.is_never_negative(node)) continue;
    if (signs_.of(node) & kPositive) {
      *undecided = node;
      return kAnySign;
    }
    negative = !negative;
  }
  return negative ? kNegative : kPositive;
}

// Compares a product of powers, of which one is a power of the distance, with the limit. With Absolute, the absolute
// value of the product is compared.
CutoffReader::Found CutoffReader::product_compared(NodeId id, const Limit& limit, bool at_most, Factors how) {
  const PowerProduct product = read_product(graph_, id);
  PowerProduct factors{product.coefficient, {}};
  NodeId base = kNone;
  double exponent = 0;
  for (const auto& [node, power] : product.exponents) {
    if (!carries_distance(node) && !(read_axis(graph_, node) && is_even(power))) {
      const bool keeps_sign = how == Factors::Signed || signs_.is_never_negative(node);
      factors.exponents[keeps_sign ? node : make_folded(graph_, Op::Abs, node)] = power;
      continue;
    }
    if (base != kNone) return fail("this compares a product of different distances");
    base = node;
    exponent = power;
  }
  const NodeId value = node_of(limit);
  if (base == kNone || (base == id && exponent == 1 && how == Factors::Signed)) {
    const Op op = graph_[id].op;
    const std::string what = op == Op::Select ? "a choice by ?: or if" : fmt::format("{}()", name(op));
    return fail(fmt::format("the distance is inside {}, which nbcc does not solve for it", what));
  }
  if (how == Factors::Absolute) factors.coefficient = std::fabs(factors.coefficient);
  NodeId undecided = kNone;
  const SignSet sign = sign_of(factors, &undecided);
  // Compared with 0, only the sign of the product matters, and the distance does not change it.
  if (sign == kAnySign && graph_.is_constant(value, 0)) return {};
  if (sign == kAnySign)
    return fail(fmt::format("the sign of `{}` is not known: where it is negative, this holds at any distance",
                            text(undecided)));
  if (sign == kNegative) at_most = !at_most;
  if (at_most != (exponent > 0)) return {};  // a lower bound of the distance
  PowerProduct bound = read_product(graph_, value);
  bound.multiply(factors, -1);
  if (exponent < 0) {
    if (graph_.is_constant(value, 0)) return {};
    const NodeId positive = make_product(graph_, bound, graph_[value].type);
    if (!signs_.is_positive(positive))
      return fail(
          fmt::format("`{}` is not known to be positive: where it is not, this holds at any distance", text(positive)));
    const PowerProduct inverted = std::exchange(bound, {});
    bound.multiply(inverted, -1);
    exponent = -exponent;
  }
  const Limit next{make_product(graph_, bound, graph_[value].type), 1 / exponent};
  if (is_even(exponent))
    if (const auto axis = read_axis(graph_, base)) return finish({*axis}, next);
  return this->at_most(base, next);
}

// True if the bound of a pair is computed from the positions themselves: r2 < rc2 + dx.x bounds the distance to another
// point.
bool CutoffReader::share_inputs(const std::vector<Axis>& axes, NodeId bound) const {
  std::vector<NodeId> positions;
  for (const Axis& axis : axes) positions.insert(positions.end(), {axis.of_i, axis.of_j});
  const std::vector<bool> of_axes = reachable(graph_, positions), of_bound = reachable(graph_, {bound});
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const bool input = graph_[id].op == Op::InputI || graph_[id].op == Op::InputJ;
    if (input && of_axes[std::size_t(id)] && of_bound[std::size_t(id)]) return true;
  }
  return false;
}

CutoffReader::Found CutoffReader::finish(std::vector<Axis> axes, const Limit& limit) {
  // Sorts by field, since positions are usually the first fields.
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.of_j < b.of_j; });
  keep_complete_images(axes);
  if (axes.empty())
    return fail(
        "in a cell of three lattice vectors no component of the nearest image bounds the distance, only all three in "
        "one sum of squares do");
  if (axes.size() > kDimensions) axes.resize(kDimensions);
  const bool of_pair = graph_[limit.value].binding == Binding::Pair;
  if (of_pair && share_inputs(axes, limit.value))
    return fail(fmt::format("the bound `{}` is computed from the positions themselves", text(limit.value)));
  reaches_.refused = kNone;
  const std::optional<Reach> reach = reaches_.power_above(limit.value, limit.exponent);
  if (!reach && reaches_.refused != kNone && obstacle_.empty()) {
    is_limit_ = true;
    return fail(fmt::format(
        "the cutoff `{}` is one of more than {} elements, whose largest is not sought; compare the distance "
        "with the largest cutoff of all types as well",
        text(reaches_.refused), kMaxComparedElements));
  }
  if (!reach)
    return fail(
        fmt::format("the bound `{}` is not the max, min or sum of a number of i and one of j", text(limit.value)));
  return Cutoff{std::move(axes), *reach, false};
}

}  // namespace nbcc
